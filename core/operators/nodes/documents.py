"""Operator that returns the chunks of a corpus graph's retrieved nodes.

The chunks of the best node come first.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.texts import chunk_lists
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import MAX_HITS_BEFORE_CUT
from core.parameters import param
from core.types import Ranking, State


@dataclass(frozen=True, repr=False)
class DocumentsOfNodes(Operator):
    """The chunks that mention the retrieved nodes, those of the best node first.

    In a corpus graph whose nodes are documents, these are the documents themselves. FastInsight and
    its baselines give the first 10 to the language model and measure recall on them. A chunk has
    the score of the best node that it mentions.

    >>> line = "SparseNodes(keep=2) >> DocumentsOfNodes(keep=2)"
    >>> found = retrieve(line, graph=story, question="cheerful Fred, lonely Scrooge").chunks
    >>> # Fred is in one chunk, Scrooge in that one and two others
    >>> story.columns.chunks.texts("id", found.items)
    ['carol#1', 'carol#0']
    """

    stage = "refine"
    title = "documents of the nodes"
    plain = "passes on {keep:,} documents"
    reads, writes = ("nodes",), ("chunks",)

    keep: int = param(10, "Documents", "How many are taken.", low=1, high=10_000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        nodes = state.nodes.items if state.nodes else ()
        scores = state.nodes.scores if state.nodes else None
        best_scores: dict[int, float] = {}
        for rank, rows in enumerate(chunk_lists(ctx.graph, "nodes", nodes)):
            for row in rows:
                best_scores.setdefault(row, 0.0 if scores is None else scores[rank])
        chunk_scores = None if scores is None else tuple(best_scores.values())
        order = Ranking("chunk", tuple(best_scores), chunk_scores)
        recorder.before_cut = order.head(max(self.keep, MAX_HITS_BEFORE_CUT))
        return state.replace(chunks=order.head(self.keep))

    def words(self) -> str:
        return f"{self.keep:,} documents"
