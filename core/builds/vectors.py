"""Operator of stage “index” that encodes a graph's texts.

The texts can then be searched. A graph from the index of another tool keeps the vectors of that
index if the encoder is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.builds.text_vectors import encode_half_vectors, encoder_over_workers
from core.corpus import Corpus
from core.corpus.indexes.opened_indexes import opened_vectors
from core.corpus.indexes.tools import TOOLS
from core.corpus.indexes.vectors import ItemVectors
from core.errors import split_command
from core.indexes import vectors
from core.indexes.vector_blocks import (
    NO_VECTORS,
    BlockTexts,
    BlockVectors,
    EncodeBlocks,
    ItemKind,
    count_items,
)
from core.models.base import Encoder
from core.parameters import param

LEFT_OUT_NOTE = "They were left out. A question that needs them names the command that makes them."
VECTOR_ITEMS = ("nodes", "relations", "chunks", "communities")
# Vectors of another tool's index that are checked by encoding their texts again.
CHECKED_VECTORS = 8
MIN_SAME_VECTOR_COSINE = 0.999  # of two vectors of one text by the same encoder


@dataclass(frozen=True, eq=False)
class ToolVectors:
    """Vectors taken from the index of another tool.

    `rows` holds the row of each text in `vectors`. `source` is a sentence on the origin of the
    vectors, for the person.
    """

    vectors: ItemVectors
    rows: dict[str, int]
    source: str


def vectors_of_tool(
    corpus: Corpus, tool: str, kind: ItemKind, items: int, encoder: Encoder, ctx: BuildContext
) -> ToolVectors | None:
    """Return a tool's vectors, if this encoder makes the same.

    `CHECKED_VECTORS` of their texts, evenly spread, are encoded again. Each must have a cosine of
    at least `MIN_SAME_VECTOR_COSINE` with its vector in the index.

    Parameters
    ----------
    corpus : a corpus that was opened from the index of a tool.
    tool : name of the tool.
    kind : kind of the items, such as “nodes”.
    items : number of items of this kind in the graph.
    encoder : the encoder of the build.
    ctx : the report and the watch of the build.

    Returns
    -------
    The vectors. None if the index has none for exactly these items. None also if the encoder makes
    others; a note of the report then gives the reason.
    """
    tool_vectors = opened_vectors(corpus, tool, kind)
    if tool_vectors is None or len(tool_vectors.texts) != items:
        return None
    texts = tool_vectors.texts
    tool_title, item_words = TOOLS[tool].title, {"nodes": "entities"}.get(kind, kind)
    items_with_text = np.flatnonzero([bool(text) for text in texts])
    n_with_text = len(items_with_text)
    if not n_with_text:
        return None
    steps = np.linspace(0, n_with_text - 1, min(CHECKED_VECTORS, n_with_text))
    sample = items_with_text[np.unique(steps.astype(np.int64))]
    sample_vectors = encoder.encode([texts[item] for item in sample], ctx.watch)
    reason = _difference(sample_vectors, tool_vectors.matrix[sample].astype(np.float32))
    if reason:
        ctx.report.note(
            f"The vectors of {item_words} in the index of {tool_title} are not used: {reason}. "
            "They are computed again."
        )
        return None
    missing_words = f", {items - n_with_text:,} are made here" if n_with_text < items else ""
    source = (
        f"The vectors of {item_words} are those of the index of {tool_title}: "
        f"{n_with_text:,}{missing_words}. {len(sample):,} were made again and are the same."
    )
    return ToolVectors(tool_vectors, {texts[item]: int(item) for item in items_with_text}, source)


def _difference(vectors: np.ndarray, tool_vectors: np.ndarray) -> str:
    """Return the end of a sentence on differing unit vectors.

    Empty if the two sets do not differ.

    Parameters
    ----------
    vectors, tool_vectors : float32 [n, d], vectors of the same texts.
    """
    if vectors.shape[1] != tool_vectors.shape[1]:
        return (
            f"they have {tool_vectors.shape[1]:,} numbers each, "
            f"and those of the encoder here {vectors.shape[1]:,}"
        )
    min_cosine = float((vectors * tool_vectors).sum(axis=1).min())
    if min_cosine >= MIN_SAME_VECTOR_COSINE:
        return ""
    return (
        f"of {len(vectors):,} texts that were encoded again, "
        f"one has a cosine of {min_cosine:.3f} with its vector there"
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
        kind: ItemKind = self.of  # type: ignore[assignment]  # one of `VECTOR_ITEMS`
        total = count_items(state.graph, kind)
        if total:
            encoder = ctx.models.encoder(self.encoder)
            tool_vectors = None
            if state.index_tool:
                tool_vectors = vectors_of_tool(
                    state.corpus, state.index_tool, kind, total, encoder, ctx
                )
            options: dict[str, Any] = {}
            if tool_vectors:
                options = {
                    "custom_texts": tool_vectors.vectors.texts,
                    "source": tool_vectors.source,
                }
            try:
                index = vectors.build_vectors(
                    state.graph,
                    encoder,
                    kind,
                    ctx.watch,
                    encode=self._encode(ctx, tool_vectors),
                    **options,
                )
            except vectors.TooManyVectors as error:
                # The graph is complete without them. Its folder, which the error's command names,
                # gets another name when the build is done.
                sentence, _ = split_command(str(error))
                ctx.report.note(f"{sentence} {LEFT_OUT_NOTE}")
                return state
            ctx.report.counts[f"vectors of {self.of}"] = len(index)
            if index.source:
                ctx.report.note(index.source)
            if self.of == "chunks":
                _note_long_chunks(state, getattr(encoder, "max_tokens", 0), ctx)
        return state

    def words(self) -> str:
        return f"vectors of {self.of}"

    def _encode(self, ctx: BuildContext, tool_vectors: ToolVectors | None) -> EncodeBlocks:
        """Return a function that makes the vectors of blocks of texts.

        It uses the worker processes of the build, if any. If vectors of a tool are looked up, it
        works in this process.
        """
        if tool_vectors is None and ctx.workers is not None:
            return encoder_over_workers(ctx.workers, self.encoder, ctx)

        def encode(blocks: Iterable[BlockTexts], report: Callable[[int], None]) -> BlockVectors:
            for number, texts in blocks:
                if not texts:
                    yield number, NO_VECTORS
                elif tool_vectors is None:
                    yield number, encode_half_vectors(texts, self.encoder, ctx, report)
                else:
                    yield number, self._encode_missing(texts, tool_vectors, ctx, report)

        return encode

    def _encode_missing(
        self,
        texts: Sequence[str],
        tool_vectors: ToolVectors,
        ctx: BuildContext,
        report: Callable[[int], None],
    ) -> np.ndarray:
        """Return the vectors of texts, float16 [n, d], encoding those that the tool lacks."""
        missing = list(dict.fromkeys(text for text in texts if text not in tool_vectors.rows))
        encoded = encode_half_vectors(missing, self.encoder, ctx, report)
        vector_of_text = dict(zip(missing, encoded))
        rows = [
            vector_of_text[text]
            if text in vector_of_text
            else tool_vectors.vectors.matrix[tool_vectors.rows[text]]
            for text in texts
        ]
        return np.array(rows, np.float16)


def _note_long_chunks(state: BuildState, limit: int, ctx: BuildContext) -> None:
    """Note how many chunks are too long for the encoder.

    They have more tokens than it reads. A limit of 0 is unknown.
    """
    # The caller has just made vectors of these chunks.
    assert state.graph is not None and state.graph.columns.chunks is not None
    long = int((state.graph.columns.chunks.numbers("tokens") > limit).sum()) if limit else 0
    if long:
        ctx.report.note(
            f"Chunks longer than the {limit:,} tokens that the encoder reads: {long:,}; "
            "their vectors are of their beginnings."
        )
