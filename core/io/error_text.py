"""Error messages of other programs as plain text that can be shown anywhere."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser

from core.errors import shorten

MAX_SHOWN_LETTERS = 200  # of a message on a screen
MAX_READ_LETTERS = 20_000  # letters of a message that are parsed
# Escape sequences, such as those for colours and window titles.
TERMINAL_CODE = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ "
    r"-/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
TAG_START = re.compile(r"<[a-z!/]", re.IGNORECASE)
# Unicode's control characters, surrogates, private characters and unassigned ones.
INVISIBLE_CATEGORIES = ("Cc", "Cs", "Co", "Cn")
DIRECTION_MARKS = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class _VisibleWords(HTMLParser):
    """The text of an HTML page without scripts and styles, and its title.

    The title is stored separately, as the page's heading usually repeats it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.title: list[str] = []
        self._hidden_tag = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.words.append(" ")
        if not self._hidden_tag and tag in ("script", "style", "title"):
            self._hidden_tag = tag

    def handle_endtag(self, tag: str) -> None:
        self.words.append(" ")
        if tag == self._hidden_tag:
            self._hidden_tag = ""

    def handle_data(self, data: str) -> None:
        if self._hidden_tag == "title":
            self.title.append(data)
        elif not self._hidden_tag:
            self.words.append(data)


def readable_text(text: object, limit: int = MAX_SHOWN_LETTERS) -> str:
    """Return a text on one line without markup, terminal codes and invisible characters.

    At most `limit` characters are returned. A page of HTML is reduced to its visible words, or to
    its title if it has no others.

    Examples
    --------
    >>> from core.io.error_text import readable_text
    >>> readable_text("<html><style>p {}</style><h1>502</h1><p>Bad &amp; gone\\x1b[31m!</html>")
    '502 Bad & gone!'
    """
    words = TERMINAL_CODE.sub("", str(text)[:MAX_READ_LETTERS])
    if TAG_START.search(words):
        parser = _VisibleWords()
        parser.feed(words)
        words = "".join(parser.words)
        words = TERMINAL_CODE.sub("", words if words.strip() else "".join(parser.title))
    letters = (
        " " if unicodedata.category(letter) in INVISIBLE_CATEGORIES else letter
        for letter in words
        if letter not in DIRECTION_MARKS
    )
    return shorten("".join(letters), limit)
