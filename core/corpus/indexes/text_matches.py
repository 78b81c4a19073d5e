"""Matching of a tool index's texts with documents of a corpus.

Texts are matched by content, not by name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from core.corpus.document import Document
from core.corpus.indexes.index import IndexChunk
from core.corpus.quotations import single_line
from core.errors import BadInput, shorten

MAX_TRIED_DOCUMENTS = 20  # documents with the first chunk of a text; some may only quote it
DOCUMENT_SEPARATOR = "\x00"  # one character, so that no match continues into the next document


@dataclass(frozen=True)
class _CorpusText:
    """The texts of a corpus, each on one line, in which others are searched.

    Parameters
    ----------
    documents_by_text : the documents of each text.
    joined_text : all texts, joined.
    ends : the offset after each document and its separator in `joined_text`.
    """

    documents_by_text: Mapping[str, Sequence[Document]]
    joined_text: str
    ends: Sequence[int]

    @classmethod
    def from_documents(cls, documents: Sequence[Document]) -> _CorpusText:
        """Join the texts of documents."""
        documents_by_text: dict[str, list[Document]] = {}
        for document in documents:
            documents_by_text.setdefault(single_line(document.text), []).append(document)
        texts = [single_line(document.text) for document in documents]
        ends = list(accumulate(len(text) + 1 for text in texts))
        return cls(documents_by_text, DOCUMENT_SEPARATOR.join(texts), ends)

    def find_same_text(self, document: Document) -> Document | None:
        """Return the document with the same text, preferably the same id; else None."""
        equal_documents = self.documents_by_text.get(single_line(document.text), [])
        for other in equal_documents:
            if other.id == document.id:
                return other
        return next(iter(equal_documents), None)

    def find_row(self, texts: Sequence[str]) -> int:
        """Return the first document that contains all texts, by number; else -1.

        At most `MAX_TRIED_DOCUMENTS` documents with the first text are examined.
        """
        position = self.joined_text.find(texts[0]) if texts else -1
        for _ in range(MAX_TRIED_DOCUMENTS):
            if position < 0:
                return -1
            row = bisect_right(self.ends, position)
            end = self.ends[row]
            if all(self.joined_text.find(text, self._start(row), end) >= 0 for text in texts):
                return row
            position = self.joined_text.find(texts[0], end)
        return -1

    def positions(self, texts: Sequence[str], row: int) -> list[int]:
        """Return the offset in `joined_text` of each text's first occurrence in a document."""
        return [self.joined_text.find(text, self._start(row)) for text in texts]

    def _start(self, row: int) -> int:
        """Return the offset at which a document begins."""
        return self.ends[row - 1] if row else 0


def match_texts(
    documents: Mapping[str, Document],
    chunks: Mapping[str, Sequence[IndexChunk]],
    existing: Sequence[Document],
) -> tuple[dict[str, Document], dict[str, list[IndexChunk]]]:
    """Match the documents of an index to those of a corpus.

    A document matches the one with the same text, blanks aside; else the first that contains all
    its chunks. If several match the same document, their chunks are ordered by position.

    Parameters
    ----------
    documents : documents of the index by their keys there.
    chunks : chunks of each document of the index, by its key.
    existing : the documents of the corpus.

    Returns
    -------
    The matched documents of the corpus, and the chunks of each, both by the id in the corpus.

    Raises
    ------
    BadInput : a document of the index has no match; the message quotes its text.
    """
    corpus = _CorpusText.from_documents(existing)
    # position and number of each chunk, by the id of its document in the corpus
    entries: dict[str, list[tuple[int, int, IndexChunk]]] = {}
    matches: dict[str, Document] = {}
    missing: list[str] = []
    for key, document in documents.items():
        texts = [single_line(chunk.text) for chunk in chunks.get(key, ())]
        match = corpus.find_same_text(document)
        positions = list(range(len(texts)))  # of an equal text the chunks keep their order
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
    return matches, {id: _by_position(chunk_entries) for id, chunk_entries in entries.items()}


def _missing_texts(texts: Sequence[str], n_texts: int) -> str:
    return (
        "These are not the texts of the index: "
        f"{len(texts):,} of {n_texts:,} are in none of its documents, such as "
        f"“{shorten(texts[0], 60)}”. Open it under another name."
    )


def _by_position(entries: Sequence[tuple[int, int, IndexChunk]]) -> list[IndexChunk]:
    """Return chunks ordered by position; those at the same position by number."""
    return [chunk for _, _, chunk in sorted(entries, key=lambda entry: entry[:2])]
