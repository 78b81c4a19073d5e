"""Error messages of other programs as plain text that can be shown anywhere."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser

from core.errors import shorten

MAX_LETTERS = 200
MAX_READ = 20_000  # letters that are read; the shown ones are taken from them
TERMINAL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]P^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ "
    r"-/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]"
)
MARKUP = re.compile(r"<[a-z!/]", re.IGNORECASE)
UNSEEN = ("Cc", "Cs", "Co", "Cn")
TURNING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class _Words(HTMLParser):
    """The text of an HTML page without scripts and styles, and its title.

    The title is kept apart, as the page's heading usually repeats it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.title: list[str] = []
        self._hidden = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.words.append(" ")
        self._hidden = self._hidden or (tag if tag in ("script", "style", "title") else "")

    def handle_endtag(self, tag: str) -> None:
        self.words.append(" ")
        self._hidden = "" if tag == self._hidden else self._hidden

    def handle_data(self, data: str) -> None:
        if self._hidden == "title":
            self.title.append(data)
        self.words += [] if self._hidden else [data]


def readable_text(text: object, limit: int = MAX_LETTERS) -> str:
    """Return a text on one line without markup, terminal codes and invisible characters.

    Examples
    --------
    >>> from core.io.error_text import readable_text
    >>> readable_text("<html><style>p {}</style><h1>502</h1><p>Bad &amp; gone\\x1b[31m!</html>")
    '502 Bad & gone!'
    """
    words = TERMINAL.sub("", str(text)[:MAX_READ])
    if MARKUP.search(words):
        parser = _Words()
        parser.feed(words)
        words = "".join(parser.words)
        words = TERMINAL.sub("", words if words.strip() else "".join(parser.title))
    shown = (
        " " if unicodedata.category(letter) in UNSEEN else letter
        for letter in words
        if letter not in TURNING
    )
    return shorten("".join(shown), limit)
