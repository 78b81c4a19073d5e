"""Reader of Parquet and Arrow tables in a subprocess with limited memory and time."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, HopscopeError
from core.io.columnar import ColumnFile
from core.runtime.subprocess_worker import Worker, WorkerEndedError
from core.watch import NO_WATCH, Watch

MAX_READER_MEMORY_BYTES = 1 << 32  # without the file, which is memory-mapped
MAX_PIECE_SECONDS = 120.0  # processor time of a request
GATHERED_BYTES = 1 << 20  # bytes of blocks that are sent together, to save messages


class SeparateColumns:
    """The columns of a Parquet or Arrow file, read in a subprocess.

    A subprocess is used because pyarrow may crash or fill the memory. The class and its methods
    raise BadInput if the file is missing or damaged, or if the process crashes or exceeds its
    limits.
    """

    def __init__(self, path: FilePath):
        if not path.is_file():
            raise BadInput(f"There is no file {path}.")
        self._path = path
        self._worker = Worker(MAX_READER_MEMORY_BYTES + path.stat().st_size)
        self._finalizer = weakref.finalize(self, self._worker.__exit__)
        self.names: list[str] = self._call_worker(_open_file, str(path.absolute()))

    def close(self) -> None:
        """End the subprocess."""
        self._finalizer()

    def read_lists(
        self, names: Sequence[str], max_bytes: int | None = None
    ) -> Iterator[tuple[float, list[list[Any]]]]:
        """Yield the columns of these names, block by block.

        Parameters
        ----------
        names : names of some of the columns.
        max_bytes : bytes that the columns may unpack to; None for no limit.

        Yields
        ------
        For each block, the fraction of the file read so far (0 to 1) and one list of values for
        each column.
        """
        self._call_worker(_begin_reading, list(names), max_bytes)
        while blocks := self._call_worker(_next_blocks):
            for fraction, data in blocks:
                yield fraction, pickle.loads(data)

    def _call_worker(self, work: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return self._worker.run(work, *arguments, watch=NO_WATCH, seconds=MAX_PIECE_SECONDS)
        except WorkerEndedError as error:
            raise BadInput(f"{self._path.name} cannot be read to its end. {error}") from None
        except HopscopeError as error:
            raise BadInput(str(error)) from None


def column_rows(
    path: FilePath, without: Container[str] = (), max_bytes: int | None = None
) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yield the rows of a file, each with a fraction.

    It is the fraction (0 to 1) read so far. Columns in `without` are not decoded. Raises BadInput
    for a file that is missing, damaged, or unpacks to more than `max_bytes` bytes.
    """
    with closing(SeparateColumns(path)) as table:
        names = [name for name in table.names if name not in without]
        for fraction, columns in table.read_lists(names, max_bytes):
            for values in zip(*columns):
                yield fraction, dict(zip(names, values))


class _ReaderState:
    """The open file in the subprocess. The class itself holds it from one call to the next."""

    file: ColumnFile
    pieces: Iterator[tuple[float, bytes]]  # the fraction read so far, and pickled columns


def _open_file(path: str, watch: Watch) -> list[str]:
    """In the subprocess: open a file and return the names of its columns."""
    _ReaderState.file = ColumnFile(FilePath(path))
    return _ReaderState.file.names


def _begin_reading(names: Sequence[str], max_bytes: int | None, watch: Watch) -> None:
    """In the subprocess: start to read these columns of the open file."""
    _ReaderState.pieces = _ReaderState.file.read_pieces(names, max_bytes)


def _next_blocks(watch: Watch) -> list[tuple[float, bytes]]:
    """In the subprocess: return the next blocks, up to about `GATHERED_BYTES`; none at the end."""
    blocks: list[tuple[float, bytes]] = []
    size = 0
    for fraction, data in _ReaderState.pieces:
        blocks.append((fraction, data))
        size += len(data)
        if size >= GATHERED_BYTES:
            break
    return blocks
