"""Reader of the rows of JSON, Parquet and Arrow files. It is for imports of corpora and graphs."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path as FilePath

from core.io.columnar import ARROW_SUFFIXES, COLUMNAR_SUFFIXES, PARQUET_SUFFIXES, is_columnar
from core.io.files import FileSource
from core.io.json_rows import Row, json_rows, read_start
from core.runtime.separate_columns import column_rows
from core.watch import NO_WATCH, Watch

__all__ = [
    "ARROW_SUFFIXES",
    "COLUMNAR_SUFFIXES",
    "PARQUET_SUFFIXES",
    "file_rows",
    "holds_rows",
    "is_columnar",
]


def holds_rows(path: FilePath | FileSource, max_bytes: int | None = None) -> bool:
    """Return whether a file holds rows that `file_rows` can read.

    This is so if it has the suffix of a Parquet or Arrow file, or begins with a JSON object or an
    array of objects.
    """
    return is_columnar(path) or read_start(path, 2, max_bytes).startswith(("{", "[{", "[]"))


def file_rows(
    path: FilePath | FileSource,
    watch: Watch = NO_WATCH,
    max_bytes: int | None = None,
    without: Container[str] = (),
    max_line_bytes: int | None = None,
) -> Iterator[Row]:
    """Yield the rows of a file, each as (position in words, row).

    JSON rows are those of `core.io.json_rows.json_rows`. A row of Parquet or Arrow is an object
    with the columns as keys.

    Parameters
    ----------
    path : the file, by its path or opened as a source.
    watch : receives the progress, and can cancel the work.
    max_bytes : bytes that a columnar file may decode to, or that `json_rows` may read.
    without : columns of a Parquet or Arrow file that are not decoded, to save time.
    max_line_bytes : largest number of bytes of a line of JSON; None for the usual bound.

    Raises
    ------
    BadInput
        If `json_rows` raises it, or if a columnar file is damaged or decodes to over `max_bytes`
        bytes.
    """
    if not isinstance(path, FilePath) or not is_columnar(path):
        yield from json_rows(path, watch, max_bytes, max_line_bytes)
        return
    last_fraction = 0.0
    for number, (fraction, row) in enumerate(column_rows(path, without, max_bytes), 1):
        yield f"row {number}", row
        if fraction != last_fraction:
            last_fraction = fraction
            watch.step(min(1.0, fraction))
