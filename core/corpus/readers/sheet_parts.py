"""Parts of workbooks that openpyxl does not give row by row: merged cells, raised numbers."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.corpus.readers.raised_text import HEIGHT_END, LOWERED_START, RAISED_START

MERGED_RANGE = re.compile(
    rb"<(?:\w{1,20}:)?mergeCell\s[^>]{0,200}?\bref=\"([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})\""
)
RAISED_RUN = re.compile(
    rb"(<(?:\w{1,20}:)?vertAlign\s+val=\"(super|sub)script\"\s*/>"
    rb"(?:(?!<(?:\w{1,20}:)?r>).){0,1000}?<(?:\w{1,20}:)?t(?:\s[^>]{0,100})?>)([^<]*)",
    re.DOTALL,
)
HEIGHT_MARKS = {b"super": RAISED_START.encode(), b"sub": LOWERED_START.encode()}
TEXT_PARTS = ("/sharedstrings.xml", "/worksheets/")
MAX_MERGED_RANGES = 100_000  # merged ranges of a sheet that are read


@dataclass
class MergedCells:
    """The cells of a sheet that span several rows. Rows and columns count from 0."""

    # by row, the columns of cells that begin in it
    first_rows: dict[int, list[int]] = field(default_factory=dict)
    # by the first cell of each
    last_rows: dict[tuple[int, int], int] = field(default_factory=dict)
    _texts: dict[int, tuple[str, int]] = field(default_factory=dict)  # by column, with the last row

    def fill(self, row: int, cells: list[str]) -> list[str]:
        """Return the cells of a row with the texts of cells that span into it.

        Call this for the rows in order. A row without cells of its own stays empty.

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
        for column, (text, last) in list(self._texts.items()):
            if row > last:
                del self._texts[column]
            elif any(cells):
                cells = cells + [""] * (column + 1 - len(cells))
                cells[column] = cells[column] or text
        for column in self.first_rows.get(row, ()):
            if column < len(cells) and cells[column]:
                self._texts[column] = (cells[column], self.last_rows[row, column])
        return cells


def merged_cells(data: bytes) -> Mapping[str, MergedCells]:
    """Return the merged cells of each sheet of a workbook, by its title."""
    from openpyxl.utils import range_boundaries

    sheet_cells = {}
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        for title, part in _sheets(package):
            merged = MergedCells()
            for number, match in enumerate(MERGED_RANGE.finditer(package.read(part))):
                if number == MAX_MERGED_RANGES:
                    break
                left, top, _, bottom = range_boundaries(match[1].decode())
                if bottom > top:
                    merged.first_rows.setdefault(top - 1, []).append(left - 1)
                    merged.last_rows[top - 1, left - 1] = bottom - 1
            sheet_cells[title] = merged
    return sheet_cells


def with_marked_heights(data: bytes) -> bytes:
    """Return a workbook with marks of `core.corpus.readers.raised_text` around raised and lowered texts."""
    changed = {}
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        for name in package.namelist():
            if any(part in f"/{name.casefold()}" for part in TEXT_PARTS):
                content = package.read(name)
                if b"vertAlign" in content:
                    changed[name] = RAISED_RUN.sub(_mark_height, content)
        if not changed:
            return data
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as copy:
            for part in package.infolist():
                copy.writestr(part.filename, changed.get(part.filename) or package.read(part))
        return out.getvalue()


def _mark_height(match: re.Match[bytes]) -> bytes:
    return match[1] + HEIGHT_MARKS[match[2]] + match[3] + HEIGHT_END.encode()


def _sheets(package: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Yield the title of each sheet and the name of its part."""
    relations = _relations(package, "_rels/.rels", "")
    book = next((part for kind, part in relations.values() if kind.endswith("/officeDocument")), "")
    if book not in package.namelist():
        return
    folder, file = posixpath.split(book)
    targets = _relations(package, f"{folder}/_rels/{file}.rels".lstrip("/"), folder)
    for sheet in _parse_xml(package.read(book)).iter("{*}sheet"):
        id = next((value for key, value in sheet.attrib.items() if key.endswith("}id")), "")
        _, part = targets.get(id, ("", ""))
        if part in package.namelist():
            yield sheet.get("name", ""), part


def _relations(package: zipfile.ZipFile, name: str, folder: str) -> dict[str, tuple[str, str]]:
    """Return the kind and target of each relation of a part, by its id."""
    if name not in package.namelist():
        return {}
    path = lambda target: posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
    return {
        one.get("Id", ""): (one.get("Type", ""), path(one.get("Target", "")))
        for one in _parse_xml(package.read(name))
    }


def _parse_xml(data: bytes) -> Any:
    from lxml import etree

    return etree.fromstring(data, etree.XMLParser(resolve_entities=False))
