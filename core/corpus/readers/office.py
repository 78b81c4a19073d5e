"""Readers of workbooks (xlsx) and slides (pptx), by openpyxl and python-pptx.

They run in a separate process (`core.corpus.readers.reader_process`).
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from typing import Any

from core.corpus.document import Document, Place, utf8_text
from core.corpus.readers.library_errors import report_damage
from core.corpus.readers.office_package import readable_package
from core.corpus.readers.options import (
    DEFAULT_OPTIONS,
    Columns,
    Note,
    ReadingOptions,
    count_with_noun,
    list_text,
    verb_of_number,
)
from core.corpus.readers.raised_text import on_one_line
from core.corpus.readers.sheet_parts import MergedCells, mark_raised_runs, merged_cells
from core.corpus.readers.slide_lines import slide_lines
from core.corpus.readers.table import HEADER_OPTION, ColumnRoles, documents_of, guess_roles
from core.corpus.readers.text import clean_title, file_stem
from core.corpus.readers.word import check_unpacked
from core.errors import BadInput, with_command
from core.io.encoding import ignore_note
from core.watch import NO_WATCH, Watch

MAX_SHEET_COLUMNS = 1_000  # columns of a sheet that are read
SHEET_ROWS_PER_CHECK = 1_000  # rows between two calls of the watch
MAX_NAMED_PARTS = 5  # sheets or slides named in a sentence
# name of the package to install, by the name under which it is imported
LIBRARY_PACKAGES = {"openpyxl": "openpyxl", "pptx": "python-pptx"}


def read_workbook(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> list[Document]:
    """Read a workbook by rows or as one document.

    It is read by rows if a sheet has a column of texts. Each row of the sheets whose first row
    names a column of texts is a document. Without such a sheet, each row is a line of the one
    document, with bars between cells, and each sheet is a place.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : called from time to time; may raise RunCancelled.
    note : receives a sentence if no sheet has a column of texts, and on hidden sheets and formulas
        without a saved value.
    options : options of reading, of which only the columns are used.

    Returns
    -------
    One document for each row with a text, or one for all sheets.

    Raises
    ------
    BadInput : it is damaged, too large once unpacked, or holds no text.
    """

    def read() -> list[Document]:
        package = mark_raised_runs(readable_package(data))
        workbook = _load_workbook(package)
        _note_hidden_sheets(name, workbook, note)
        n_uncomputed = _count_uncomputed(package, workbook)
        if n_uncomputed:
            formulas = count_with_noun(n_uncomputed, "formula")
            phrase = f"{formulas} without a saved result {verb_of_number(n_uncomputed)} left out"
            note(f"{name}: {phrase}; open and save it in a spreadsheet program.")
        merged = merged_cells(package)
        rows: dict[str, list[list[str]]] = {}
        for sheet in workbook.worksheets:
            rows[utf8_text(sheet.title)] = list(_rows(sheet, watch, merged.get(sheet.title)))
        documents = _by_rows(name, rows, note, options)
        return documents or _as_one(name, rows, workbook.properties.title or "", note)

    return _read(name, data, "workbook (xlsx)", "openpyxl", read)


def _load_workbook(package: bytes) -> Any:
    """Open a workbook with the saved results of its formulas."""
    from openpyxl import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on unknown parts of a file, such as charts
        file = io.BytesIO(package)
        return load_workbook(file, read_only=True, data_only=True, keep_links=False)


def _note_hidden_sheets(name: str, workbook: Any, note: Note) -> None:
    hidden = [sheet.title for sheet in workbook.worksheets if sheet.sheet_state != "visible"]
    if hidden:
        sheets = count_with_noun(len(hidden), "hidden sheet")
        names = list_text([utf8_text(title) for title in hidden[:MAX_NAMED_PARTS]])
        note(f"{name}: {sheets} {verb_of_number(len(hidden))} read as well: {names}.")


def first_rows(name: str, data: bytes) -> list[list[str]]:
    """Return the first row of each sheet that is not blank.

    Such a row may name columns.

    Parameters
    ----------
    name : name of the file, for errors.
    data : the bytes of the file.

    Returns
    -------
    Texts of the cells of each row.

    Raises
    ------
    BadInput : as `read_workbook` raises.
    """

    def read() -> list[list[str]]:
        workbook = _load_workbook(readable_package(data))
        return list(filter(None, (next(_rows(sheet), []) for sheet in workbook.worksheets)))

    return _read(name, data, "workbook (xlsx)", "openpyxl", read)


def read_slides(
    name: str,
    data: bytes,
    watch: Watch = NO_WATCH,
    note: Note = ignore_note,
    options: ReadingOptions = DEFAULT_OPTIONS,
) -> list[Document]:
    """Read slides as one document: texts, tables and notes.

    Each slide is a place with its number and title.

    Parameters
    ----------
    name : name of the file, for the document and for messages.
    data : the bytes of the file.
    watch : called from time to time; may raise RunCancelled.
    note : receives a sentence on slides without text.
    options : not used; a parameter of all readers.

    Returns
    -------
    One document.

    Raises
    ------
    BadInput : it is damaged, too large once unpacked, or holds no text.
    """

    def read() -> list[Document]:
        from pptx import Presentation

        presentation = Presentation(io.BytesIO(readable_package(data)))
        lines: list[str] = []
        places: list[Place] = []
        empty_slides: list[str] = []
        length = 0
        for number, slide in enumerate(presentation.slides, 1):
            watch.step()
            slide_texts = [utf8_text(line) for line in slide_lines(slide) if line.strip()]
            title = slide.shapes.title.text_frame.text if slide.shapes.title is not None else ""
            places.append((length, " ".join(f"slide {number} {utf8_text(title)}".split())))
            if not slide_texts:
                empty_slides.append(f"{number:,}")
            lines += slide_texts
            length += sum(len(line) + 1 for line in slide_texts)
        if not lines:
            raise BadInput(
                f"{name} holds no text in its {count_with_noun(len(places), 'slide')}; what is in "
                "pictures is not read."
            )
        if empty_slides:
            words = ("slide", "holds") if len(empty_slides) == 1 else ("slides", "hold")
            numbers = f"{list_text(empty_slides[:MAX_NAMED_PARTS])} of {len(places):,}"
            note(f"{name}: {words[0]} {numbers} {words[1]} no text; pictures are not read.")
        title = clean_title(presentation.core_properties.title or "") or file_stem(name)
        return [Document(name, "\n".join(lines), title, name, tuple(places))]

    return _read(name, data, "presentation (pptx)", "pptx", read)


def _read(
    name: str, data: bytes, kind: str, package: str, read: Callable[[], list[Any]]
) -> list[Any]:
    """Return the result of `read`, with errors of the library turned into sentences.

    `kind` names the format in messages, and `package` is the library that `read` imports.
    """
    if not data:
        raise BadInput(f"{name} is empty.")
    with report_damage(name, kind):
        check_unpacked(name, data)
        try:
            return read()
        except ImportError:
            library = LIBRARY_PACKAGES[package]
            sentence = f"{name} is read by {library}, which is not installed here."
            raise BadInput(with_command(sentence, f"pip install {library}")) from None


def _rows(
    sheet: Any, watch: Watch = NO_WATCH, merged: MergedCells | None = None
) -> Iterator[list[str]]:
    """Yield the rows of a sheet that are not blank, as texts.

    Blank cells at their ends are left out.
    """
    sheet.reset_dimensions()  # the stated size may be too small
    for number, row in enumerate(sheet.iter_rows(values_only=True)):
        if number % SHEET_ROWS_PER_CHECK == 0:
            watch.step()
        cells = [_cell(value) for value in row[:MAX_SHEET_COLUMNS]]
        if merged:
            cells = merged.fill(number, cells)
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def _count_uncomputed(data: bytes, workbook: Any) -> int:
    """Return the number of formulas without a saved result in the file.

    Some programs write formulas without computing them. `workbook` holds the results, as
    `_load_workbook` returns them.
    """
    from openpyxl import load_workbook

    formulas = load_workbook(io.BytesIO(data), read_only=True, keep_links=False)
    n_uncomputed = 0
    for sheet, results in zip(formulas.worksheets, workbook.worksheets):
        for each in (sheet, results):
            each.reset_dimensions()  # the stated size of a sheet may be too small
        for row, values in zip(
            sheet.iter_rows(values_only=True), results.iter_rows(values_only=True)
        ):
            n_uncomputed += sum(
                isinstance(cell, str) and cell.startswith("=") and value is None
                for cell, value in zip(row, values)
            )
    return n_uncomputed


def _cell(value: Any) -> str:
    """Return the value of a cell as a person reads it.

    Dates are written without a time of midnight, and whole numbers without a decimal point.
    """
    if isinstance(value, datetime):
        return str(value.date() if value.time() == time() else value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, (date, time)):
        return str(value)
    return " ".join(on_one_line(utf8_text("" if value is None else str(value))).split())


def _by_rows(
    name: str, sheets: dict[str, list[list[str]]], note: Note, options: ReadingOptions
) -> list[Document]:
    """Return a document for each row of some sheets.

    The sheets are those with a column of texts. The result is empty if there are none.
    """
    named_columns = {
        role: column for role, column in options.columns.items() if role != HEADER_OPTION
    }
    filled_sheets = {title: rows for title, rows in sheets.items() if rows}
    has_several = len(filled_sheets) > 1
    documents: list[Document] = []
    skipped: list[str] = []
    for title, rows in filled_sheets.items():
        if not named_columns and "text" not in guess_roles(rows[0]):
            skipped.append(title)
            continue
        sheet_name = f"{name}:{title}" if has_several else name
        try:
            documents_read = _sheet_documents(sheet_name, rows, named_columns, note)
        except BadInput:
            if not has_several:
                raise
            skipped.append(title)
            continue
        # The ids keep the name of the sheet, but the source is the file.
        documents += [Document(row.id, row.text, row.title, name) for row in documents_read]
    if len(skipped) < len(filled_sheets):
        _note_skipped(name, skipped, note)
    return documents


def _sheet_documents(
    name: str, rows: list[list[str]], columns: Columns, note: Note
) -> list[Document]:
    """Return a document for each row of a sheet below its header."""
    header, *values = rows
    roles = ColumnRoles(name, header, columns, by_number=True)
    numbered_rows = ((str(n), dict(zip(header, row))) for n, row in enumerate(values, 1))
    return documents_of(name, roles, numbered_rows, note)


def _note_skipped(name: str, titles: list[str], note: Note) -> None:
    if titles:
        note(
            f"{name}: {count_with_noun(len(titles), 'sheet')} without a column of texts "
            f"{verb_of_number(len(titles))} left out: {list_text(titles[:MAX_NAMED_PARTS])}."
        )


def _as_one(
    name: str, sheets: dict[str, list[list[str]]], title: str, note: Note
) -> list[Document]:
    """Return all sheets as one document, with a line for each row."""
    places: list[Place] = []
    lines: list[str] = []
    length = 0
    for sheet, rows in sheets.items():
        if rows:
            places.append((length, sheet))
            row_lines = [" | ".join(row) for row in rows]
            lines += row_lines
            length += sum(len(line) + 1 for line in row_lines)
    if not lines:
        raise BadInput(f"{name} holds no text.")
    note(
        f"{name} names no column of texts in its first rows, so it is one document with a "
        "line for each row."
    )
    title = clean_title(title) or file_stem(name)
    return [Document(name, "\n".join(lines), title, name, tuple(places))]
