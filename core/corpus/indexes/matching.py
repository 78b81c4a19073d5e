"""Which documents of a corpus the texts of an index are, whatever they are called there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from core.corpus.document import Document
from core.corpus.indexes.index import Chunk
from core.errors import BadInput, shorten

MOST_PLACES = 20  # at which a chunk's text is looked for, where other documents quote it
BETWEEN = "\x00"  # of two documents, where no text goes on


def plain_text(text: str) -> str:
    """A text with single blanks, as tools change these."""
    return " ".join(text.split())


def matched(
    documents: Mapping[str, Document],
    chunks: Mapping[str, Sequence[Chunk]],
    known: Sequence[Document],
) -> tuple[dict[str, Document], dict[str, list[Chunk]]]:
    """The known document of each text of an index, and the chunks of each, both by its id: the one with the same text, blanks aside, else
    the first in which all chunks of the text are found. Chunks come in the order of their places where several texts of the index are one
    document. Raises BadInput naming texts that are in none."""
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
        several = f"{len(missing):,} of {len(documents):,} are in none of its documents, such as “{shorten(missing[0], 60)}”"
        raise BadInput(
            f"These are not the texts of the index: {several}. Open it under another name."
        )
    return found, {
        id: [chunk for _, _, chunk in sorted(some, key=lambda one: one[:2])]
        for id, some in placed.items()
    }


def _row_of(texts: Sequence[str], whole: str, ends: Sequence[int]) -> int:
    """The first document in which all of some texts are, -1 where there is none; `ends` are the places behind the documents in `whole`."""
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
