"""Match the texts of an index to the documents of a corpus, whatever their names."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from core.corpus.document import Document
from core.corpus.indexes.index import Chunk
from core.errors import BadInput, shorten

MOST_PLACES = 20  # places at which a chunk's text is tried, as other documents may quote it
BETWEEN = "\x00"  # separates documents, so that no text continues into the next


def plain_text(text: str) -> str:
    """Return a text with single blanks, as tools change blanks."""
    return " ".join(text.split())


def matched(
    documents: Mapping[str, Document],
    chunks: Mapping[str, Sequence[Chunk]],
    known: Sequence[Document],
) -> tuple[dict[str, Document], dict[str, list[Chunk]]]:
    """Return the known document of each text of an index, and its chunks, both by its id.

    It is the document with the same text, blanks aside; else the first that contains all chunks of
    the text. If several texts of the index match one document, their chunks are ordered by
    position.

    Raises BadInput that names a text without a match.
    """
    by_text: dict[str, list[Document]] = {}
    for one in known:
        by_text.setdefault(plain_text(one.text), []).append(one)
    whole = BETWEEN.join(plain_text(one.text) for one in known)
    ends = list(accumulate(len(plain_text(one.text)) + 1 for one in known))
    placed: dict[str, list[tuple[int, int, Chunk]]] = {}
    found: dict[str, Document] = {}
    missing: list[str] = []
    for key, document in documents.items():
        same = by_text.get(plain_text(document.text), [])
        texts = [plain_text(chunk.text) for chunk in chunks.get(key, ())]
        row = _row_of(texts, whole, ends) if not same else -1
        if not same and row < 0:
            missing.append(document.text)
            continue
        if same:
            one = next((other for other in same if other.id == document.id), same[0])
        else:
            one = known[row]
        found[one.id] = one
        for number, (chunk, text) in enumerate(zip(chunks.get(key, ()), texts)):
            at = whole.find(text, ends[row - 1] if row > 0 else 0) if row >= 0 else number
            placed.setdefault(one.id, []).append((at, number, replace(chunk, document=one.id)))
    if missing:
        several = (
            f"{len(missing):,} of {len(documents):,} are in none of its documents, such as "
            f"“{shorten(missing[0], 60)}”"
        )
        raise BadInput(
            f"These are not the texts of the index: {several}. Open it under another name."
        )
    return found, {
        id: [chunk for _, _, chunk in sorted(some, key=lambda one: one[:2])]
        for id, some in placed.items()
    }


def _row_of(texts: Sequence[str], whole: str, ends: Sequence[int]) -> int:
    """Return the first document that contains all texts; -1 if there is none.

    `ends` holds the end of each document in `whole`.
    """
    at = whole.find(texts[0]) if texts else -1
    for _ in range(MOST_PLACES):
        if at < 0:
            return -1
        row = bisect_right(ends, at)
        start, end = ends[row - 1] if row else 0, ends[row]
        if all(whole.find(text, start, end) >= 0 for text in texts):
            return row
        at = whole.find(texts[0], end)
    return -1
