"""Escaping of texts of graphs, questions and models, and numbers in words.

These texts are never read as Markdown or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from core.errors import split_command
from pages.parts.shared.wording import noun, tr

# Without parentheses, which only mean something after the brackets of a link: labels of widgets
# are read to the blind as they are written here.
_MARKDOWN_CHARACTER = re.compile(r"([\\`*_{}\[\]<>#+\-.!|~$:&@^=])")
_LIST_NUMBER = re.compile(r"^(\d+)\)")
# These become links even if every character is escaped.
_LINK_START = re.compile(r"(https?://|www(?=\.)|@(?=[\w-]))", re.IGNORECASE)
_RTL_LETTERS = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"  # letters of right-to-left scripts
_RTL_WORDS = re.compile(rf"[{_RTL_LETTERS}]+(?:[ \d]{{1,3}}[{_RTL_LETTERS}]+)*")
_LETTER = re.compile(rf"[A-Za-z{_RTL_LETTERS}]")
_JOINER = "\u2060"  # word joiner: no width and no line break


def plain(text: str) -> str:
    """Return `text` escaped so that Streamlit's Markdown shows it literally.

    Right-to-left words in a left-to-right text are isolated. The shell command of an error message
    is left out.
    """
    one_line = " ".join(split_command(str(text))[0].split())
    if (first := _LETTER.search(one_line)) is not None and first[0].isascii():
        one_line = _RTL_WORDS.sub("\u2068\\g<0>\u2069", one_line)
    escaped = _MARKDOWN_CHARACTER.sub(r"\\\1", _LINK_START.sub(rf"\1{_JOINER}", one_line))
    return _LIST_NUMBER.sub(r"\1\\)", escaped)


def isolated(text: str) -> str:
    """Return `plain(text)`, isolated if it has right-to-left words.

    Inserted without isolation, such a text could change the order of the words around it.
    """
    return f"\u2068{plain(text)}\u2069" if _RTL_WORDS.search(text) else plain(text)


def date_text(seconds: float) -> str:
    """Return a time in seconds since 1970 as a date and an hour here: 28 Nov 2026, 00:44."""
    return f"{datetime.fromtimestamp(seconds):%d %b %Y, %H:%M}"


def many(count: int, what: str, plural: str = "") -> str:
    """Return a number with its noun, translated: 1 question, 1,200 questions.

    `plural` is needed for an irregular plural only.
    """
    return f"{count:,} {noun(count, what, plural or what + 's')}"


def label_list(labels: Iterable[str]) -> str:
    """Return labels joined by commas, or by semicolons if one of them has a comma."""
    labels = list(labels)
    return ("; " if any("," in label for label in labels) else ", ").join(labels)


def size_words(count: float) -> str:
    """Return a number of bytes in words: 640 bytes, 12 kB, 3.5 MB, 1.2 GB."""
    for unit, name in ((1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    if count >= 1e3:
        return tr("{kilobytes:.0f} kB", kilobytes=count / 1e3)
    return tr("{count:.0f} bytes", count=count)
