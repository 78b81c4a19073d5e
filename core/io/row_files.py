"""Rows of a file, whatever holds them: JSON, Parquet or Arrow."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import closing
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, shorten
from core.io.files import Source, Tell, size_text
from core.io.json_rows import Row, beginning, json_rows

PARQUET, ARROW = (".parquet",), (".arrow", ".feather")
COLUMNAR = (*PARQUET, *ARROW)
BATCH_ROWS = 64  # of a columnar file that become objects at once
Wanted = Callable[[str], bool]


def is_columnar(file: FilePath | Source) -> bool:
    """Whether a file is a table of columns, by the suffix of its name."""
    return FilePath(file.name).suffix.lower() in COLUMNAR


def holds_rows(path: FilePath | Source, most: int | None = None) -> bool:
    """Whether a file holds rows: it is Parquet or Arrow by its name, or begins with a JSON object or an array of them."""
    return is_columnar(path) or beginning(path, 2, most).startswith(("{", "[{", "[]"))


def file_rows(
    path: FilePath | Source,
    tell: Tell | None = None,
    most: int | None = None,
    without: Container[str] = (),
    longest: int | None = None,
) -> Iterator[Row]:
    """The rows of a file, each with its place: those of JSON as `core.io.json_rows.json_rows` gives them, of Parquet and Arrow one object
    for each row, its columns as keys. Columns `without` which a reader does well are not decoded. Raises BadInput as `json_rows` does,
    and for a columnar file that is damaged or decodes to more than `most` bytes."""
    if not isinstance(path, FilePath) or not is_columnar(path):
        yield from json_rows(path, tell, most, longest)
        return
    from pyarrow import ArrowException

    if not path.is_file():
        raise BadInput(f"There is no file {path}.")
    try:
        yield from _columnar_rows(path, tell, most, without)
    except (ArrowException, OSError) as error:
        raise BadInput(
            f"{path.name} cannot be read as {_title(path)} ({shorten(str(error), 120)})."
        ) from None


def _columnar_rows(
    path: FilePath, tell: Tell | None, most: int | None, without: Container[str]
) -> Iterator[Row]:
    taken = number = 0
    with closing(_opened(path)) as table:
        for share, batch in table.batches([name for name in table.names if name not in without]):
            taken += batch.nbytes
            if most is not None and taken > most:
                raise BadInput(
                    f"{path.name} holds more than {size_text(most)} of text; that is more than can be read here."
                )
            for row in batch.to_pylist():
                number += 1
                yield f"row {number}", row
            if tell:
                tell(min(1.0, share))


def _title(path: FilePath) -> str:
    return "Parquet" if path.suffix.lower() in PARQUET else "Arrow"


class _Parquet:
    """The batches of a Parquet file."""

    def __init__(self, path: FilePath):
        import pyarrow.parquet

        self._file = pyarrow.parquet.ParquetFile(str(path))
        self.names: list[str] = self._file.schema_arrow.names

    def batches(self, names: list[str]) -> Iterator[tuple[float, Any]]:
        """The share of the file read with each batch, and the batch."""
        done, of = 0, max(1, self._file.metadata.num_rows)
        for batch in self._file.iter_batches(BATCH_ROWS, columns=names):
            done += batch.num_rows
            yield done / of, batch

    def close(self) -> None:
        self._file.close()


class _Arrow:
    """The batches of an Arrow file, or of an Arrow stream, as `datasets` saves them."""

    def __init__(self, path: FilePath):
        import pyarrow

        self._map = pyarrow.memory_map(str(path))
        try:
            self._file = pyarrow.ipc.open_file(self._map)
        except pyarrow.ArrowInvalid:
            self._map.seek(0)
            self._file = pyarrow.ipc.open_stream(self._map)
        self.names: list[str] = self._file.schema.names

    def batches(self, names: list[str]) -> Iterator[tuple[float, Any]]:
        """As those of a Parquet file."""
        stream = not hasattr(self._file, "num_record_batches")
        number = 0 if stream else self._file.num_record_batches
        for batch in self._file if stream else map(self._file.get_batch, range(number)):
            for start in range(0, batch.num_rows, BATCH_ROWS):
                yield (
                    self._map.tell() / max(1, self._map.size()),
                    batch.slice(start, BATCH_ROWS).select(names),
                )

    def close(self) -> None:
        self._map.close()


def _opened(path: FilePath) -> _Parquet | _Arrow:
    return _Parquet(path) if path.suffix.lower() in PARQUET else _Arrow(path)
