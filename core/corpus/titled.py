"""Documents that published rows bring, by title or id, and errors that name the row."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from core.corpus.document import Document, sound
from core.errors import BadInput, shorten

MAX_BYTES = 1 << 36  # bytes of text that a published file may hold; CRAG's has some 8 GB


class Titled:
    """Documents of one or more files by their titles; one text under a title is one document, other texts under it are numbered. `source`
    is the name of the file that is being read."""

    def __init__(self) -> None:
        self.source = ""
        self.found: list[Document] = []
        self._ids: dict[str, dict[str, str]] = {}

    def add(self, name: Any, text: Any, title: Any = None) -> str:
        """The id of the document with this text: `name`, numbered from the second text on. Its title is `name` where none is given."""
        name, text = text_in(name), text_in(text)
        ids = self._ids.setdefault(name, {})
        if text not in ids:
            ids[text] = name if not ids else f"{name} ({len(ids) + 1})"
            self.found.append(
                Document(ids[text], text, name if title is None else text_in(title), self.source)
            )
        return ids[text]


class RowErrors:
    """A block that says of which row something is missing or of another kind. Raises BadInput."""

    def __init__(self, path: FilePath, where: str):
        self.path, self.where = path, where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, KeyError):
            raise BadInput(f"{self.path.name}, {self.where}: the row has no {error}.") from None
        if isinstance(error, (TypeError, ValueError, AttributeError)):
            raise BadInput(
                f"{self.path.name}, {self.where}: the row is not of the form that is known ({shorten(error)})."
            ) from None


def text_in(value: Any) -> str:
    """The value, which must be a text. Raises TypeError where it is none."""
    if not isinstance(value, str):
        raise TypeError(f"{shorten(repr(value), 40)} is no text")
    return sound(value)
