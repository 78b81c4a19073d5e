"""Matching of the texts of an index with the documents of a corpus, whatever their names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from core.corpus.document import Document
from core.corpus.indexes.index import IndexChunk
from core.corpus.quotations import single_line
from core.errors import BadInput, shorten

MAX_TRIED_DOCUMENTS = 20  # that hold the first chunk of a text; some may only quote it
DOCUMENT_SEPARATOR = "\x00"  # between documents, so that no text continues into the next


@dataclass(frozen=True)
class _CorpusText:
    """The texts of a corpus, searched for those of an index.

    Parameters
    ----------
    by_text : the documents of each text.
    whole : all texts, joined.
    ends : the end of each document in `whole`.
    """

    by_text: Mapping[str, Sequence[Document]]
    whole: str
    ends: Sequence[int]

    @classmethod
    def of(cls, documents: Sequence[Document]) -> _CorpusText:
        """Join the texts of documents."""
        by_text: dict[str, list[Document]] = {}
        for document in documents:
            by_text.setdefault(single_line(document.text), []).append(document)
        texts = [single_line(document.text) for document in documents]
        ends = list(accumulate(len(text) + 1 for text in texts))
        return cls(by_text, DOCUMENT_SEPARATOR.join(texts), ends)

    def find_equal(self, document: Document) -> Document | None:
        """Return the document of the same text, if possible with the same id."""
        equal_documents = self.by_text.get(single_line(document.text), [])
        for other in equal_documents:
            if other.id == document.id:
                return other
        return next(iter(equal_documents), None)

    def find_row(self, texts: Sequence[str]) -> int:
        """Return the first document that contains all texts; -1 if there is none."""
        position = self.whole.find(texts[0]) if texts else -1
        for _ in range(MAX_TRIED_DOCUMENTS):
            if position < 0:
                return -1
            row = bisect_right(self.ends, position)
            end = self.ends[row]
            if all(self.whole.find(text, self._start(row), end) >= 0 for text in texts):
                return row
            position = self.whole.find(texts[0], end)
        return -1

    def positions(self, texts: Sequence[str], row: int) -> list[int]:
        """Return the first position of each text in a document."""
        return [self.whole.find(text, self._start(row)) for text in texts]

    def _start(self, row: int) -> int:
        return self.ends[row - 1] if row else 0


def match_texts(
    documents: Mapping[str, Document],
    chunks: Mapping[str, Sequence[IndexChunk]],
    existing: Sequence[Document],
) -> tuple[dict[str, Document], dict[str, list[IndexChunk]]]:
    """Match the texts of an index to documents.

    A text matches the document with the same text, blanks aside; else the first that contains all
    chunks of the text. If several texts match one document, their chunks are ordered by position.

    Parameters
    ----------
    documents : texts of the index by their ids there.
    chunks : chunks of each text.
    existing : the documents of the corpus.

    Returns
    -------
    The document of each text by the text's id, and chunks by the document's id.

    Raises
    ------
    BadInput : a text has no match; the message names it.
    """
    corpus = _CorpusText.of(existing)
    entries: dict[str, list[tuple[int, int, IndexChunk]]] = {}
    matches: dict[str, Document] = {}
    missing: list[str] = []
    for key, document in documents.items():
        texts = [single_line(chunk.text) for chunk in chunks.get(key, ())]
        match = corpus.find_equal(document)
        positions = list(range(len(texts)))
        if match is None:
            row = corpus.find_row(texts)
            if row < 0:
                missing.append(document.text)
                continue
            match = existing[row]
            positions = corpus.positions(texts, row)
        matches[match.id] = match
        for number, (chunk, position) in enumerate(zip(chunks.get(key, ()), positions)):
            new_chunk = replace(chunk, document=match.id)
            entries.setdefault(match.id, []).append((position, number, new_chunk))
    if missing:
        raise BadInput(_missing_texts(missing, len(documents)))
    return matches, {id: _by_position(some) for id, some in entries.items()}


def _missing_texts(texts: Sequence[str], n_texts: int) -> str:
    return (
        "These are not the texts of the index: "
        f"{len(texts):,} of {n_texts:,} are in none of its documents, such as "
        f"“{shorten(texts[0], 60)}”. Open it under another name."
    )


def _by_position(entries: Sequence[tuple[int, int, IndexChunk]]) -> list[IndexChunk]:
    """Order chunks by their positions, those at one position by their numbers."""
    return [chunk for _, _, chunk in sorted(entries, key=lambda one: one[:2])]
