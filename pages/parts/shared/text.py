"""Names as text: what comes from graphs, questions and models never becomes Markdown or HTML."""

from __future__ import annotations

import re

from pages.parts.shared.wording import noun, tr

_MARKED = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:&@^=])")
# what becomes a link even where every letter is escaped
_LINKED = re.compile(r"(https?://|www(?=\.)|@(?=[\w-]))", re.IGNORECASE)
_RIGHT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"  # letters of Hebrew, Arabic and others
_FROM_RIGHT = re.compile(rf"[{_RIGHT}]+(?:[ \d]{{1,3}}[{_RIGHT}]+)*")  # words of these
_LETTER = re.compile(rf"[A-Za-z{_RIGHT}]")
_JOINER = "\u2060"  # takes no room, and ends a line nowhere


def plain(text: str) -> str:
    """`text` so that Streamlit's Markdown shows it letter by letter; words from right to left
    within others keep to themselves."""
    said = " ".join(str(text).split())
    if (first := _LETTER.search(said)) is not None and first[0].isascii():
        said = _FROM_RIGHT.sub("\u2068\\g<0>\u2069", said)
    return _MARKED.sub(r"\\\1", _LINKED.sub(rf"\1{_JOINER}", said))


def isolated(text: str) -> str:
    """As `plain`, of a text beside others: one from right to left does not draw these into it."""
    return f"\u2068{plain(text)}\u2069" if _FROM_RIGHT.search(text) else plain(text)


def many(count: int, what: str, more: str = "") -> str:
    """A number with its noun: 1 question, 1,200 questions; `more` where the plural is not made by
    an s."""
    return f"{count:,} {noun(count, what, more or what + 's')}"


def size(count: float) -> str:
    """A number of bytes in words: 640 bytes, 12 kB, 3.5 MB, 1.2 GB."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    if count >= 1e3:
        return tr("{kilobytes:.0f} kB", kilobytes=count / 1e3)
    return tr("{count:.0f} bytes", count=count)
