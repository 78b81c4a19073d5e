"""Reader of Jupyter notebooks (ipynb): text and code in order, with headings as places."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

from core.corpus.document import Document, utf8_text
from core.corpus.readers.markdown import read_markdown
from core.corpus.readers.options import DEFAULT_OPTIONS, Note, ReadingOptions, count_with_noun
from core.corpus.readers.text import decode_file, file_stem
from core.errors import BadInput
from core.io.encoding import ignore_note
from core.watch import NO_WATCH, Watch

CELL_FENCE = "```"


def read_notebook(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> list[Document]:
    """Read a notebook as one document in Markdown.

    Text cells are unchanged, and code cells are put between fences.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : may raise RunCancelled.
    note : receives a sentence on outputs that are left out.
    options : options of reading, of which only the encoding is used.

    Returns
    -------
    One document.

    Raises
    ------
    BadInput : it is damaged or holds no text.
    """
    try:
        content = json.loads(decode_file(name, data, note, options))
        if "cells" in content:
            cells = content["cells"]
        else:  # the format before version 4
            cells = list(chain.from_iterable(sheet["cells"] for sheet in content["worksheets"]))
        parts = list(filter(None, (_cell(cell, content) for cell in cells)))
        n_with_outputs = sum(bool(cell.get("outputs")) for cell in cells)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(
            f"{name} is damaged or no notebook (ipynb) ({type(error).__name__})."
        ) from None
    if not parts:
        raise BadInput(f"{name} holds no text in its {count_with_noun(len(cells), 'cell')}.")
    if n_with_outputs:
        note(f"{name}: the outputs of {count_with_noun(n_with_outputs, 'cell')} are left out.")
    (document,) = read_markdown(name, utf8_text("\n\n".join(parts)).encode(), watch)
    return [Document(name, document.text, document.title or file_stem(name), name, document.places)]


def _cell(cell: dict[str, Any], notebook: dict[str, Any]) -> str:
    """Return a cell as Markdown, with code between fences.

    Older notebooks store headings and code under other names.
    """
    source = cell.get("source", cell.get("input", ""))
    text = ("".join(source) if isinstance(source, list) else str(source)).strip("\n")
    if not text.strip():
        return ""
    if cell["cell_type"] == "code":
        language = str(notebook.get("metadata", {}).get("kernelspec", {}).get("language", ""))
        fence = CELL_FENCE if CELL_FENCE not in text else "~~~~"
        return f"{fence}{language}\n{text}\n{fence}"
    if cell["cell_type"] == "heading":
        return f"{'#' * int(cell.get('level', 1))} {text}"
    return text
