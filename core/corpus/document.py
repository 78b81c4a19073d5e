"""A document of a corpus."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

Place = tuple[int, str]


@dataclass(frozen=True)
class Document:
    """A text with an id that stays the same as long as it is in its corpus.

    `source` tells where it came from, as a file's name. `places` are (offset in characters, label) pairs, ascending: a label, such as
    a page or a heading, holds from its offset up to the next one.

    >>> from core.corpus import Document
    >>> book = Document("book", "Once. And then. The end.", places=((0, "page 1"), (16, "page 2")))
    >>> book.place_at(5), book.place_at(16), Document("note", "Once.").place_at(0)
    ('page 1', 'page 2', '')
    """

    id: str
    text: str
    title: str = ""
    source: str = ""
    places: tuple[Place, ...] = ()

    def place_at(self, offset: int) -> str:
        """The label of the place of a character; empty before the first and where there are none."""
        before = bisect_right(self.places, offset, key=lambda place: place[0])
        return self.places[before - 1][1] if before else ""

    @property
    def heading(self) -> str:
        """The title as an encoder and a language model read it; empty where it is the name of the file.

        >>> from core.corpus import Document
        >>> Document("p1.txt", "Once.", "p1", "p1.txt").heading, Document("b", "Once.", "Ann", "b.md").heading
        ('', 'Ann')
        """
        file = PurePosixPath(self.source.replace("\\", "/"))
        return "" if self.title in (self.source, file.name, file.stem) else self.title

    @cached_property
    def digest(self) -> str:
        """The sha256 of all that it holds in hex."""
        fields = [self.id, self.text, self.title, self.source, self.places]
        return hashlib.sha256(json.dumps(fields, ensure_ascii=True).encode()).hexdigest()


@dataclass(frozen=True)
class Origin:
    """Where a file's documents came from: the folder or zip that it was brought in, and a sentence for each thing in it that was left out,
    guessed or not understood."""

    folder: str = ""
    notes: tuple[str, ...] = ()


def sound(text: str) -> str:
    """A text that UTF-8 can hold: halves of characters, which damaged JSON may bring, become the replacement character."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
