"""Stage “chunk”: documents cut into chunks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from core.builds.base import BuildContext, BuildOperator, Document, Made
from core.builds.spans import Span, by_sentences, by_tokens, tokens
from core.errors import BadParameter
from core.graph.columns import Table
from core.parameters import param

EVERY = 1000  # documents between two looks at whether somebody cancelled


class Chunker(BuildOperator):
    """Cuts each document by itself. A chunk's id is that of its document with `#` and its number from 0, or that of the document alone
    where it is one chunk; a document of blanks alone has none. `place` is where the chunk begins."""

    stage = "chunk"
    reads, writes = ("documents",), ("chunks",)

    @abstractmethod
    def spans(self, text: str) -> Iterable[Span]:
        """Where the chunks of a text lie."""

    def apply(self, made: Made, ctx: BuildContext) -> Made:
        rows: list[tuple[str, str, str, str, str, int]] = []
        for number, document in enumerate(made.corpus):
            if number % EVERY == 0:
                ctx.check()
            rows += self.chunks(document)
        ctx.report.counts["chunks"] = len(rows)
        names = ("id", "document", "title", "place", "text", "tokens")
        return made.replace(chunks=Table.of(**dict(zip(names, zip(*rows) if rows else [()] * len(names)))))

    def chunks(self, document: Document) -> list[tuple[str, str, str, str, str, int]]:
        """The chunks of a document: id, document, title, place, text, tokens."""
        spans = [(a, b) for a, b in self.spans(document.text) if document.text[a:b].strip()]
        texts = [document.text[a:b].strip() for a, b in spans]
        ids = [document.id] if len(spans) == 1 else [f"{document.id}#{number}" for number in range(len(spans))]
        places = [document.place_at(a + len(document.text[a:b]) - len(document.text[a:b].lstrip())) for a, b in spans]
        return [(id, document.id, document.title, place, text, tokens(text)) for id, place, text in zip(ids, places, texts)]


@dataclass(frozen=True, repr=False)
class WholeDocuments(Chunker):
    """Each document as one chunk, as sets of passages are given."""

    title = "documents as they are"

    def spans(self, text: str) -> Iterable[Span]:
        return [(0, len(text))]


@dataclass(frozen=True, repr=False)
class TokenChunks(Chunker):
    """Chunks of about so many tokens (one for 3.5 bytes), cut where a paragraph ends, else a sentence, else a word; 1,200 with 100 in
    common, as the In-depth Analysis sets them (METHODS 3)."""

    title = "chunks by tokens"

    size: int = param(1200, "Tokens", "How many tokens a chunk has at most.", low=8, high=100_000)
    overlap: int = param(100, "Overlap", "How many tokens a chunk has in common with the one before it.", low=0, high=50_000)

    def __post_init__(self) -> None:
        super().__post_init__()
        _less(self.overlap * 2, self.size, "TokenChunks: overlap must be at most half of size.")

    def spans(self, text: str) -> Iterable[Span]:
        return by_tokens(text, self.size, self.overlap)

    def words(self) -> str:
        return f"chunks of {self.size:,} tokens"


@dataclass(frozen=True, repr=False)
class SentenceChunks(Chunker):
    """Chunks of so many sentences."""

    title = "chunks by sentences"

    sentences: int = param(5, "Sentences", "How many sentences a chunk has.", low=1, high=1000)
    overlap: int = param(0, "Overlap", "How many sentences a chunk has in common with the one before it.", low=0, high=500)

    def __post_init__(self) -> None:
        super().__post_init__()
        _less(self.overlap + 1, self.sentences, "SentenceChunks: overlap must be less than sentences.")

    def spans(self, text: str) -> Iterable[Span]:
        return by_sentences(text, self.sentences, self.overlap)

    def words(self) -> str:
        return f"chunks of {self.sentences} sentences"


def _less(small: int, large: int, sentence: str) -> None:
    if small > large:
        raise BadParameter(sentence)
