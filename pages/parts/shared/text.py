"""Escaping of names: texts of graphs, questions and models never become Markdown or HTML."""

from __future__ import annotations

import re

from pages.parts.shared.wording import noun, tr

_MARKED = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$:&@^=])")
# These become links even if every character is escaped.
_LINKED = re.compile(r"(https?://|www(?=\.)|@(?=[\w-]))", re.IGNORECASE)
_RIGHT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"  # letters of right-to-left scripts
_FROM_RIGHT = re.compile(rf"[{_RIGHT}]+(?:[ \d]{{1,3}}[{_RIGHT}]+)*")  # right-to-left words
_LETTER = re.compile(rf"[A-Za-z{_RIGHT}]")
_JOINER = "\u2060"  # word joiner: no width and no line break


def plain(text: str) -> str:
    """Return `text` escaped so that Streamlit's Markdown shows it literally.

    Right-to-left words in a left-to-right text are isolated.
    """
    said = " ".join(str(text).split())
    if (first := _LETTER.search(said)) is not None and first[0].isascii():
        said = _FROM_RIGHT.sub("\u2068\\g<0>\u2069", said)
    return _MARKED.sub(r"\\\1", _LINKED.sub(rf"\1{_JOINER}", said))


def isolated(text: str) -> str:
    """Return `plain(text)`, isolated if it has right-to-left words.

    Such a text does not change the order of its neighbours.
    """
    return f"\u2068{plain(text)}\u2069" if _FROM_RIGHT.search(text) else plain(text)


def many(count: int, what: str, more: str = "") -> str:
    """Return a number with its noun: 1 question, 1,200 questions.

    `more` is the plural, if it is not made with an s.
    """
    return f"{count:,} {noun(count, what, more or what + 's')}"


def size(count: float) -> str:
    """Return a number of bytes in words: 640 bytes, 12 kB, 3.5 MB, 1.2 GB."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    if count >= 1e3:
        return tr("{kilobytes:.0f} kB", kilobytes=count / 1e3)
    return tr("{count:.0f} bytes", count=count)
