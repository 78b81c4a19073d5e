"""Stage “chunk”: documents cut into chunks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from core.builds.base import BuildContext, BuildOperator, Made
from core.corpus import Document
from core.corpus.chunks import as_given, by_characters, by_sentences, by_tokens
from core.errors import BadParameter
from core.graph.columns import Table
from core.languages import is_english
from core.parameters import param
from core.watch import NO_WATCH, Watch


class Chunker(BuildOperator):
    """Cuts each document by itself, as `core.corpus.chunks` does; a document of blanks alone has no chunk. Documents that are as they were
    when a graph of this corpus was built with the same chunks are not cut again."""

    stage = "chunk"
    reads, writes = ("documents",), ("chunks",)

    @abstractmethod
    def table(
        self, documents: Iterable[Document], watch: Watch = NO_WATCH, code: str = ""
    ) -> Table:
        """The chunks of some documents, in the language of a code."""

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        code = "" if is_english(ctx.language) else ctx.language
        cutter = f"{self!r} {self.edition}{code and f' {code}'}"
        chunks, fresh = ctx.recutting.chunks(
            made.corpus, cutter, lambda documents: self.table(documents, ctx.watch, code)
        )
        ctx.report.counts["chunks"], ctx.report.counts["documents cut"] = len(chunks), fresh
        return made.replace(chunks=chunks)


@dataclass(frozen=True, repr=False)
class WholeDocuments(Chunker):
    """Each document as one chunk, as sets of passages are given."""

    title = "documents as they are"

    def table(
        self, documents: Iterable[Document], watch: Watch = NO_WATCH, code: str = ""
    ) -> Table:
        return as_given(documents, watch)


@dataclass(frozen=True, repr=False)
class TokenChunks(Chunker):
    """Chunks of at most so many tokens, cut between words; 1,200 with 100 in common, as the In-depth Analysis sets them."""

    title = "chunks by tokens"

    size: int = param(1200, "Tokens", "How many tokens a chunk has at most.", low=1, high=100_000)
    overlap: int = param(
        100,
        "Overlap",
        "How many tokens a chunk has in common with the one before it, at most.",
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
        return by_tokens(documents, self.size, self.overlap, watch)

    def words(self) -> str:
        return f"chunks of {self.size:,} tokens"


@dataclass(frozen=True, repr=False)
class SentenceChunks(Chunker):
    """Chunks of whole sentences, as many as together have at most so many tokens; 100, as RAPTOR's leaves have."""

    title = "chunks by sentences"

    size: int = param(100, "Tokens", "How many tokens a chunk has at most.", low=1, high=100_000)

    def table(
        self, documents: Iterable[Document], watch: Watch = NO_WATCH, code: str = ""
    ) -> Table:
        return by_sentences(documents, self.size, watch, code)

    def words(self) -> str:
        return f"sentences up to {self.size:,} tokens"


@dataclass(frozen=True, repr=False)
class CharacterChunks(Chunker):
    """Chunks of at most so many characters, cut between words; 4,096, as FastInsight cuts papers."""

    title = "chunks by characters"

    size: int = param(
        4096, "Characters", "How many characters a chunk has at most.", low=1, high=1_000_000
    )

    def table(
        self, documents: Iterable[Document], watch: Watch = NO_WATCH, code: str = ""
    ) -> Table:
        return by_characters(documents, self.size, watch)

    def words(self) -> str:
        return f"chunks of {self.size:,} characters"
