"""Lexical search: operators that rank chunks or entities by BM25 or TF-IDF.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.indexes.vector_blocks import ItemKind, count_items
from core.indexes.words import postings
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import KIND_BY_FIELD, best_names, keep_best_hits
from core.parameters import param
from core.types import Ranking, State
from core.watch import NO_WATCH, Watch

WORD_WEIGHTINGS = ("bm25", "tf-idf")
WordSearch = Callable[[str], np.ndarray]  # returns the score of every text for a query, float64
WORD_WEIGHTING_HELP = (
    "bm25 with k1 1.5 and b 0.75, or tf-idf: the cosine of vectors of weighted word counts."
)


class WordHits(Operator):
    """Base of searches by words: the best `keep` hits with a score above 0.

    The ranking before the cut to `keep` hits is recorded for the trace.
    """

    stage = "retrieve"
    field: ClassVar[str]  # the field of the state that receives the hits
    keep: int
    by: str  # one of `WORD_WEIGHTINGS`

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        return state.replace(**{self.field: self._search(state, ctx, recorder, None)})

    def _search(
        self, state: State, ctx: Context, recorder: Recorder, candidates: Sequence[int] | None
    ) -> Ranking:
        """Return the best hits among the candidate ids.

        None stands for all items of the graph.
        """
        kind = KIND_BY_FIELD[self.field]
        item_kind: ItemKind = self.field  # type: ignore[assignment]
        if not count_items(ctx.graph, item_kind):
            recorder.notes.append(f"The graph “{ctx.graph.name}” has no {self.field}.")
            return Ranking(kind, (), ())
        ctx.watch.report("Searching by words")
        scores = word_search(ctx.graph, item_kind, self.by, ctx.watch)(state.question.text)
        ids = np.arange(len(scores)) if candidates is None else np.array(candidates, np.int64)
        ids = ids[scores[ids] > 0]
        hits = keep_best_hits(recorder, kind, ids, scores[ids], self.keep)
        recorder.notes.append(
            f"The best of {len(ids):,} that share a word with the question: "
            f"{best_names(ctx.graph, hits) or 'none'}."
        )
        return hits


@dataclass(frozen=True, repr=False)
class SparseChunks(WordHits):
    """The `keep` chunks that share the question's rarest words, by BM25 or TF-IDF.

    TF-IDF is KGP's first step (in-depth analysis), BM25 the usual baseline. The statistics are
    those of all chunks. Case is ignored. A chunk without any of the question's words is no hit.

    >>> question = "the clerk Cratchit"
    >>> found = retrieve("SparseChunks(keep=2)", graph=story, question=question).chunks
    >>> story.columns.chunks.texts("id", found.items)  # clerk is in one chunk, Cratchit in two
    ['carol#1', 'carol#2']
    """

    title = "chunks by words"
    plain = "takes the {keep:,} passages that share the question's rarest words"
    field, writes = "chunks", ("chunks",)

    keep: int = param(4, "Chunks", "How many are taken.", low=1, high=10_000)
    by: str = param("bm25", "Ranked by", WORD_WEIGHTING_HELP, choices=WORD_WEIGHTINGS)

    def words(self) -> str:
        return f"{self.keep:,} chunks by {self.by.upper()}"


@dataclass(frozen=True, repr=False)
class SparseNodes(WordHits):
    """The `keep` entities whose names and descriptions share the question's rarest words.

    With `among` only the entities retrieved so far are searched. In-depth analysis, node operator
    TF-IDF. Its code ignores the given candidates and searches all nodes; this operator searches
    only them.

    >>> story.names(
    ...     retrieve("SparseNodes(keep=1)", graph=story, question="the poor clerk").nodes.items
    ... )
    ['Cratchit']
    """

    title = "entities by words"
    plain = "takes the {keep:,} entities that share the question's rarest words"
    field, writes = "nodes", ("nodes",)

    keep: int = param(4, "Entities", "How many are taken.", low=1, high=10_000)
    by: str = param("tf-idf", "Ranked by", WORD_WEIGHTING_HELP, choices=WORD_WEIGHTINGS)
    among: bool = param(False, "Among the hits", "Only the entities found so far are ranked.")

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("nodes",) if self.among else ()

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        candidates = state.nodes.items if self.among and state.nodes is not None else None
        return state.replace(nodes=self._search(state, ctx, recorder, candidates))

    def words(self) -> str:
        return f"{self.keep:,} entities by {self.by.upper()}"


def word_search(graph: Any, kind: ItemKind, by: str, watch: Watch = NO_WATCH) -> WordSearch:
    """Return a function that scores a graph's items for a query.

    It scores all chunks or all nodes. `by` is one of `WORD_WEIGHTINGS`. The index behind it is made
    once for each graph.
    """
    index = postings(graph, kind, watch)
    return index.bm25 if by == "bm25" else index.tfidf
