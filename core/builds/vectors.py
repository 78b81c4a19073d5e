"""Operator of stage “index” that encodes a graph's texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.builds.text_vectors import encode_half_vectors, encoder_over_workers
from core.corpus import Corpus
from core.corpus.indexes.opened_indexes import opened_vectors
from core.corpus.indexes.tools import TOOLS
from core.corpus.indexes.vectors import ItemVectors
from core.indexes import vectors
from core.indexes.vector_blocks import NO_VECTORS, BlockTexts, EncodeBlocks, ItemKind, count
from core.indexes.vector_blocks import BlockVectors as Encoded
from core.models.base import Encoder
from core.parameters import param

VECTOR_ITEMS = ("nodes", "relations", "chunks", "communities")


CHECKED_VECTORS = (
    8  # vectors of another tool's index that are checked by encoding their texts again
)
MIN_SAME_VECTOR_COSINE = 0.999  # least cosine of two vectors of one text by the same encoder


@dataclass(frozen=True, eq=False)
class ToolVectors:
    """Vectors taken from the index of another tool.

    `rows` holds the row of each text. `source` is a sentence on who made the vectors.
    """

    vectors: ItemVectors
    rows: dict[str, int]
    source: str


def taken_vectors(
    corpus: Corpus, tool: str, kind: ItemKind, items: int, encoder: Encoder, ctx: BuildContext
) -> ToolVectors | None:
    """Return the vectors that came with the index of a tool, if this encoder makes the same.

    `CHECKED_VECTORS` of their texts, evenly spread, are encoded again. Each must have a cosine of
    at least `MIN_SAME_VECTOR_COSINE` with its vector in the index.

    Parameters
    ----------
    corpus : a corpus that was opened from the index of a tool.
    tool : name of the tool.
    kind : kind of the items.
    items : number of items of the graph.
    encoder : the encoder of the build.
    ctx : the report and the watch of the build.

    Returns
    -------
    The vectors. None if the index has none, or if they differ; a note then gives the reason.
    """
    tool_vectors = opened_vectors(corpus, tool, kind)
    if tool_vectors is None or len(tool_vectors.texts) != items:
        return None
    tool_title, item_words = TOOLS[tool].title, {"nodes": "entities"}.get(kind, kind)
    items_with_text = np.flatnonzero([bool(text) for text in tool_vectors.texts])
    sample = items_with_text[
        np.unique(
            np.linspace(
                0, len(items_with_text) - 1, min(CHECKED_VECTORS, len(items_with_text))
            ).astype(np.int64)
        )
    ]
    sample_vectors = encoder.encode([tool_vectors.texts[item] for item in sample], ctx.watch)
    reason = ""
    if sample_vectors.shape[1] != tool_vectors.matrix.shape[1]:
        reason = (
            f"they have {tool_vectors.matrix.shape[1]:,} numbers each, "
            f"and those of the encoder here {sample_vectors.shape[1]:,}"
        )
    elif (
        min_cosine := float(
            (sample_vectors * tool_vectors.matrix[sample].astype(np.float32)).sum(axis=1).min()
        )
    ) < MIN_SAME_VECTOR_COSINE:
        reason = (
            f"of {len(sample):,} texts that were encoded again, "
            f"one has a cosine of {min_cosine:.3f} with its vector there"
        )
    if reason:
        ctx.report.note(
            f"The vectors of {item_words} in the index of {tool_title} are not used: {reason}. "
            "They are computed again."
        )
        return None
    missing_words = (
        f", {items - len(items_with_text):,} are made here" if len(items_with_text) < items else ""
    )
    source = (
        f"The vectors of {item_words} are those of the index of {tool_title}: {len(items_with_text):,}{missing_words}. "
        f"{len(sample):,} were made again and are the same."
    )
    return ToolVectors(
        tool_vectors, {tool_vectors.texts[item]: int(item) for item in items_with_text}, source
    )


@dataclass(frozen=True, repr=False)
class Vectors(BuildOperator):
    """Vectors of all nodes, relations, chunks or communities of the graph.

    They are made during the build, so no question has to wait for them. Texts that were encoded for
    another graph, or for an earlier content of this one, are not encoded again.
    """

    stage = "index"
    title = "vectors"
    reads = ("chunks",)

    of: str = param(
        "chunks", "Of what", "What is made searchable by meaning.", choices=VECTOR_ITEMS
    )
    encoder: str = param("encoder", "Encoder", "The role or name of the encoder.")

    def models(self) -> tuple[str, ...]:
        return (self.encoder,)

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        assert state.graph is not None  # The graph is stored before its first index is made.
        kind: ItemKind = self.of  # type: ignore[assignment]  # one of OF
        if total := count(state.graph, kind):
            encoder = ctx.models.encoder(self.encoder)
            tool_vectors = None
            if state.opened:
                tool_vectors = taken_vectors(state.corpus, state.opened, kind, total, encoder, ctx)
            options: dict[str, Any] = (
                {"worded": tool_vectors.vectors.texts, "source": tool_vectors.source}
                if tool_vectors
                else {}
            )
            index = vectors.build_vectors(
                state.graph,
                encoder,
                kind,
                ctx.watch,
                encode=self._encode(ctx, tool_vectors),
                **options,
            )
            ctx.report.counts[f"vectors of {self.of}"] = len(index)
            if index.source:
                ctx.report.note(index.source)
            if self.of == "chunks":
                _note_long(state, getattr(encoder, "max_tokens", 0), ctx)
        return state

    def words(self) -> str:
        return f"vectors of {self.of}"

    def _encode(self, ctx: BuildContext, source: ToolVectors | None) -> EncodeBlocks:
        """Return a function that encodes texts that are neither saved nor given.

        It uses worker processes where there are any. If an index gave vectors, it works in this
        process, where these are looked up.
        """
        if source is None and ctx.workers is not None:
            return encoder_over_workers(ctx.workers, self.encoder, ctx)

        def encode(blocks: Iterable[BlockTexts], advanced: Callable[[int], None]) -> Encoded:
            for number, block_texts in blocks:
                if source is None:
                    yield (
                        number,
                        encode_half_vectors(block_texts, self.encoder, ctx, advanced)
                        if block_texts
                        else NO_VECTORS,
                    )
                    continue
                missing = list(
                    dict.fromkeys(text for text in block_texts if text not in source.rows)
                )
                fresh = (
                    dict(zip(missing, encode_half_vectors(missing, self.encoder, ctx, advanced)))
                    if missing
                    else {}
                )
                rows = [
                    fresh[text] if text in fresh else source.vectors.matrix[source.rows[text]]
                    for text in block_texts
                ]
                yield number, np.array(rows, np.float16) if rows else NO_VECTORS

        return encode


def _note_long(state: BuildState, limit: int, ctx: BuildContext) -> None:
    """Note how many chunks have more tokens than the encoder reads, if it states its limit."""
    # The vectors of chunks were just made.
    assert state.graph is not None and state.graph.columns.chunks is not None
    long = int((state.graph.columns.chunks.numbers("tokens") > limit).sum()) if limit else 0
    if long:
        ctx.report.note(
            f"Chunks longer than the {limit:,} tokens that the encoder reads: {long:,}; "
            "their vectors are of their beginnings."
        )
