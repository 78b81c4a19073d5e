"""Operator of stage “index” that encodes a graph's texts."""

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


SPOT = 8  # vectors of another tool's index that are checked by encoding their texts again
ALIKE = 0.999  # least cosine of two vectors of one text by the same encoder


@dataclass(frozen=True, eq=False)
class Given:
    """Vectors taken from the index of another tool.

    `rows` holds the row of each text. `source` is a sentence on who made the vectors.
    """

    vectors: ItemVectors
    rows: dict[str, int]
    source: str


def taken_vectors(
    corpus: Corpus, tool: str, of: Of, items: int, encoder: Encoder, ctx: BuildContext
) -> Given | None:
    """Return the vectors that came with the index of a tool, if this encoder makes the same.

    `SPOT` of their texts, evenly spread, are encoded again. Each must have a cosine of at least
    `ALIKE` with its vector in the index. None otherwise, with a note of the reason. None also where
    the index has no vectors.
    """
    found = opened_vectors(corpus, tool, of)
    if found is None or len(found.texts) != items:
        return None
    called, what = TOOLS[tool].title, {"nodes": "entities"}.get(of, of)
    there = np.flatnonzero([bool(text) for text in found.texts])
    spot = there[np.unique(np.linspace(0, len(there) - 1, min(SPOT, len(there))).astype(np.int64))]
    anew = encoder.encode([found.texts[item] for item in spot], ctx.watch)
    why = ""
    if anew.shape[1] != found.matrix.shape[1]:
        why = (
            f"they have {found.matrix.shape[1]:,} numbers each, "
            f"and those of the encoder here {anew.shape[1]:,}"
        )
    elif (least := float((anew * found.matrix[spot].astype(np.float32)).sum(axis=1).min())) < ALIKE:
        why = (
            f"of {len(spot):,} texts that were encoded again, "
            f"one has a cosine of {least:.3f} with its vector there"
        )
    if why:
        ctx.report.note(
            f"The vectors of {what} in the index of {called} are not taken: {why}. "
            "They are made anew."
        )
        return None
    rest = f", {items - len(there):,} are made here" if len(there) < items else ""
    source = (
        f"The vectors of {what} are those of the index of {called}: {len(there):,}{rest}. "
        f"{len(spot):,} were made again and are the same."
    )
    return Given(found, {found.texts[item]: int(item) for item in there}, source)


@dataclass(frozen=True, repr=False)
class Vectors(BuildOperator):
    """Vectors of all nodes, relations, chunks or communities of the graph.

    They are made during the build, so no question has to wait for them. Texts that were encoded for
    another graph, or for an earlier content of this one, are not encoded again.
    """

    stage = "index"
    title = "vectors"
    reads = ("chunks",)

    of: str = param("chunks", "Of what", "What is made searchable by meaning.", choices=OF)
    encoder: str = param("encoder", "Encoder", "The role or name of the encoder.")

    def models(self) -> tuple[str, ...]:
        return (self.encoder,)

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        assert made.graph is not None  # The graph is stored before its first index is made.
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
        """Return a function that encodes texts that are neither saved nor given.

        It uses worker processes where there are any. If an index gave vectors, it works in this
        process, where these are looked up.
        """
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
    """Note how many chunks have more tokens than the encoder reads, if it states its limit."""
    # The vectors of chunks were just made.
    assert made.graph is not None and made.graph.columns.chunks is not None
    long = int((made.graph.columns.chunks.numbers("tokens") > most).sum()) if most else 0
    if long:
        ctx.report.note(
            f"Chunks longer than the {most:,} tokens that the encoder reads: {long:,}; "
            "their vectors are of their beginnings."
        )
