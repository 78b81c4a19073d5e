"""Tables of Parquet and Arrow files that anybody may have written, in batches that are checked."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, shorten
from core.io.files import Source, size_text

PARQUET, ARROW = (".parquet",), (".arrow", ".feather")
COLUMNAR = (*PARQUET, *ARROW)
BATCH_ROWS = 64  # that become objects at once; each may be a long text that is stored once
# Values that no column of Python can hold raise errors of other kinds than pyarrow's.
FAULTS = (OSError, ValueError, TypeError, OverflowError, SystemError, MemoryError, KeyError)


def is_columnar(path: FilePath | Source) -> bool:
    """Whether a file is a table of columns, by the suffix of its name."""
    return FilePath(path.name).suffix.lower() in COLUMNAR


def title_of(path: FilePath) -> str:
    """The name of a file's format."""
    return "Parquet" if path.suffix.lower() in PARQUET else "Arrow"


class ColumnFile:
    """A Parquet or Arrow file. Methods raise BadInput for one that is damaged.

    An Arrow file may be one that can be sought in, or a stream, as `datasets` saves it. A batch is
    handed on only after pyarrow has checked all of it: offsets within an unchecked one may lead
    outside the file, which ends the process.
    """

    def __init__(self, path: FilePath):
        self._path = path
        with _faults(path):
            found = _parquet(path) if path.suffix.lower() in PARQUET else _arrow(path)
            self._file: Any = found[0]
            self._map: Any = found[1]
            schema = self._file.schema_arrow if self._map is None else self._file.schema
            self.names: list[str] = list(schema.names)

    def close(self) -> None:
        """Close the file."""
        (self._file if self._map is None else self._map).close()

    def batches(
        self, names: Sequence[str], most: int | None = None, rows: int = BATCH_ROWS
    ) -> Iterator[tuple[float, Any]]:
        """Read the columns of these names.

        Parameters
        ----------
        names : some of the names of its columns.
        most : bytes that it may unpack to; None for any number.
        rows : rows of a batch at most.

        Returns
        -------
        The share of the file read with each batch, and the batch.
        """
        taken = 0
        with _faults(self._path):
            for share, batch in self._raw(list(names), rows):
                batch.validate(full=True)
                taken += batch.nbytes
                if most is not None and taken > most:
                    raise BadInput(
                        f"{self._path.name} holds more than {size_text(most)} of text; that is more than can be read here."
                    )
                yield share, batch

    def lists(
        self, most: int | None = None, rows: int = BATCH_ROWS
    ) -> Iterator[tuple[float, list[list[Any]]]]:
        """Read all columns: the share with each batch, and the values of each column."""
        with _faults(self._path):
            for share, batch in self.batches(self.names, most, rows):
                yield share, [column.to_pylist() for column in batch.columns]

    def _raw(self, names: list[str], rows: int) -> Iterator[tuple[float, Any]]:
        """The batches as they are, with the share of each."""
        if self._map is None:
            done, of = 0, max(1, self._file.metadata.num_rows)
            for batch in self._file.iter_batches(rows, columns=names, use_threads=False):
                done += batch.num_rows
                yield done / of, batch
            return
        for whole in _arrow_batches(self._file):
            whole.validate(full=True)  # a slice of a wrong one may be right
            for start in range(0, whole.num_rows, rows):
                share = self._map.tell() / max(1, self._map.size())
                yield share, whole.slice(start, rows).select(names)


def column_rows(
    path: FilePath, without: Container[str] = (), most: int | None = None
) -> Iterator[tuple[float, dict[str, Any]]]:
    """Read the rows of a file, each with the share read; columns `without` which it does are not.

    Raises BadInput for a file that is missing, damaged, or unpacks to more than `most` bytes.
    """
    if not path.is_file():
        raise BadInput(f"There is no file {path}.")
    with closing(ColumnFile(path)) as table, _faults(path):
        names = [name for name in table.names if name not in without]
        for share, batch in table.batches(names, most):
            for row in batch.to_pylist():
                yield share, row


def _parquet(path: FilePath) -> tuple[Any, None]:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(str(path)), None


def _arrow(path: FilePath) -> tuple[Any, Any]:
    import pyarrow

    data = pyarrow.memory_map(str(path))
    try:
        return pyarrow.ipc.open_file(data), data
    except pyarrow.ArrowInvalid:
        data.seek(0)
        return pyarrow.ipc.open_stream(data), data


def _arrow_batches(file: Any) -> Iterator[Any]:
    if not hasattr(file, "num_record_batches"):
        return iter(file)
    return map(file.get_batch, range(file.num_record_batches))


@contextmanager
def _faults(path: FilePath) -> Iterator[None]:
    from pyarrow import ArrowException

    try:
        yield
    except (ArrowException, *FAULTS) as error:
        said = shorten(str(error) or type(error).__name__, 120)
        raise BadInput(f"{path.name} cannot be read as {title_of(path)} ({said}).") from None
