"""Documents from the rows of published sets, and errors that name a faulty row."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from core.corpus.document import Document, utf8_text
from core.errors import BadInput, shorten

MAX_PUBLISHED_BYTES = 1 << 36  # of text in a published file; CRAG's has some 8 GB


class TitledDocuments:
    """Collector of documents from one or more files, with their titles as ids.

    Equal texts of one title are one document; different texts are numbered. `source` is the name of
    the file that is being read. `whole_texts` are the ids of documents about which questions ask as
    a whole.
    """

    def __init__(self) -> None:
        self.source = ""
        self.documents: list[Document] = []
        self.whole_texts: set[str] = set()
        self._ids: dict[str, dict[str, str]] = {}  # ids of documents by name and text

    def add(self, name: Any, text: Any, title: Any = None) -> str:
        """Add a text and return the id of its document.

        The id is `name`. Further texts of the name get a number, such as “Paris (2)”.

        Parameters
        ----------
        name : the title in the file.
        text : the text.
        title : title of the document; None to take `name`.

        Returns
        -------
        The id of the document.

        Raises
        ------
        TypeError : a value is no text.
        """
        name, text = require_text(name), require_text(text)
        ids = self._ids.setdefault(name, {})
        if text not in ids:
            ids[text] = name if not ids else f"{name} ({len(ids) + 1})"
            title = name if title is None else require_text(title)
            self.documents.append(Document(ids[text], text, title, self.source))
        return ids[text]


class RowErrors:
    """Context that turns errors of a malformed row into BadInput.

    The message names the row.

    Parameters
    ----------
    path : the file.
    where : words for the row, such as “line 3”.
    """

    def __init__(self, path: FilePath, where: str):
        self.path, self.where = path, where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, KeyError):
            raise BadInput(f"{self.path.name}, {self.where}: the row has no {error}.") from None
        if isinstance(error, (TypeError, ValueError, AttributeError)):
            raise BadInput(
                f"{self.path.name}, {self.where}: the row is not of the form that is known "
                f"({shorten(error)})."
            ) from None


def require_text(value: Any) -> str:
    """Return the value, which must be a text. Raises TypeError for any other type."""
    if not isinstance(value, str):
        raise TypeError(f"{shorten(repr(value), 40)} is no text")
    return utf8_text(value)
