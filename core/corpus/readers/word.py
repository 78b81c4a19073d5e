"""Word documents (docx): paragraphs and tables in their order, headings as places."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from core.corpus.document import Document, Place, sound
from core.corpus.readers.text import stem
from core.errors import BadInput
from core.io.files import size_text

MOST = 1 << 28  # bytes that the parts of a document may unpack to
HEADINGS = ("Heading", "Title")


def word(name: str, data: bytes) -> list[Document]:
    """A docx file as one document. Raises BadInput where it is damaged, too large once unpacked, or holds no text."""
    if not data:
        raise BadInput(f"{name} is empty.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            size = sum(part.file_size for part in parts.infolist())
        if size > MOST:
            raise BadInput(f"{name} unpacks to more than {size_text(MOST)}; that is more than can be read here.")
        lines, title = _lines(data)
    except BadInput:
        raise
    except Exception as error:  # a damaged file may fail anywhere in the library, with errors of any kind
        raise BadInput(f"{name} is damaged or no Word document (docx) ({type(error).__name__}).") from None
    places: list[Place] = []
    length = 0
    for line, heading in lines:
        if heading and line.strip():
            places.append((length, " ".join(line.split())))
        length += len(line) + 1
    text = "\n".join(line for line, _ in lines)
    if not text.strip():
        raise BadInput(f"{name} holds no text.")
    return [Document(name, text, title or (places[0][1] if places else stem(name)), name, tuple(places))]


def _lines(data: bytes) -> tuple[list[tuple[str, bool]], str]:
    """The lines of a document, each with whether it is a heading, and the title that its properties tell."""
    import docx

    document = docx.Document(io.BytesIO(data))
    lines: list[tuple[str, bool]] = []
    for part in document.iter_inner_content():
        if hasattr(part, "rows"):
            lines += [(" | ".join(_cells(row)), False) for row in part.rows]
        else:
            style = part.style.name if part.style is not None else ""
            lines.append((sound(part.text), (style or "").startswith(HEADINGS)))
    return lines, " ".join(sound(document.core_properties.title or "").split())


def _cells(row: Any) -> list[str]:
    """The texts of a row's cells; one that reaches over several columns once."""
    cells = dict.fromkeys(cell._tc for cell in row.cells)
    known = {cell._tc: cell for cell in row.cells}
    return [" ".join(sound(known[cell].text).split()) for cell in cells]
