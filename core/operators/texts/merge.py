"""Operators that merge the hits of two searches, or cut hits.

Hits are cut to a token budget. The in-depth analysis is the paper "In-depth Analysis of Graph-based
RAG in a Unified Framework".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, zip_longest

from core.graph.texts import hit_texts
from core.operators.base import HIT_FIELDS, Context, Operator, Recorder
from core.operators.texts.hits import KIND_BY_FIELD, best_hits, hits_within_budget
from core.operators.texts.tables import row_texts
from core.parameters import param
from core.types import Ranking, State

MERGE_ORDER_HELP = (
    "in turn: the best of the first search, the best of the second, and so on; first: all of the "
    "first, then what the second adds; score: by the better of both scores; reciprocal rank: by "
    "the sum of 1 / (60 + rank) in each, which compares no scores."
)
MERGE_ORDERS = ("in turn", "first", "score", "reciprocal rank")
RANK_OFFSET = 60  # reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)
ALL_KINDS = "all"  # value of `of` that means all kinds of hits
FIELD_BY_KIND = {kind: field for field, kind in KIND_BY_FIELD.items()}


@dataclass(frozen=True, repr=False)
class SetAside(Operator):
    """The hits so far, set aside for a new search; `Merge` joins both later.

    It is used in methods with two searches, such as LightRAG's hybrid one.

    >>> state = retrieve("SparseChunks(keep=1) >> SetAside()", graph=story, question="the clerk")
    >>> state.chunks, [hits.items for hits in state.waiting]
    (None, [(1,)])
    """

    stage = "refine"
    title = "hits set aside"
    plain = ""
    reads_any, writes = HIT_FIELDS, ("waiting",)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        return state.replace(waiting=state.hits, **dict.fromkeys(HIT_FIELDS))


@dataclass(frozen=True, repr=False)
class Merge(Operator):
    """The hits that were set aside and those retrieved since, each once.

    In-depth analysis, the hybrid LightRAG, which joins both tables without repeats; LightRAG itself
    takes them in turn. The merged hits are scored by their position, 1 for the first, 1/2 for the
    second. With "score" they have the better of both scores.

    >>> line = "SparseChunks(keep=1) >> SetAside() >> SparseChunks(keep=2) >> Merge(order='first')"
    >>> retrieve(line, graph=story, question="the clerk Cratchit").chunks.items
    (1, 2)
    """

    stage = "refine"
    title = "hits merged"
    plain = "joins both searches"
    reads, writes = ("waiting",), HIT_FIELDS

    order: str = param("in turn", "Order", MERGE_ORDER_HELP, choices=MERGE_ORDERS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        waiting_hits = {FIELD_BY_KIND[hits.kind]: hits for hits in state.waiting}
        merged_hits = {
            field: merge_rankings(waiting_hits.get(field), getattr(state, field), self.order)
            for field in HIT_FIELDS
        }
        return state.replace(waiting=(), **merged_hits)

    def words(self) -> str:
        if self.order in ("score", "reciprocal rank"):
            return f"merged by {self.order}"
        return f"merged {self.order}"


@dataclass(frozen=True, repr=False)
class Truncate(Operator):
    """The first hits of each kind within a token budget, at most `keep` of them.

    This is LightRAG's and nano-graphrag's cut by tokens. The first hit that does not fit ends its
    list. The tokens of a hit's text are counted, or with `rows` those of its whole row in the
    prompt's tables, with names, as in LightRAG 1.5.

    >>> line, question = "SparseChunks(keep=2) >> Truncate(keep=1)", "the clerk Cratchit"
    >>> retrieve(line, graph=story, question=question).chunks.items
    (1,)
    """

    stage = "refine"
    title = "hits cut"
    reads_any, writes = HIT_FIELDS, HIT_FIELDS

    budget: int = param(
        4000, "Tokens", "For the hits of each kind; 0: no limit.", low=0, high=1_000_000
    )
    keep: int = param(
        0, "Hits at most", "Of each kind; 0: limited by the tokens only.", low=0, high=1_000_000
    )
    of: str = param(
        ALL_KINDS,
        "Hits",
        "Which of the hits are cut; the others stay as they are.",
        choices=(ALL_KINDS, *HIT_FIELDS),
    )
    rows: bool = param(
        False, "Whole rows", "Names and all else that a table shows of a hit count as well."
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        cut = {}
        for field in HIT_FIELDS if self.of == ALL_KINDS else (self.of,):
            hits = getattr(state, field)
            if hits is None:
                continue
            # a step has one order before the cut; that of the chunks is preferred
            if field == "chunks" or recorder.before_cut is None:
                recorder.before_cut = hits
            hits = hits.head(self.keep) if self.keep else hits
            read_texts = row_texts if self.rows else hit_texts
            cut[field] = hits_within_budget(
                hits, partial(read_texts, ctx.graph, hits.kind), self.budget
            )
        return state.replace(**cut)

    def words(self) -> str:
        limit = f"cut at {self.budget:,} tokens" if self.budget else f"cut at {self.keep:,}"
        if self.of == ALL_KINDS:
            return limit
        return f"{'entities' if self.of == 'nodes' else self.of} {limit}"

    def plain_words(self) -> str:
        return self.words().replace("cut", "cuts them", 1) if self.of == ALL_KINDS else ""


def merge_rankings(first: Ranking | None, second: Ranking | None, order: str) -> Ranking | None:
    """Return two rankings of one kind as one, each item once.

    `order` is one of `MERGE_ORDERS`. If one of the rankings is None, the other is returned.
    """
    if first is None or second is None:
        return second if first is None else first
    scores: dict[int, float] = {}
    if order == "score":
        for hits in (first, second):
            for item, score in zip(hits.items, hits.scores or [0.0] * len(hits)):
                scores[item] = max(score, scores.get(item, score))
        return best_hits(first.kind, scores, scores.values())
    if order == "reciprocal rank":
        for hits in (first, second):
            for rank, item in enumerate(hits.items, 1):
                scores[item] = scores.get(item, 0.0) + 1 / (RANK_OFFSET + rank)
        return best_hits(first.kind, scores, scores.values())
    if order == "first":
        return score_by_position(first.kind, [*first.items, *second.items])
    return score_by_position(first.kind, interleave_lists(first.items, second.items))


def score_by_position(kind, items: Iterable[int]) -> Ranking:
    """Rank items in their order, each once.

    The scores are 1, 1/2, 1/3 and so on.
    """
    unique = tuple(dict.fromkeys(items))
    return Ranking(kind, unique, tuple(1.0 / rank for rank in range(1, len(unique) + 1)))


def interleave_lists(*lists: Sequence[int]) -> list[int]:
    """Return the items of some lists in turn.

    The first item of each list comes first, then the second of each, and so on.
    """
    return [item for item in chain.from_iterable(zip_longest(*lists)) if item is not None]
