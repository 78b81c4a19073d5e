"""Merged cells and superscripts of workbooks, which openpyxl's row reader omits."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from core.corpus.readers.office_package import parse_xml
from core.corpus.readers.raised_text import LOWERED_START, RAISED_START, SCRIPT_END

MERGED_RANGE = re.compile(
    rb"<(?:\w{1,20}:)?mergeCell\s[^>]{0,200}?\bref=\"([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})\""
)
RAISED_RUN = re.compile(
    rb"(<(?:\w{1,20}:)?vertAlign\s+val=\"(super|sub)script\"\s*/>"
    rb"(?:(?!<(?:\w{1,20}:)?r>).){0,1000}?<(?:\w{1,20}:)?t(?:\s[^>]{0,100})?>)([^<]*)",
    re.DOTALL,
)
SCRIPT_MARKS = {b"super": RAISED_START.encode(), b"sub": LOWERED_START.encode()}
# in the casefolded names of those files of the package that hold texts of cells
TEXT_FILES = ("/sharedstrings.xml", "/worksheets/")
MAX_MERGED_RANGES = 100_000  # merged cells of a sheet that are read


@dataclass
class MergedCells:
    """The merged cells of a sheet that span several rows. Rows and columns count from 0."""

    # Columns of the merged cells that begin in each row.
    columns_by_first_row: dict[int, list[int]] = field(default_factory=dict)
    # Last row of each merged cell, by the row and column of its first cell.
    last_rows: dict[tuple[int, int], int] = field(default_factory=dict)
    # Text and last row of each cell that spans into the next row, by column.
    _spanning_texts: dict[int, tuple[str, int]] = field(default_factory=dict)

    def fill(self, row: int, cells: list[str]) -> list[str]:
        """Return a row's cells with the texts of spanning cells.

        Spanning cells are cells that span into the row. Call this for the rows in order. A row
        without any text of its own stays empty.

        Parameters
        ----------
        row : number of the row, from 0.
        cells : its own texts.

        Returns
        -------
        Its texts with those of spanning cells.
        """
        if not self.last_rows:
            return cells
        for column, (text, last_row) in list(self._spanning_texts.items()):
            if row > last_row:
                del self._spanning_texts[column]
            elif any(cells):
                cells = cells + [""] * (column + 1 - len(cells))
                cells[column] = cells[column] or text
        for column in self.columns_by_first_row.get(row, ()):
            if column < len(cells) and cells[column]:
                self._spanning_texts[column] = (cells[column], self.last_rows[row, column])
        return cells


def merged_cells(data: bytes) -> Mapping[str, MergedCells]:
    """Return the merged cells of each sheet of a workbook, by its title."""
    from openpyxl.utils import range_boundaries

    sheet_cells = {}
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        for title, sheet_file in _sheets(package):
            merged = MergedCells()
            ranges = MERGED_RANGE.finditer(package.read(sheet_file))
            for match in islice(ranges, MAX_MERGED_RANGES):
                left, top, _, bottom = range_boundaries(match[1].decode())
                if bottom > top:
                    merged.columns_by_first_row.setdefault(top - 1, []).append(left - 1)
                    merged.last_rows[top - 1, left - 1] = bottom - 1
            sheet_cells[title] = merged
    return sheet_cells


def mark_raised_runs(data: bytes) -> bytes:
    """Return a workbook with marks around its superscripts and subscripts.

    The marks are those of `core.corpus.readers.raised_text`.
    """
    changed = {}
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        for name in package.namelist():
            if any(fragment in f"/{name.casefold()}" for fragment in TEXT_FILES):
                content = package.read(name)
                if b"vertAlign" in content:
                    changed[name] = RAISED_RUN.sub(_mark_run, content)
        if not changed:
            return data
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as copy:
            for member in package.infolist():
                content = changed.get(member.filename) or package.read(member)
                copy.writestr(member.filename, content)
        return out.getvalue()


def _mark_run(match: re.Match[bytes]) -> bytes:
    return match[1] + SCRIPT_MARKS[match[2]] + match[3] + SCRIPT_END.encode()


def _sheets(package: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Yield each sheet's title and the name of its file.

    The name is that in the package.
    """
    relations = _relations(package, "_rels/.rels", "")
    books = (file for kind, file in relations.values() if kind.endswith("/officeDocument"))
    book = next(books, "")
    if book not in package.namelist():
        return
    folder, file = posixpath.split(book)
    targets = _relations(package, f"{folder}/_rels/{file}.rels".lstrip("/"), folder)
    for sheet in parse_xml(package.read(book)).iter("{*}sheet"):
        ids = (value for key, value in sheet.attrib.items() if key.endswith("}id"))
        _, sheet_file = targets.get(next(ids, ""), ("", ""))
        if sheet_file in package.namelist():
            yield sheet.get("name", ""), sheet_file


def _relations(package: zipfile.ZipFile, name: str, folder: str) -> dict[str, tuple[str, str]]:
    """Return the relations in a file of relations.

    Each is given by its id, with its kind and target.
    """
    if name not in package.namelist():
        return {}
    relations: dict[str, tuple[str, str]] = {}
    for relation in parse_xml(package.read(name)):
        target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))
        relations[relation.get("Id", "")] = (relation.get("Type", ""), target.lstrip("/"))
    return relations
