"""Rows of a file, whatever holds them: JSON, Parquet or Arrow."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path as FilePath

from core.io.columnar import ARROW, COLUMNAR, PARQUET, is_columnar
from core.io.files import Source
from core.io.json_rows import Row, beginning, json_rows
from core.runtime.separate_columns import column_rows
from core.watch import NO_WATCH, Watch

__all__ = ["ARROW", "COLUMNAR", "PARQUET", "file_rows", "holds_rows", "is_columnar"]


def holds_rows(path: FilePath | Source, most: int | None = None) -> bool:
    """Whether a file holds rows: it is Parquet or Arrow by its name, or begins with a JSON object or an array of them."""
    return is_columnar(path) or beginning(path, 2, most).startswith(("{", "[{", "[]"))


def file_rows(
    path: FilePath | Source,
    watch: Watch = NO_WATCH,
    most: int | None = None,
    without: Container[str] = (),
    longest: int | None = None,
) -> Iterator[Row]:
    """The rows of a file, each with its place: those of JSON as `core.io.json_rows.json_rows` gives them, of Parquet and Arrow one object
    for each row, its columns as keys. Columns `without` which a reader does well are not decoded. Raises BadInput as `json_rows` does,
    and for a columnar file that is damaged or decodes to more than `most` bytes."""
    if not isinstance(path, FilePath) or not is_columnar(path):
        yield from json_rows(path, watch, most, longest)
        return
    reported = 0.0
    for number, (share, row) in enumerate(column_rows(path, without, most), 1):
        yield f"row {number}", row
        if share != reported:
            reported = share
            watch.step(min(1.0, share))
