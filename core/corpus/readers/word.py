"""Word documents (docx): paragraphs and tables in their order, headings as places."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from core.corpus.document import Document, Place, sound
from core.corpus.readers.no_memory import for_want_of_memory
from core.corpus.readers.text import stem
from core.errors import BadInput, HopscopeError
from core.io.files import size_text

MAX_BYTES = 1 << 28  # bytes that the parts of a document may unpack to
MOST_COLUMNS = 63  # of a table, as Word has it; a cell is over no more of them
LOOK_EVERY = 1_000  # paragraphs or rows
HEADINGS = ("Heading", "Title")
Step = Callable[[float | None], None]


def word(name: str, data: bytes, step: Step = lambda share: None) -> list[Document]:
    """A docx file as one document; `step` is called every now and then.

    Raises BadInput where it is damaged, too large once unpacked, or holds no text.
    """
    if not data:
        raise BadInput(f"{name} is empty.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as parts:
            size = sum(part.file_size for part in parts.infolist())
        if size > MAX_BYTES:
            raise BadInput(f"{name} unpacks to more than {size_text(MAX_BYTES)}; that is more than can be read here.")
        lines, title = _lines(data, step)
    except HopscopeError:
        raise
    except Exception as error:  # a damaged file may fail anywhere in the library, with errors of any kind
        if for_want_of_memory(error):
            raise MemoryError from None
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


def _lines(data: bytes, step: Step) -> tuple[list[tuple[str, bool]], str]:
    """The lines of a document, each with whether it is a heading, and the title that its properties tell."""
    import docx

    document = docx.Document(io.BytesIO(data))
    lines: list[tuple[str, bool]] = []
    headings: dict[str | None, bool] = {}  # whether a style is that of a heading, by its id
    for number, part in enumerate(document.iter_inner_content()):
        if number % LOOK_EVERY == 0:
            step(None)
        if hasattr(part, "rows"):
            lines += ((" | ".join(row), False) for row in _rows(part, step))
            continue
        style = part._p.style
        if style not in headings:
            headings[style] = part.style is not None and (part.style.name or "").startswith(HEADINGS)
        lines.append((sound(part.text), headings[style]))
    return lines, " ".join(sound(document.core_properties.title or "").split())


def _rows(table: Any, step: Step) -> Iterator[list[str]]:
    """The texts of the cells of a table, row by row; one over several columns once, one over several rows in each."""
    from docx.table import _Cell

    above: dict[int, str] = {}
    for number, row in enumerate(table._tbl.tr_lst):
        if number % LOOK_EVERY == 0:
            step(None)
        column, here = 0, {}
        for cell in row.tc_lst:
            known = above.get(column) if cell.vMerge == "continue" else None
            here[column] = " ".join(sound(_Cell(cell, table).text).split()) if known is None else known
            column += min(cell.grid_span, MOST_COLUMNS)
        yield list(here.values())
        above = here
