"""Match the texts of an index to the documents of a corpus, whatever their names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from core.corpus.document import Document
from core.corpus.indexes.index import IndexChunk
from core.errors import BadInput, shorten

MAX_TRIED_PLACES = 20  # places at which a chunk's text is tried, as other documents may quote it
DOCUMENT_SEPARATOR = "\x00"  # separates documents, so that no text continues into the next


def plain_text(text: str) -> str:
    """Return a text with single blanks, as tools change blanks."""
    return " ".join(text.split())


def match_texts(
    documents: Mapping[str, Document],
    chunks: Mapping[str, Sequence[IndexChunk]],
    known: Sequence[Document],
) -> tuple[dict[str, Document], dict[str, list[IndexChunk]]]:
    """Match the texts of an index to documents.

    A text matches the document with the same text, blanks aside; else the first that contains all
    chunks of the text. If several texts match one document, their chunks are ordered by position.

    Parameters
    ----------
    documents : texts of the index by their ids there.
    chunks : chunks of each text.
    known : the documents of the corpus.

    Returns
    -------
    The document of each text by the text's id, and chunks by the document's id.

    Raises
    ------
    BadInput : a text has no match; the message names it.
    """
    by_text: dict[str, list[Document]] = {}
    for match in known:
        by_text.setdefault(plain_text(match.text), []).append(match)
    all_text = DOCUMENT_SEPARATOR.join(plain_text(one.text) for one in known)
    ends = list(accumulate(len(plain_text(one.text)) + 1 for one in known))
    placed: dict[str, list[tuple[int, int, IndexChunk]]] = {}
    matches: dict[str, Document] = {}
    missing: list[str] = []
    for key, document in documents.items():
        equal_documents = by_text.get(plain_text(document.text), [])
        texts = [plain_text(chunk.text) for chunk in chunks.get(key, ())]
        row = _row_of(texts, all_text, ends) if not equal_documents else -1
        if not equal_documents and row < 0:
            missing.append(document.text)
            continue
        if equal_documents:
            match = next(
                (other for other in equal_documents if other.id == document.id), equal_documents[0]
            )
        else:
            match = known[row]
        matches[match.id] = match
        for number, (chunk, text) in enumerate(zip(chunks.get(key, ()), texts)):
            at = all_text.find(text, ends[row - 1] if row > 0 else 0) if row >= 0 else number
            placed.setdefault(match.id, []).append((at, number, replace(chunk, document=match.id)))
    if missing:
        several = (
            f"{len(missing):,} of {len(documents):,} are in none of its documents, such as "
            f"“{shorten(missing[0], 60)}”"
        )
        raise BadInput(
            f"These are not the texts of the index: {several}. Open it under another name."
        )
    return matches, {
        id: [chunk for _, _, chunk in sorted(some, key=lambda one: one[:2])]
        for id, some in placed.items()
    }


def _row_of(texts: Sequence[str], whole: str, ends: Sequence[int]) -> int:
    """Return the first document that contains all texts; -1 if there is none.

    `ends` holds the end of each document in `whole`.
    """
    position = whole.find(texts[0]) if texts else -1
    for _ in range(MAX_TRIED_PLACES):
        if position < 0:
            return -1
        row = bisect_right(ends, position)
        start, end = ends[row - 1] if row else 0, ends[row]
        if all(whole.find(text, start, end) >= 0 for text in texts):
            return row
        position = whole.find(texts[0], end)
    return -1
