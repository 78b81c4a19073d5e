"""Tables of Parquet and Arrow files, read in a process of their own that has limits."""

from __future__ import annotations

import pickle
import weakref
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing
from pathlib import Path as FilePath
from typing import Any

from core.errors import BadInput, HopscopeError
from core.io.columnar import ColumnFile
from core.runtime.subprocess_worker import Ended, Worker
from core.watch import NO_WATCH, Watch

# Memory beside the file, which is mapped into it, and processor time from one piece to the next.
MAX_MEMORY_BYTES, MAX_PIECE_SECONDS = 1 << 32, 120.0
GATHERED_BYTES = 1 << 20  # of pieces that travel together


class SeparateColumns:
    """The columns of a Parquet or Arrow file, read elsewhere, as pyarrow may die or fill the memory.

    Raises BadInput for a file that is missing or damaged, and for one that ends the process or
    goes beyond its limits; so do the methods.
    """

    def __init__(self, path: FilePath):
        if not path.is_file():
            raise BadInput(f"There is no file {path}.")
        self._path = path
        self._worker = Worker(MAX_MEMORY_BYTES + path.stat().st_size)
        self._end = weakref.finalize(self, self._worker.__exit__)
        self.names: list[str] = self._do(_open, str(path.absolute()))

    def close(self) -> None:
        """End the process."""
        self._end()

    def lists(
        self, names: Sequence[str], most: int | None = None
    ) -> Iterator[tuple[float, list[list[Any]]]]:
        """Read the columns of these names, once.

        Parameters
        ----------
        names : some of the names of its columns.
        most : bytes that they may unpack to; None for any number.

        Returns
        -------
        The share of the file read with each piece, and the values of each column.
        """
        self._do(_begin, list(names), most)
        while pieces := self._do(_next):
            for share, data in pieces:
                yield share, pickle.loads(data)

    def _do(self, work: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return self._worker.do(work, *arguments, watch=NO_WATCH, seconds=MAX_PIECE_SECONDS)
        except Ended as error:
            raise BadInput(f"{self._path.name} cannot be read to its end. {error}") from None
        except HopscopeError as error:
            raise BadInput(str(error)) from None


def column_rows(
    path: FilePath, without: Container[str] = (), most: int | None = None
) -> Iterator[tuple[float, dict[str, Any]]]:
    """Read the rows of a file, each with the share read; columns `without` which it does are not.

    Raises BadInput for a file that is missing, damaged, or unpacks to more than `most` bytes.
    """
    with closing(SeparateColumns(path)) as table:
        names = [name for name in table.names if name not in without]
        for share, columns in table.lists(names, most):
            for values in zip(*columns):
                yield share, dict(zip(names, values))


class _Held:
    """The file that this process reads, and what is still to come of it."""

    file: ColumnFile
    pieces: Iterator[tuple[float, bytes]]


def _open(path: str, watch: Watch) -> list[str]:
    """In the other process: open a file for what follows, and return the names of its columns."""
    _Held.file = ColumnFile(FilePath(path))
    return _Held.file.names


def _begin(names: Sequence[str], most: int | None, watch: Watch) -> None:
    _Held.pieces = _Held.file.pieces(names, most)


def _next(watch: Watch) -> list[tuple[float, bytes]]:
    """The next pieces, up to `GATHERED_BYTES` or one that is larger; none at the end."""
    found: list[tuple[float, bytes]] = []
    size = 0
    for share, data in _Held.pieces:
        found.append((share, data))
        size += len(data)
        if size >= GATHERED_BYTES:
            break
    return found
