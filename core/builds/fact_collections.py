"""Compact collections of the facts of many chunks.

They are stored by runs of chunks. Texts are numbered, and numbers are stored in columns, which
takes little memory. A run is a range of consecutive chunks, and its collection is saved in SQLite.
After a change of the corpus, only the changed runs are collected again. A collection is, for
example, the mentions of all nodes and edges.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
import zlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeVar
from zipfile import BadZipFile

import numpy as np

from core.builds.facts import Facts
from core.errors import StoreError
from core.io.home import home_folder
from core.io.rows import DamagedFile, RowFile, Schema, select_by_keys

# Increased when other things are collected from the same facts. Runs of another edition are then
# not found any more.
COLLECTION_EDITION = 1
MAX_RUN_CHUNKS = 2_000
CHUNKS_PER_RUN_END = 1_000  # about one chunk in so many ends a run (see `chunk_runs`)
MAX_SAVED_RUNS_BYTES = 1 << 30  # beyond it the least recently used runs are removed
RUNS_NOT_SAVED = "Merged facts were not saved, so that the next build takes longer. {}"
RUNS_SCHEMA = Schema(
    "what facts were gathered to",
    (
        "create table runs (key blob primary key, gathered blob not null, used real not null) "
        "without rowid",
    ),
    is_recomputable=True,
)


class Collector(Protocol):
    """A collection to which facts are added in the order of their chunks.

    Its attributes of type `TextIds` and `NumberColumns` are saved under their names. Another name,
    or another name of the class, makes saved runs useless.
    """

    def add(self, row: int, facts: Facts) -> None:
        """Add the facts of the chunk in a row.

        Parameters
        ----------
        row : row of the chunk; calls come in ascending order of rows.
        facts : the facts extracted from that chunk.
        """


C = TypeVar("C", bound=Collector)


class TextIds(dict[str, int]):
    """Distinct texts with their numbers, counted from 0 in the order of first occurrence.

    >>> from core.builds.fact_collections import TextIds
    >>> one, other = TextIds(), TextIds()
    >>> one.id_of("a"), one.id_of("b"), one.id_of("a"), other.id_of("c"), other.id_of("b")
    (0, 1, 0, 0, 1)
    >>> one.include(other).tolist(), list(one)  # the new numbers of 0, 1 and -1 of the other
    ([2, 1, -1], ['a', 'b', 'c'])
    """

    def id_of(self, text: str) -> int:
        """Return the number of a text, adding it if it is new."""
        return self.setdefault(text, len(self))

    def include(self, other: TextIds) -> np.ndarray:
        """Add the texts of another collection, and return the new number of each.

        The array, int32 [texts + 1], is indexed by the old number. Its last value is -1, so that
        the number -1, which means no text, stays -1.
        """
        return np.array([*map(self.id_of, other), -1], np.int32)

    def sort_ranks(self) -> np.ndarray:
        """Return the rank of each text in alphabetical order, int64 [texts], from 0."""
        texts = list(self)
        ranks = np.empty(len(texts), np.int64)
        ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        return ranks


class NumberColumns:
    """Columns of numbers that grow row by row.

    `types` has a letter for each column: `i` for int32, `d` for float64. `len` is the number of
    columns.
    """

    def __init__(self, types: str):
        self._columns = [array(typecode) for typecode in types]

    def add(self, *row: float) -> None:
        """Add a row, with a value for each column."""
        for column, value in zip(self._columns, row):
            column.append(value)  # type: ignore[arg-type]  # ints for type `i`

    def __len__(self) -> int:
        return len(self._columns)

    def extend(self, arrays: Sequence[np.ndarray]) -> None:
        """Add rows, given as one array per column.

        Raises ValueError if an array has another type than its column.
        """
        for column, values in zip(self._columns, arrays, strict=True):
            if values.dtype != np.dtype(column.typecode):
                raise ValueError(f"{values.dtype} is not {column.typecode}")
            column.frombytes(values.tobytes())

    def include(self, other: NumberColumns, *numbers: np.ndarray | None) -> None:
        """Add the rows of other columns.

        Parameters
        ----------
        other : columns of the same number and types.
        *numbers : for each column, an array with the new number of each old one, as returned by
            `TextIds.include`; None leaves the values unchanged.
        """
        for column, values, new in zip(self._columns, other.arrays(), numbers):
            if new is not None:
                values = new[values].astype(values.dtype, copy=False)
            column.frombytes(values.tobytes())

    def arrays(self) -> tuple[np.ndarray, ...]:
        """Return the columns as arrays, int32 or float64, without copying.

        No row can be added while these arrays exist.
        """
        return tuple(np.frombuffer(column, column.typecode) for column in self._columns)


def chunk_runs(keys: Sequence[bytes]) -> Iterator[range]:
    """Divide chunks into runs whose ends depend on the chunks' own keys.

    A run ends after a chunk whose key is divisible by `CHUNKS_PER_RUN_END`, or with
    `MAX_RUN_CHUNKS`. Inserting or removing chunks thus changes only the runs that contain them.

    >>> from core.builds.fact_collections import chunk_runs
    >>> keys = [bytes([0, 0, 0, number]) for number in (1, 0, 2, 3)]  # 1,000 divides 0: a run ends
    >>> list(chunk_runs(keys))
    [range(0, 2), range(2, 4)]
    """
    first = 0
    for row, key in enumerate(keys, 1):
        if (
            row - first == MAX_RUN_CHUNKS
            or row == len(keys)
            or int.from_bytes(key[:4], "big") % CHUNKS_PER_RUN_END == 0
        ):
            yield range(first, row)
            first = row


class SavedRuns:
    """Collections of runs of chunks, saved in one SQLite file.

    Their content can always be computed again. A damaged file is therefore replaced by an empty
    one, and a file that cannot be used is not read or written. In both cases `note` receives a
    sentence.

    Parameters
    ----------
    note : called with a sentence about each fault of the file.
    file : the SQLite file; by default gathered.sqlite in the person's folder.
    """

    def __init__(self, note: Callable[[str], None], file: Path | None = None):
        self._note = note
        self._rows = RowFile(file or home_folder() / "gathered.sqlite", RUNS_SCHEMA)

    def find_saved(self, keys: Sequence[bytes]) -> set[bytes]:
        """Return the keys whose run is saved, and mark these runs as used now."""
        with self._errors_as_notes(), self._rows.open_for_reading() as database:
            saved_keys = {key for (key,) in select_by_keys(database, "runs", ("key",), keys)}
            if database.is_writable:
                database.executemany(
                    "update runs set used = ? where key = ?",
                    ((time.time(), key) for key in saved_keys),
                )
            return saved_keys
        return set()

    def load(self, key: bytes, empty: C) -> C | None:
        """Load the collection of a run into an empty one.

        Parameters
        ----------
        key : key of the run, by `run_key`.
        empty : a new collection of the kind that was saved; it is filled.

        Returns
        -------
        The filled collection, or None if it is not saved or cannot be read.
        """
        # The suppressed errors are those of a damaged row (`_fill`), or of a missing one
        # (ValueError).
        with (
            self._errors_as_notes(),
            suppress(ValueError, TypeError, KeyError, OSError, EOFError, BadZipFile, zlib.error),
        ):
            ((packed,),) = self._rows.query("select gathered from runs where key = ?", (key,))
            return _fill(empty, packed)
        return None

    def save(self, key: bytes, collection: Collector) -> None:
        """Save the collection of a run.

        Parameters
        ----------
        key : key of the run, by `run_key`.
        collection : the collection to save.
        """
        with self._errors_as_notes():
            self._rows.save("runs", [(key, _pack(collection), time.time())])

    def remove_oldest(self) -> None:
        """Remove the least recently used runs beyond `MAX_SAVED_RUNS_BYTES`."""
        # Each run with the bytes of itself and all that were used after it.
        sizes = (
            "select key, sum(length(gathered)) over (order by used desc, key) as bytes from runs"
        )
        with self._errors_as_notes(), self._rows.open_for_reading() as database:
            if database.is_writable:
                database.execute(
                    f"delete from runs where key in (select key from ({sizes}) where bytes > ?)",
                    (MAX_SAVED_RUNS_BYTES,),
                )

    @contextmanager
    def _errors_as_notes(self) -> Iterator[None]:
        """Turn errors of the file into notes, and replace a damaged file."""
        # The outer handler also receives the StoreError of `remove_damaged`.
        try:
            try:
                yield
            except DamagedFile:
                self._rows.remove_damaged()
                self._note(
                    f"{self._rows.file}, where merged facts are saved, was damaged and is begun "
                    "anew: its rows were merged again."
                )
        except StoreError as error:
            self._note(RUNS_NOT_SAVED.format(error))


def run_key(kind: str, keys: Sequence[bytes]) -> bytes:
    """Return the key under which the collection of a run of chunks is saved.

    Parameters
    ----------
    kind : text that identifies the kind of collection and its settings.
    keys : keys of the chunks, in their order.

    Returns
    -------
    SHA-256 digest, which also depends on `COLLECTION_EDITION`.
    """
    return hashlib.sha256(b"".join((f"{COLLECTION_EDITION} {kind}\n".encode(), *keys))).digest()


def _pack(collection: Collector) -> bytes:
    """Pack the texts and numbers of a collection. Each is under the name of its attribute."""
    arrays: dict[str, np.ndarray] = {}
    for name, value in vars(collection).items():
        if isinstance(value, TextIds):
            arrays[name] = np.frombuffer(json.dumps(list(value)).encode(), np.uint8)
        elif isinstance(value, NumberColumns):
            arrays |= {f"{name} {index}": column for index, column in enumerate(value.arrays())}
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return zlib.compress(stream.getvalue(), 1)


def _fill(empty: C, packed: bytes) -> C:
    """Fill an empty collection with packed texts and numbers.

    Raises ValueError, KeyError and other errors if the data is damaged.
    """
    with np.load(io.BytesIO(zlib.decompress(packed)), allow_pickle=False) as arrays:
        for name, value in vars(empty).items():
            if isinstance(value, TextIds):
                texts = json.loads(arrays[name].tobytes())
                value.update((text, number) for number, text in enumerate(texts))
            elif isinstance(value, NumberColumns):
                value.extend([arrays[f"{name} {index}"] for index in range(len(value))])
    return empty
