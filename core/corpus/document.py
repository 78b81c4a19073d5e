"""A document of a corpus, and the origin of its file."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

Place = tuple[int, str]  # offset in characters, and the label that applies from there on


@dataclass(frozen=True)
class Document:
    """A text with a fixed id in its corpus.

    The id does not change while the text is in the corpus. `source` names its origin, such as a
    file. `places` are pairs of an offset in characters and a label, in the order of the offsets. A
    label, such as a page or a heading, applies from its offset up to the next label.

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
        """Return the label that applies at an offset; empty if none does."""
        index = bisect_right(self.places, offset, key=lambda place: place[0])
        return self.places[index - 1][1] if index else ""

    @property
    def heading(self) -> str:
        """The title as given to encoders and language models.

        It is empty if it is the file's name.

        >>> from core.corpus import Document
        >>> Document("p1.txt", "Once.", "p1", "p1.txt").heading
        ''
        >>> Document("b", "Once.", "Ann", "b.md").heading
        'Ann'
        """
        file = PurePosixPath(self.source.replace("\\", "/"))
        return "" if self.title in (self.source, file.name, file.stem) else self.title

    @cached_property
    def digest(self) -> str:
        """The SHA-256 digest of its content in hex."""
        fields = [self.id, self.text, self.title, self.source, self.places]
        return hashlib.sha256(json.dumps(fields, ensure_ascii=True).encode()).hexdigest()


@dataclass(frozen=True)
class DocumentOrigin:
    """The origin of a file's documents.

    Parameters
    ----------
    folder : name of the folder or zip with which the file was imported; empty for a single file.
    notes : a sentence for each thing in the file that was left out, guessed or not understood.
    """

    folder: str = ""
    notes: tuple[str, ...] = ()


def utf8_text(text: str) -> str:
    """Return a text that UTF-8 can encode.

    Unpaired surrogates, which damaged JSON may hold, become the replacement character.
    """
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
