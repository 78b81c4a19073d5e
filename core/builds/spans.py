"""Where a text may be cut: stretches of about so many tokens, or of so many sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator

BYTES_A_TOKEN = 3.5  # of UTF-8, close for English
ENDS = (r"\n\s*\n\s*", r"(?:[.!?][\"'”’)\]]*\s+|[。！？][」』”’]?)", r"\s+")  # a paragraph's, a sentence's, a word's: the best place first
LATE = 0.5  # the part of a stretch in which its end is looked for
SENTENCE = re.compile(ENDS[1] + "|" + ENDS[0])
Span = tuple[int, int]


def tokens(text: str) -> int:
    """About how many tokens a text is: one for 3.5 bytes of UTF-8."""
    return -(-2 * len(text.encode("utf-8", "replace")) // 7)


def by_tokens(text: str, size: int, overlap: int) -> Iterator[Span]:
    """Stretches of at most `size` tokens, each beginning about `overlap` tokens before the one before it ends.

    A stretch ends where a paragraph does, else a sentence, else a word, as near to its full size as there is one in its second half.

    >>> from core.builds.spans import by_tokens
    >>> text = "One two three. Four five six. Seven."
    >>> [text[a:b] for a, b in by_tokens(text, 9, 0)]
    ['One two three. Four five six. ', 'Seven.']
    """
    start = 0
    while start < len(text):
        end = _full(text, start, size)
        if end < len(text):
            end = _best_end(text, start, end)
        yield start, end
        if end >= len(text):
            return
        start = _word_start(text, max(start + 1, _back(text, end, overlap)), end) if overlap else end


def by_sentences(text: str, each: int, overlap: int) -> Iterator[Span]:
    """Stretches of `each` sentences, of which `overlap` are those that the one before ended with.

    >>> from core.builds.spans import by_sentences
    >>> [(a, b) for a, b in by_sentences("A b. C d! E.", 2, 1)]
    [(0, 10), (5, 12)]
    """
    cuts = [0, *(found.end() for found in SENTENCE.finditer(text) if found.end() < len(text)), len(text)]
    for first in range(0, max(1, len(cuts) - 1 - overlap), each - overlap):
        yield cuts[first], cuts[min(first + each, len(cuts) - 1)]


def _full(text: str, start: int, size: int) -> int:
    """The end of the longest stretch from `start` that is of `size` tokens at most, of one character at least."""
    room = int(size * BYTES_A_TOKEN)
    piece = text[start : start + room]
    if len(piece.encode("utf-8", "replace")) > room:
        piece = piece.encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
    return start + max(1, len(piece))


def _best_end(text: str, start: int, end: int) -> int:
    late = start + int((end - start) * LATE)
    for pattern in ENDS:
        found = [start + match.end() for match in re.finditer(pattern, text[start:end])]
        if found and found[-1] >= late:
            return found[-1]
    return end


def _back(text: str, end: int, overlap: int) -> int:
    """The place `overlap` tokens before `end`."""
    room = int(overlap * BYTES_A_TOKEN)
    return end - len(text[max(0, end - room) : end].encode("utf-8", "replace")[-room:].decode("utf-8", "ignore"))


def _word_start(text: str, at: int, end: int) -> int:
    """The first place from `at` on at which a word begins; `at` itself where none does before `end`."""
    if text[at - 1].isspace():
        return at
    found = re.compile(r"\s+").search(text, at, end)
    return found.end() if found and found.end() < end else at
