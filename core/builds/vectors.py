"""Stage “index”: vectors of a graph's texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.builds.base import BuildContext, BuildOperator, Made
from core.builds.encoding import halves, halves_over
from core.corpus import Corpus
from core.corpus.indexes.opening import opened_vectors
from core.corpus.indexes.tools import TOOLS
from core.corpus.indexes.vectors import ItemVectors
from core.indexes import vectors
from core.indexes.encoded import NONE, Encode, Of, Texts, count
from core.indexes.encoded import Vectors as Encoded
from core.models.base import Encoder
from core.parameters import param

OF = ("nodes", "relations", "chunks", "communities")


SPOT = 8  # texts of an index's vectors that are encoded again
ALIKE = 0.999  # the least cosine at which two vectors of one text are of one encoder


@dataclass(frozen=True, eq=False)
class Given:
    """The vectors of an index of another tool that are taken: by item, the row of each text, and who made them, as a sentence."""

    vectors: ItemVectors
    rows: dict[str, int]
    source: str


def taken_vectors(
    corpus: Corpus, tool: str, of: Of, items: int, encoder: Encoder, ctx: BuildContext
) -> Given | None:
    """The vectors of the nodes, relations, chunks or communities that the index of a tool came with, where this encoder makes the same: a
    few of their texts, spread over all, are encoded again and each has a cosine of at least ALIKE. Else None, with a note of why; none
    where the index has none."""
    found = opened_vectors(corpus, tool, of)
    if found is None or len(found.texts) != items:
        return None
    called, what = TOOLS[tool].title, {"nodes": "entities"}.get(of, of)
    there = np.flatnonzero([bool(text) for text in found.texts])
    spot = there[np.unique(np.linspace(0, len(there) - 1, min(SPOT, len(there))).astype(np.int64))]
    anew = encoder.encode([found.texts[item] for item in spot], ctx.watch)
    why = ""
    if anew.shape[1] != found.matrix.shape[1]:
        why = f"they have {found.matrix.shape[1]:,} numbers each, and those of the encoder here {anew.shape[1]:,}"
    elif (least := float((anew * found.matrix[spot].astype(np.float32)).sum(axis=1).min())) < ALIKE:
        why = f"of {len(spot):,} texts that were encoded again, one has a cosine of {least:.3f} with its vector there"
    if why:
        ctx.report.note(
            f"The vectors of {what} in the index of {called} are not taken: {why}. They are made anew."
        )
        return None
    rest = f", {items - len(there):,} are made here" if len(there) < items else ""
    source = f"The vectors of {what} are those of the index of {called}: {len(there):,}{rest}. {len(spot):,} were made again and are the same."
    return Given(found, {found.texts[item]: int(item) for item in there}, source)


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
        of: Of = self.of  # type: ignore[assignment]  # one of OF
        if total := count(made.graph, of):
            encoder = ctx.models.encoder(self.encoder)
            given = None
            if made.opened:
                given = taken_vectors(made.corpus, made.opened, of, total, encoder, ctx)
            more: dict[str, Any] = (
                {"worded": given.vectors.texts, "source": given.source} if given else {}
            )
            found = vectors.build(
                made.graph, encoder, of, ctx.watch, encode=self._encode(ctx, given), **more
            )
            ctx.report.counts[f"vectors of {self.of}"] = len(found)
            if found.source:
                ctx.report.note(found.source)
            if self.of == "chunks":
                _note_long(made, getattr(encoder, "max_tokens", 0), ctx)
        return made

    def words(self) -> str:
        return f"vectors of {self.of}"

    def _encode(self, ctx: BuildContext, given: Given | None) -> Encode:
        """Encodes what is neither saved nor given, over worker processes where there are some; what an index gave is looked up here."""
        if given is None and ctx.workers is not None:
            return halves_over(ctx.workers, self.encoder, ctx)

        def encode(blocks: Iterable[Texts], advanced: Callable[[int], None]) -> Encoded:
            for number, wanted in blocks:
                if given is None:
                    yield number, halves(wanted, self.encoder, ctx, advanced) if wanted else NONE
                    continue
                more = list(dict.fromkeys(text for text in wanted if text not in given.rows))
                fresh = dict(zip(more, halves(more, self.encoder, ctx, advanced))) if more else {}
                rows = [
                    fresh[text] if text in fresh else given.vectors.matrix[given.rows[text]]
                    for text in wanted
                ]
                yield number, np.array(rows, np.float16) if rows else NONE

        return encode


def _note_long(made: Made, most: int, ctx: BuildContext) -> None:
    """Note how many chunks are longer than the tokens that an encoder reads, where it says how many these are."""
    # vectors of chunks were just made
    assert made.graph is not None and made.graph.columns.chunks is not None
    long = int((made.graph.columns.chunks.numbers("tokens") > most).sum()) if most else 0
    if long:
        ctx.report.note(
            f"Chunks longer than the {most:,} tokens that the encoder reads: {long:,}; their vectors are of their beginnings."
        )
