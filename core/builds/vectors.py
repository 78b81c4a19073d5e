"""Stage “index”: vectors of what a graph tells."""

from __future__ import annotations

from dataclasses import dataclass

from core.builds.base import BuildContext, BuildOperator, Made
from core.indexes import vectors
from core.indexes.encoded import count
from core.parameters import param

OF = ("nodes", "relations", "chunks", "communities")


@dataclass(frozen=True, repr=False)
class Vectors(BuildOperator):
    """Vectors of all nodes, relations, chunks or communities of the graph, so that no question waits for them; what an earlier content of
    the graph had is not encoded again."""

    stage = "index"
    title = "vectors"
    reads = ("chunks",)

    of: str = param("chunks", "Of what", "What is made searchable by meaning.", choices=OF)
    encoder: str = param("encoder", "Encoder", "The role or name of the encoder.")

    def models(self) -> tuple[str, ...]:
        return (self.encoder,)

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        assert made.graph is not None  # stored before its first index is made
        if count(made.graph, self.of):  # type: ignore[arg-type]  # one of OF
            found = vectors.build(made.graph, ctx.models.encoder(self.encoder), self.of, ctx.progress, ctx.check)  # type: ignore[arg-type]
            ctx.report.counts[f"vectors of {self.of}"] = len(found)
        return made

    def words(self) -> str:
        return f"vectors of {self.of}"
