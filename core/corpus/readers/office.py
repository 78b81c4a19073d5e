"""Readers of workbooks (xlsx) and slides (pptx), by openpyxl and python-pptx."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from typing import Any

from core.corpus.document import Document, Place, sound
from core.corpus.readers.no_memory import damage_reported
from core.corpus.readers.office_package import readable_package
from core.corpus.readers.options import USUAL, Note, Options, are, counted, listed
from core.corpus.readers.raised import on_one_line
from core.corpus.readers.sheet_parts import MergedCells, merged_cells, with_marked_heights
from core.corpus.readers.slide_lines import slide_lines
from core.corpus.readers.table import HEADER, Roles, documents_of, guessed
from core.corpus.readers.text import given_title, stem
from core.corpus.readers.word import check_unpacked
from core.errors import BadInput
from core.io.encoding import ignored
from core.watch import NO_WATCH, Watch

MOST_COLUMNS = 1_000  # columns of a sheet that are read
LOOK_EVERY = 1_000  # rows between two calls of the watch
NAMED = 5  # sheets or slides named in a sentence
PACKAGES = {"openpyxl": "openpyxl", "pptx": "python-pptx"}


def workbook(
    name: str, data: bytes, watch: Watch = NO_WATCH, note: Note = ignored, options: Options = USUAL
) -> list[Document]:
    """Read a workbook, by rows if a sheet has a column of texts, else as one document.

    Each row of the sheets whose first row names a column of texts is a document. Without such a
    sheet, each row is a line of the one document, with bars between cells, and each sheet is a
    place. `note` receives how it was read, hidden sheets, and formulas without a saved value.
    Raises BadInput if it is damaged, too large once unpacked, or holds no text.
    """

    def read() -> list[Document]:
        from openpyxl import load_workbook

        package = with_marked_heights(readable_package(data))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on unknown parts of a file, such as charts
            sheets = load_workbook(
                io.BytesIO(package), read_only=True, data_only=True, keep_links=False
            )
        hidden = [sheet.title for sheet in sheets.worksheets if sheet.sheet_state != "visible"]
        if hidden:
            shown = listed([sound(one) for one in hidden[:NAMED]])
            note(
                f"{name}: {counted(len(hidden), 'hidden sheet')} {are(len(hidden))} read as "
                f"well: {shown}."
            )
        if empty := _uncomputed(package, sheets):
            left = f"{counted(empty, 'formula')} without a saved result {are(empty)} left out"
            note(f"{name}: {left}; open and save it in a spreadsheet program.")
        merged = merged_cells(package)
        rows = {
            sound(sheet.title): list(_rows(sheet, watch, merged.get(sheet.title)))
            for sheet in sheets.worksheets
        }
        return _by_rows(name, rows, note, options) or _as_one(
            name, rows, sheets.properties.title or "", note
        )

    return _read(name, data, "workbook (xlsx)", "openpyxl", read)


def first_rows(name: str, data: bytes) -> list[list[str]]:
    """Return the first row of each sheet that is not blank, which may name columns.

    Raises BadInput as `workbook` does.
    """

    def read() -> list[list[str]]:
        from openpyxl import load_workbook

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sheets = load_workbook(
                io.BytesIO(readable_package(data)),
                read_only=True,
                data_only=True,
                keep_links=False,
            )
        return list(filter(None, (next(_rows(sheet), []) for sheet in sheets.worksheets)))

    return _read(name, data, "workbook (xlsx)", "openpyxl", read)


def slides(
    name: str, data: bytes, watch: Watch = NO_WATCH, note: Note = ignored, options: Options = USUAL
) -> list[Document]:
    """Read slides as one document: texts, tables and notes.

    Each slide is a place with its number and title. Raises BadInput if the file is damaged, too
    large once unpacked, or holds no text.
    """

    def read() -> list[Document]:
        from pptx import Presentation

        shown = Presentation(io.BytesIO(readable_package(data)))
        lines: list[str] = []
        places: list[Place] = []
        without: list[str] = []
        length = 0
        for number, slide in enumerate(shown.slides, 1):
            watch.step()
            here = [sound(line) for line in slide_lines(slide) if line.strip()]
            title = slide.shapes.title.text_frame.text if slide.shapes.title is not None else ""
            places.append((length, " ".join(f"slide {number} {sound(title)}".split())))
            if not here:
                without.append(f"{number:,}")
            lines += here
            length += sum(len(line) + 1 for line in here)
        if not lines:
            raise BadInput(
                f"{name} holds no text in its {counted(len(places), 'slide')}; what is in "
                "pictures is not read."
            )
        if without:
            which = f"slide{'s' * (len(without) > 1)} {listed(without[:NAMED])} of {len(places):,}"
            note(
                f"{name}: {which} {'holds' if len(without) == 1 else 'hold'} no text; "
                "pictures are not read."
            )
        return [
            Document(
                name,
                "\n".join(lines),
                given_title(shown.core_properties.title or "") or stem(name),
                name,
                tuple(places),
            )
        ]

    return _read(name, data, "presentation (pptx)", "pptx", read)


def _read(
    name: str, data: bytes, what: str, package: str, read: Callable[[], list[Any]]
) -> list[Any]:
    """Return what a library reads, with its errors turned into sentences."""
    if not data:
        raise BadInput(f"{name} is empty.")
    with damage_reported(name, what):
        check_unpacked(name, data)
        try:
            return read()
        except ImportError:
            needed = PACKAGES[package]
            raise BadInput(
                f"{name} is read by {needed}, which is not installed here; pip install "
                f"{needed} brings it."
            ) from None


def _rows(
    sheet: Any, watch: Watch = NO_WATCH, merged: MergedCells | None = None
) -> Iterator[list[str]]:
    """Yield the rows of a sheet that are not blank, as texts, without blank cells at their ends."""
    sheet.reset_dimensions()  # the stated size of a sheet may be too small
    for number, row in enumerate(sheet.iter_rows(values_only=True)):
        if number % LOOK_EVERY == 0:
            watch.step()
        cells = [_cell(value) for value in row[:MOST_COLUMNS]]
        cells = merged.fill(number, cells) if merged else cells
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


def _uncomputed(data: bytes, computed: Any) -> int:
    """Return the number of formulas without a saved result.

    Some programs write formulas without computing them.
    """
    from openpyxl import load_workbook

    formulas = load_workbook(io.BytesIO(data), read_only=True, keep_links=False)
    empty = 0
    for written, results in zip(formulas.worksheets, computed.worksheets):
        for row, values in zip(
            written.iter_rows(values_only=True), results.iter_rows(values_only=True)
        ):
            empty += sum(
                isinstance(cell, str) and cell.startswith("=") and value is None
                for cell, value in zip(row, values)
            )
    return empty


def _cell(value: Any) -> str:
    """Return a cell as a person reads it.

    Dates lose a time of midnight, and whole numbers their decimal point.
    """
    if isinstance(value, datetime):
        return str(value.date() if value.time() == time() else value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, (date, time)):
        return str(value)
    return " ".join(on_one_line(sound("" if value is None else str(value))).split())


def _by_rows(
    name: str, sheets: dict[str, list[list[str]]], note: Note, options: Options
) -> list[Document]:
    """Return a document for each row of sheets with a column of texts; empty if there are none."""
    named = {role: column for role, column in options.columns.items() if role != HEADER}
    found: dict[str, list[Document]] = {}
    several = sum(bool(rows) for rows in sheets.values()) > 1
    for title, rows in sheets.items():
        if rows and (named or "text" in guessed(rows[0])):
            place = f"{name}:{title}" if several else name
            try:
                roles = Roles(place, rows[0], named, by_number=True)
                read = documents_of(
                    place,
                    roles,
                    ((str(n), dict(zip(rows[0], row))) for n, row in enumerate(rows[1:], 1)),
                    note,
                )
            except BadInput:
                if not several:
                    raise
                continue
            found[title] = [Document(one.id, one.text, one.title, name) for one in read]
    if found and (
        others := [title for title, rows in sheets.items() if rows and title not in found]
    ):
        note(
            f"{name}: {counted(len(others), 'sheet')} without a column of texts "
            f"{are(len(others))} left out: {listed(others[:NAMED])}."
        )
    return [one for documents in found.values() for one in documents]


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
            here = [" | ".join(row) for row in rows]
            lines += here
            length += sum(len(line) + 1 for line in here)
    if not lines:
        raise BadInput(f"{name} holds no text.")
    note(
        f"{name} names no column of texts in its first rows, so it is one document with a "
        "line for each row."
    )
    return [Document(name, "\n".join(lines), given_title(title) or stem(name), name, tuple(places))]
