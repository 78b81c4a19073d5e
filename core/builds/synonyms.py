"""Stage “link”: edges between entities whose names mean nearly the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.builds.base import BuildContext, BuildOperator, Made
from core.builds.encoding import encoded
from core.builds.regraph import with_edges
from core.parameters import param

SIMILAR = "similar to"
ROWS = 1024  # names compared with all others at a time


@dataclass(frozen=True, repr=False)
class AddSynonymEdges(BuildOperator):
    """An edge between each entity and those of its `top` nearest by the vectors of their names whose cosine, divided by the nearest's, is
    `threshold` or more; its weight is the cosine (HippoRAG: .8 and 10).

    `least` is the least cosine itself: dividing by the nearest's alone would join every entity with something.
    """

    stage = "link"
    title = "synonym edges"
    reads, writes = ("graph",), ("graph",)

    threshold: float = param(0.8, "Threshold", "The least cosine as a share of the nearest's.", low=0, high=1)
    least: float = param(0.8, "Least cosine", "The least cosine itself; 0 leaves it to the share.", low=0, high=1)
    top: int = param(10, "Nearest", "How many of the nearest are looked at.", low=1, high=1000)
    encoder: str = param("encoder", "Encoder", "The role or name of the encoder that reads the names.")

    def models(self) -> tuple[str, ...]:
        return (self.encoder,)

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        assert made.graph is not None  # a line without one is refused
        graph = made.graph
        if graph.n_nodes < 2:
            return made
        ctx.progress("Reading names", 0.0)
        vectors = encoded(graph.names(range(graph.n_nodes)), self.encoder, ctx)
        pairs: dict[tuple[int, int], float] = {}
        for first in range(0, graph.n_nodes, ROWS):
            ctx.check()
            ctx.progress("Comparing names", first / graph.n_nodes)
            self._near(vectors, first, pairs)
        ctx.report.counts["synonym edges"] = len(pairs)
        chunks = graph.columns.nodes.lists("chunks").lists() if graph.columns.nodes is not None else [[] for _ in range(graph.n_nodes)]
        told = {(a, SIMILAR, b): (cosine, sorted({*chunks[a], *chunks[b]})) for (a, b), cosine in sorted(pairs.items())}
        return made.replace(graph=with_edges(graph, told))

    def words(self) -> str:
        return f"synonyms from {self.threshold:g}"

    def _near(self, vectors: np.ndarray, first: int, pairs: dict[tuple[int, int], float]) -> None:
        """Add the pairs of `ROWS` nodes from `first` on."""
        scores = np.round(vectors[first : first + ROWS] @ vectors.T, 6)
        rows = np.arange(len(scores))
        scores[rows, first + rows] = -1.0
        top = min(self.top, scores.shape[1] - 1)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :top]
        values = np.take_along_axis(scores, best, axis=1)
        enough = (values >= self.threshold * values[:, :1]) & (values >= max(self.least, 1e-6))
        for row, place in zip(*np.nonzero(enough)):
            one, other = int(first + row), int(best[row, place])
            pairs[min(one, other), max(one, other)] = float(values[row, place])
