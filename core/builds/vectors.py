"""Stage “index”: vectors of a graph's texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.builds.base import BuildContext, BuildOperator, Made
from core.builds.encoding import halves
from core.indexes import vectors
from core.indexes.encoded import NONE, Encode, Texts, count
from core.indexes.encoded import Vectors as Encoded
from core.parameters import param

OF = ("nodes", "relations", "chunks", "communities")


@dataclass(frozen=True, repr=False)
class Vectors(BuildOperator):
    """Vectors of all nodes, relations, chunks or communities of the graph, so that no question waits for them; what was encoded for another
    graph, or an earlier content of this one, is not encoded again."""

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
            encoder = ctx.models.encoder(self.encoder)
            found = vectors.build(made.graph, encoder, self.of, ctx.progress, ctx.check, encode=self._encode(ctx))  # type: ignore[arg-type]
            ctx.report.counts[f"vectors of {self.of}"] = len(found)
            if self.of == "chunks":
                _note_long(made, getattr(encoder, "max_tokens", 0), ctx)
        return made

    def words(self) -> str:
        return f"vectors of {self.of}"

    def _encode(self, ctx: BuildContext) -> Encode:
        """Encodes what is not kept."""

        def encode(blocks: Iterable[Texts], advanced: Callable[[int], None]) -> Encoded:
            for number, wanted in blocks:
                yield number, halves(wanted, self.encoder, ctx, advanced) if wanted else NONE

        return encode


def _note_long(made: Made, most: int, ctx: BuildContext) -> None:
    """Note how many chunks are longer than the tokens that an encoder reads, where it says how many these are."""
    assert made.graph is not None and made.graph.columns.chunks is not None  # vectors of chunks were just made
    long = int((made.graph.columns.chunks.numbers("tokens") > most).sum()) if most else 0
    if long:
        ctx.report.note(f"Chunks longer than the {most:,} tokens that the encoder reads: {long:,}; their vectors are of their beginnings.")
