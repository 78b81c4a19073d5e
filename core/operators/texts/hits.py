"""Helpers of the operators on documents: ranked hits, token budgets and notes.

A hit is a retrieved node, relation, chunk or community, given by its id in the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from core.graph.order import top_k
from core.graph.texts import hit_titles
from core.operators.base import Recorder
from core.operators.generate import PROMPT_CHARACTERS_PER_TOKEN
from core.types import Kind, Ranking

# the kind of the hits in each field of a state
KIND_BY_FIELD: dict[str, Kind] = {
    "nodes": "node",
    "relations": "triple",
    "chunks": "chunk",
    "communities": "community",
}
# plain words for the hits of a field whose name is a technical term
HIT_WORDS = {"nodes": "entities", "chunks": "passages", "communities": "community reports"}
MAX_HITS_NAMED = 5  # hits that are named in a note
HIT_SCORE_DIGITS = 12  # decimal places of a score; further ones are rounding errors
HIT_BLOCK_TEXTS = 128  # texts of hits that are read in one block
MAX_HITS_BEFORE_CUT = 1000  # hits that are recorded in the order before the cut


def best_hits(
    kind: Kind, ids: Iterable[int] | np.ndarray, scores: Iterable[float] | np.ndarray, keep: int = 0
) -> Ranking:
    """Return the best `keep` items by (-score, id); a `keep` of 0 returns all.

    Scores that differ only by rounding errors count as equal.
    """
    items = np.asarray(list(ids) if not isinstance(ids, np.ndarray) else ids, np.int64)
    values = np.round(
        np.asarray(list(scores) if not isinstance(scores, np.ndarray) else scores, np.float64),
        HIT_SCORE_DIGITS,
    )
    items, values = top_k(items, values, keep or len(items))
    return Ranking(kind, tuple(items.tolist()), tuple(values.tolist()))


def keep_best_hits(
    recorder: Recorder, kind: Kind, ids: Iterable[int], scores: Iterable[float], keep: int
) -> Ranking:
    """Return the best `keep` hits; a `keep` of 0 returns all.

    The best `MAX_HITS_BEFORE_CUT` hits, or `keep` if that is more, are recorded for the trace.
    """
    n_recorded = max(keep, MAX_HITS_BEFORE_CUT)
    order = best_hits(kind, ids, scores, n_recorded if keep else 0)
    recorder.before_cut = order.head(n_recorded)
    return order.head(keep or len(order))


class LazyRanking(Ranking):
    """All hits of one kind, sorted only when they are read.

    It equals the result of `best_hits` for the same ids and scores. Sorting hundreds of thousands
    of hits and converting them to Python numbers would take most of the retrieval time, and often
    only the first of them are read.

    >>> import numpy as np
    >>> from core.operators.texts.hits import LazyRanking
    >>> found = LazyRanking("triple", np.array([4, 7, 9]), np.array([0.5, 1.0, 0.5]))
    >>> len(found), found.head(1).items, found.items, found.scores
    (3, (7,), (7, 4, 9), (1.0, 0.5, 0.5))
    """

    ids: np.ndarray  # int64 [n], in any order
    values: np.ndarray  # float64 [n], scores aligned with ids

    def __init__(self, kind: Kind, ids: np.ndarray, scores: np.ndarray):
        # `Ranking` is frozen, and its fields `items` and `scores` are properties here
        self.__dict__.update(
            kind=kind,
            ids=np.asarray(ids, np.int64),
            values=np.round(np.asarray(scores, np.float64), HIT_SCORE_DIGITS),
        )

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def _ordered(self) -> Ranking:
        return best_hits(self.kind, self.ids, self.values)

    @property
    def items(self) -> tuple[int, ...]:
        """The ids, best first."""
        return self._ordered.items

    @property
    def scores(self) -> tuple[float, ...] | None:
        """The scores, aligned with `items`."""
        return self._ordered.scores

    def head(self, k: int) -> Ranking:
        """Return the first `k` hits without sorting the others."""
        if 0 < k < len(self):
            return best_hits(self.kind, self.ids, self.values, k)
        return self._ordered.head(k)


def arrays_of(ranking: Ranking) -> tuple[np.ndarray, np.ndarray]:
    """Return the ids (int64) and scores (float64) of a ranking, aligned, in any order.

    A ranking without scores gets the scores 0, -1, -2 and so on. Its items must be ids, not paths.
    """
    if isinstance(ranking, LazyRanking):
        return ranking.ids, ranking.values
    if ranking.scores is None:
        scores = np.arange(0.0, -len(ranking), -1.0)
    else:
        scores = np.array(ranking.scores, np.float64)
    return np.array(ranking.items, np.int64), scores


def scores_of(ranking: Ranking, n: int) -> np.ndarray:
    """Return the scores of the items 0 to `n` - 1, float64 [n].

    Items that are not in the ranking have 0. If it has no scores, each of its items has 1.
    """
    values = np.zeros(n)
    values[list(ranking.items)] = 1.0 if ranking.scores is None else ranking.scores
    return values


def count_tokens_roughly(text: str) -> int:
    """Estimate the number of tokens of a text without a tokenizer.

    `PROMPT_CHARACTERS_PER_TOKEN` Latin characters count as one token. Every other character counts
    as one token.

    >>> from core.operators.texts.hits import count_tokens_roughly
    >>> count_tokens_roughly("fourteen chars"), count_tokens_roughly("圣诞")
    (4, 2)
    """
    # the usual Latin letters have code points below U+0250
    n_latin = len(text) if text.isascii() else sum(char < "\u0250" for char in text)
    return math.ceil(n_latin / PROMPT_CHARACTERS_PER_TOKEN) + len(text) - n_latin


def count_fitting_texts(texts: Iterable[str], budget: int) -> int:
    """Return how many of the first texts fit into a budget of tokens.

    Counting ends at the first text that does not fit. With a budget of 0 all texts fit.
    """
    tokens_used = count = 0
    for text in texts:
        tokens_used += count_tokens_roughly(text)
        if budget and tokens_used > budget:
            return count
        count += 1
    return count


def read_in_blocks(
    read_texts: Callable[[Sequence[int]], Sequence[str]], items: Sequence[int]
) -> Iterator[str]:
    """Yield the texts of items, reading `HIT_BLOCK_TEXTS` of them at a time on demand.

    >>> from core.operators.texts.hits import count_fitting_texts, read_in_blocks
    >>> texts_of = lambda items: [f"Text {item}." for item in items]
    >>> count_fitting_texts(read_in_blocks(texts_of, range(1000)), 7)  # each text counts two
    3
    """
    for start in range(0, len(items), HIT_BLOCK_TEXTS):
        yield from read_texts(items[start : start + HIT_BLOCK_TEXTS])


def hits_within_budget(
    ranking: Ranking, read_texts: Callable[[Sequence[int]], Sequence[str]], budget: int
) -> Ranking:
    """Return the first hits whose texts fit into a budget of tokens.

    The first hit that does not fit ends the list. With a budget of 0 all hits fit. Most texts have
    at least one token, so first only the best `budget` + 1 hits are sorted. The others follow only
    if empty texts leave room for them.

    >>> import numpy as np
    >>> from core.operators.texts.hits import LazyRanking, hits_within_budget
    >>> texts_of = lambda items: [f"Text {item}." for item in items]
    >>> hits_within_budget(LazyRanking("triple", np.arange(1000), np.ones(1000)), texts_of, 7).items
    (0, 1, 2)
    """
    if not budget:
        return ranking
    candidates = ranking.head(budget + 1)
    n_fitting = count_fitting_texts(read_in_blocks(read_texts, candidates.items), budget)
    if n_fitting == len(candidates) < len(ranking):  # some texts are empty
        candidates = ranking
        n_fitting = count_fitting_texts(read_in_blocks(read_texts, ranking.items), budget)
    return candidates.head(n_fitting)


def missing_reports_note(graph: Any, hits: Ranking) -> list[str]:
    """Return a list with one note on communities without a report.

    The list is empty if there are none. Prompts show the names of the members of such a community.
    """
    table = graph.columns.communities
    n_missing = sum(not table.text("report", row) for row in hits.items) if table is not None else 0
    if n_missing:
        return [
            f"{n_missing:,} of {len(hits):,} without a report; the names of the members stand for "
            "it."
        ]
    return []


def best_names(graph: Any, ranking: Ranking) -> str:
    """Return the names and scores of the best hits, for a note.

    The text is empty without hits.
    """
    first_hits = ranking.head(MAX_HITS_NAMED)
    scores = [first_hits.score(index) for index in range(len(first_hits))]
    return "; ".join(
        name + ("" if score is None else f" ({score:.2f})")
        for name, score in zip(hit_titles(graph, first_hits.kind, first_hits.items), scores)
    )
