"""Operators of stage “chunk”, which cut documents by tokens, sentences or characters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from core.builds.base import BuildContext, BuildOperator, BuildState
from core.corpus import Document
from core.corpus.chunks import (
    chunk_by_characters,
    chunk_by_sentences,
    chunk_by_tokens,
    documents_as_chunks,
)
from core.errors import BadParameter
from core.graph.columns import Table
from core.languages import is_english
from core.parameters import param
from core.watch import NO_WATCH, Watch


class Chunker(BuildOperator):
    """Base class of operators that cut each document into chunks separately.

    A document of white space alone has no chunk. Documents that are unchanged since an earlier
    build of this corpus with the same chunker are not cut again.
    """

    stage = "chunk"
    reads, writes = ("documents",), ("chunks",)

    @abstractmethod
    def table(
        self, documents: Iterable[Document], watch: Watch = NO_WATCH, code: str = ""
    ) -> Table:
        """Return the chunks of some documents.

        Parameters
        ----------
        documents : the documents, in order.
        watch : may raise RunCancelled.
        code : code of their language, for the ends of sentences; empty for English.

        Returns
        -------
        The table `BuildState.chunks`, in the order of the documents.
        """

    def apply(self, state: BuildState, ctx: BuildContext) -> BuildState:
        code = "" if is_english(ctx.language) else ctx.language
        # The key of reusable chunks; for English it has no code.
        cutter = f"{self!r} {self.edition}{code and f' {code}'}"
        chunks, n_cut = ctx.chunk_reuse.cut_chunks(
            state.corpus, cutter, lambda documents: self.table(documents, ctx.watch, code)
        )
        ctx.report.counts["chunks"] = len(chunks)
        ctx.report.counts["documents cut"] = n_cut
        return state.replace(chunks=chunks)


@dataclass(frozen=True, repr=False)
class WholeDocuments(Chunker):
    """Each document as one chunk, for corpora that are given as passages."""

    title = "documents as they are"

    def table(
        self, documents: Iterable[Document], watch: Watch = NO_WATCH, code: str = ""
    ) -> Table:
        return documents_as_chunks(documents, watch)


@dataclass(frozen=True, repr=False)
class TokenChunks(Chunker):
    """Chunks of at most `size` tokens, cut between words.

    The defaults, 1,200 tokens of which 100 overlap, are those of the In-depth Analysis.
    """

    title = "chunks by tokens"

    size: int = param(1200, "Tokens", "Most tokens of a chunk.", low=1, high=100_000)
    overlap: int = param(
        100,
        "Overlap",
        "Most tokens that a chunk shares with the one before it.",
        low=0,
        high=50_000,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.overlap >= self.size:
            raise BadParameter("TokenChunks: overlap must be below size.")

    def table(
        self, documents: Iterable[Document], watch: Watch = NO_WATCH, code: str = ""
    ) -> Table:
        return chunk_by_tokens(documents, self.size, self.overlap, watch)

    def words(self) -> str:
        return f"chunks of {self.size:,} tokens"


@dataclass(frozen=True, repr=False)
class SentenceChunks(Chunker):
    """Chunks of whole sentences with at most `size` tokens together.

    The default of 100 tokens is that of RAPTOR's leaves.
    """

    title = "chunks by sentences"

    size: int = param(100, "Tokens", "Most tokens of a chunk.", low=1, high=100_000)

    def table(
        self, documents: Iterable[Document], watch: Watch = NO_WATCH, code: str = ""
    ) -> Table:
        return chunk_by_sentences(documents, self.size, watch, code)

    def words(self) -> str:
        return f"sentences up to {self.size:,} tokens"


@dataclass(frozen=True, repr=False)
class CharacterChunks(Chunker):
    """Chunks of at most `size` characters, cut between words.

    The default of 4,096 characters is that of FastInsight for papers.
    """

    title = "chunks by characters"

    size: int = param(4096, "Characters", "Most characters of a chunk.", low=1, high=1_000_000)

    def table(
        self, documents: Iterable[Document], watch: Watch = NO_WATCH, code: str = ""
    ) -> Table:
        return chunk_by_characters(documents, self.size, watch)

    def words(self) -> str:
        return f"chunks of {self.size:,} characters"
