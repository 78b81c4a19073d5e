"""Parquet and Arrow tables, read in validated batches within limits of size."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, shorten
from core.io.files import FileSource, size_text, too_large_error

PARQUET_SUFFIXES = (".parquet",)
ARROW_SUFFIXES = (".arrow", ".feather")
COLUMNAR_SUFFIXES = (*PARQUET_SUFFIXES, *ARROW_SUFFIXES)
# Rows unpacked at a time; each may hold a long text that the file stores only once.
ROWS_PER_BATCH = 256
# Bytes of a Parquet column that are buffered; without a buffer, a row group is read whole.
BUFFER_BYTES = 1 << 20
BATCH_VALUE_BYTES = 1 << 26  # bytes of pickled values returned at a time
MAX_ROW_BYTES = 1 << 28  # of the pickled values of a row
# Values that no Python list can hold raise errors that are not pyarrow's own.
COLUMN_FILE_ERRORS = (OSError, ValueError, TypeError, OverflowError, SystemError, KeyError)


def is_columnar(path: FilePath | FileSource) -> bool:
    """Return whether a file is Parquet or Arrow, by the suffix of its name."""
    return FilePath(path.name).suffix.lower() in COLUMNAR_SUFFIXES


def column_format_title(path: FilePath) -> str:
    """Return the name of a file's format, Parquet or Arrow, for messages."""
    return "Parquet" if path.suffix.lower() in PARQUET_SUFFIXES else "Arrow"


class ColumnFile:
    """An open Parquet or Arrow file, for use in a process that may crash.

    Methods raise BadInput for a damaged file. An Arrow file may be seekable or a stream, as
    `datasets` saves it.

    A damaged file may crash the process: offsets in a batch may point outside the file, and a page
    may unpack to far more memory than the file takes. Each batch is therefore validated by pyarrow
    before its values are read, and `core.runtime.separate_columns` uses this class in a process
    with limits.

    Attributes
    ----------
    names : the names of all columns.
    """

    def __init__(self, path: FilePath):
        self._path = path
        self._file: Any
        self._map: Any = None  # the memory map of an Arrow file
        with _raise_bad_input(path):
            if path.suffix.lower() in PARQUET_SUFFIXES:
                self._file = _open_parquet(path)
            else:
                self._file, self._map = _open_arrow(path)
            schema = self._file.schema_arrow if self._map is None else self._file.schema
            self.names: list[str] = list(schema.names)

    def close(self) -> None:
        """Close the file."""
        (self._file if self._map is None else self._map).close()

    def read_pieces(
        self, names: Sequence[str], limit: int | None = None
    ) -> Iterator[tuple[float, bytes]]:
        """Yield the values of some columns, piece by piece.

        Parameters
        ----------
        names : some of the names of its columns.
        limit : bytes that the columns may unpack to; None for any number.

        Yields
        ------
        The fraction of the file read so far, and a pickled list with one list of values for each
        column. A piece has at most `BATCH_VALUE_BYTES`, or a single row.
        """
        size = 0  # bytes of all pieces
        with _raise_bad_input(self._path):
            for fraction, batch in self._read_batches(list(names)):
                batch.validate(full=True)
                self._check_size(size + batch.nbytes, limit)
                for data in self._pickle_batch(batch):
                    # `nbytes` counts a text that several rows share once, its pickle for each row.
                    size += len(data)
                    self._check_size(size, limit)
                    yield fraction, data

    def _check_size(self, size: int, limit: int | None) -> None:
        if limit is not None and size > limit:
            raise too_large_error(self._path.name, limit)

    def _pickle_batch(self, batch: Any) -> Iterator[bytes]:
        """Yield the pickled values of a batch, halved until each piece is small enough."""
        data = b""
        if batch.nbytes <= BATCH_VALUE_BYTES or batch.num_rows == 1:
            data = pickle.dumps([column.to_pylist() for column in batch.columns])
        if data and (len(data) <= BATCH_VALUE_BYTES or batch.num_rows == 1):
            if len(data) > MAX_ROW_BYTES:
                raise BadInput(
                    f"{self._path.name} has a row of more than {size_text(MAX_ROW_BYTES)}; "
                    "that is more than can be read here."
                )
            yield data
            return
        half = batch.num_rows // 2
        yield from self._pickle_batch(batch.slice(0, half))
        yield from self._pickle_batch(batch.slice(half))

    def _read_batches(self, names: list[str]) -> Iterator[tuple[float, Any]]:
        """Yield the unchecked batches, each with the fraction of the file read."""
        if self._map is None:
            done, total = 0, max(1, self._file.metadata.num_rows)
            for batch in self._file.iter_batches(ROWS_PER_BATCH, columns=names, use_threads=False):
                done += batch.num_rows
                yield done / total, batch
            return
        for fraction, large_batch in _arrow_batches(self._file, self._map):
            large_batch.validate(full=True)  # a slice of a damaged batch may look sound
            for start in range(0, large_batch.num_rows, ROWS_PER_BATCH):
                yield fraction, large_batch.slice(start, ROWS_PER_BATCH).select(names)


def _open_parquet(path: FilePath) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(str(path), buffer_size=BUFFER_BYTES)


def _open_arrow(path: FilePath) -> tuple[Any, Any]:
    import pyarrow

    data = pyarrow.memory_map(str(path))
    try:
        return pyarrow.ipc.open_file(data), data
    except pyarrow.ArrowInvalid:
        data.seek(0)
        return pyarrow.ipc.open_stream(data), data


def _arrow_batches(file: Any, data: Any) -> Iterator[tuple[float, Any]]:
    """Yield the batches of an Arrow file, or stream, each with the fraction read."""
    if not hasattr(file, "num_record_batches"):
        for batch in file:
            yield data.tell() / max(1, data.size()), batch
        return
    for number in range(file.num_record_batches):
        yield (number + 1) / file.num_record_batches, file.get_batch(number)


@contextmanager
def _raise_bad_input(path: FilePath) -> Iterator[None]:
    """Raise BadInput for an error that pyarrow raises within the block."""
    from pyarrow import ArrowException

    try:
        yield
    except MemoryError:
        raise  # pyarrow raises it too; the caller reports it
    except (ArrowException, *COLUMN_FILE_ERRORS) as error:
        reason = shorten(str(error) or type(error).__name__, 120)
        raise BadInput(
            f"{path.name} cannot be read as {column_format_title(path)} ({reason})."
        ) from None
