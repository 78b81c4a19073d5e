"""What is gathered of facts: texts by number and columns of numbers in little memory; and that of runs of chunks, saved in SQLite, so that
of a changed corpus only the runs that changed are read again."""

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
from core.io.home import home
from core.io.rows import DamagedFile, RowFile, Schema, by_key

EDITION = 1  # one more where something else is gathered of the same facts, as what was saved is then of no use
LONGEST, ENDING = 2_000, 1_000  # chunks of a run at most, and one in how many ends one
MOST_BYTES = 1 << 30  # of what is saved; what was used least recently is removed beyond that
NOT_SAVED = "Merged facts were not saved, so that the next build takes longer. {}"
SCHEMA = Schema(
    "what facts were gathered to",
    (
        "create table runs (key blob primary key, gathered blob not null, used real not null) without rowid",
    ),
    again=True,
)


class Collector(Protocol):
    """What is collected of facts in the order of their chunks."""

    def add(self, row: int, facts: Facts) -> None:
        """Add the facts of the chunk of a row."""


C = TypeVar("C", bound=Collector)


class Numbered(dict[str, int]):
    """Different texts, each with its number in the order in which they came.

    >>> from core.builds.gathered import Numbered
    >>> one, other = Numbered(), Numbered()
    >>> one.of("a"), one.of("b"), one.of("a"), other.of("c"), other.of("b")
    (0, 1, 0, 0, 1)
    >>> one.include(other).tolist(), list(one)  # what 0, 1 and -1 of the other are here
    ([2, 1, -1], ['a', 'b', 'c'])
    """

    def of(self, text: str) -> int:
        """The number of a text."""
        return self.setdefault(text, len(self))

    def include(self, other: Numbered) -> np.ndarray:
        """The number that each text of the other has here, int32, where it is added if it is not there; last -1, for that of no text."""
        return np.array([*map(self.of, other), -1], np.int32)

    def alphabet(self) -> np.ndarray:
        """The place of each text when they are sorted, int64."""
        words, places = list(self), np.empty(len(self), np.int64)
        places[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words))
        return places


class Columns:
    """Columns of numbers that grow row by row, as many as its length, `i` for int32 and `d` for float64."""

    def __init__(self, types: str):
        self._columns = [array(type) for type in types]

    def add(self, *row: float) -> None:
        """Add a row."""
        for column, value in zip(self._columns, row):
            column.append(value)  # type: ignore[arg-type]  # ints where the type is one of ints

    def __len__(self) -> int:
        return len(self._columns)

    def extend(self, arrays: Sequence[np.ndarray]) -> None:
        """Add rows, a column each. Raises ValueError where a column holds other numbers."""
        for column, values in zip(self._columns, arrays, strict=True):
            if values.dtype != np.dtype(column.typecode):
                raise ValueError(f"{values.dtype} is not {column.typecode}")
            column.frombytes(values.tobytes())

    def include(self, other: Columns, *numbers: np.ndarray | None) -> None:
        """Add the rows of the other, in each column the number `numbers[value]` in the place of a value, where these are given."""
        for column, values, new in zip(self._columns, other.arrays(), numbers):
            column.frombytes(
                (values if new is None else new[values].astype(values.dtype, copy=False)).tobytes()
            )

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The columns, int32 or float64, without a copy; no row can be added while they are there."""
        return tuple(np.frombuffer(column, column.typecode) for column in self._columns)


def runs(keys: Sequence[bytes]) -> Iterator[range]:
    """The rows of chunks in runs that end where a chunk's key says so, so that a change leaves the runs before and behind it as they are.

    >>> from core.builds.gathered import runs
    >>> keys = [bytes([0, 0, 0, number]) for number in (1, 0, 2, 3)]  # of 0, which 1,000 divides, a run ends
    >>> list(runs(keys))
    [range(0, 2), range(2, 4)]
    """
    first = 0
    for row, key in enumerate(keys, 1):
        if (
            row - first == LONGEST
            or row == len(keys)
            or int.from_bytes(key[:4], "big") % ENDING == 0
        ):
            yield range(first, row)
            first = row


class SavedRuns:
    """What was gathered of runs of chunks, in one SQLite file, that of the user by default. It can always be gathered again: a damaged file
    is replaced by an empty one, and of one that cannot be used nothing is read or saved. Either is said to `note`, in a sentence."""

    def __init__(self, note: Callable[[str], None], file: Path | None = None):
        self._note, self._rows = note, RowFile(file or home() / "gathered.sqlite", SCHEMA)

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Those of some keys whose run is saved, which counts as used."""
        with self._noting(), self._rows.reading() as base:
            known = {key for (key,) in by_key(base, "runs", ("key",), keys)}
            if base.saves:
                base.executemany(
                    "update runs set used = ? where key = ?", ((time.time(), key) for key in known)
                )
            return known
        return set()

    def found(self, key: bytes, empty: C) -> C | None:
        """What was gathered of a run, put into what is empty; None where it cannot be read."""
        with (
            self._noting(),
            suppress(ValueError, TypeError, KeyError, OSError, EOFError, BadZipFile, zlib.error),
        ):
            ((packed,),) = self._rows.query("select gathered from runs where key = ?", (key,))
            return _filled(empty, packed)
        return None

    def keep(self, key: bytes, gathered: Collector) -> None:
        """Save what was gathered of a run."""
        with self._noting():
            self._rows.save("runs", [(key, _packed(gathered), time.time())])

    def tidy(self) -> None:
        """Remove what was used least recently beyond `MOST_BYTES`."""
        older = (
            "select key, sum(length(gathered)) over (order by used desc, key) as bytes from runs"
        )
        with self._noting(), self._rows.reading() as base:
            if base.saves:
                base.execute(
                    f"delete from runs where key in (select key from ({older}) where bytes > ?)",
                    (MOST_BYTES,),
                )

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """A note of what goes wrong with the file, in the place of an error."""
        try:
            yield
        except DamagedFile:
            try:
                self._rows.remove_damaged()
                self._note(
                    f"{self._rows.file}, where merged facts are saved, was damaged and is begun anew: its rows were merged again."
                )
            except StoreError as error:
                self._note(NOT_SAVED.format(error))
        except StoreError as error:
            self._note(NOT_SAVED.format(error))


def run_key(what: str, keys: Sequence[bytes]) -> bytes:
    """The key of what is gathered of a run of chunks with these keys: another for every other text, extractor or edition."""
    return hashlib.sha256(b"".join((f"{EDITION} {what}\n".encode(), *keys))).digest()


def _packed(gathered: Collector) -> bytes:
    """The texts and numbers of what was gathered, compressed."""
    arrays: dict[str, np.ndarray] = {}
    for name, value in vars(gathered).items():
        if isinstance(value, Numbered):
            arrays[name] = np.frombuffer(json.dumps(list(value)).encode(), np.uint8)
        elif isinstance(value, Columns):
            arrays |= {f"{name} {place}": column for place, column in enumerate(value.arrays())}
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    return zlib.compress(stream.getvalue(), 1)


def _filled(empty: C, packed: bytes) -> C:
    """What is empty with the texts and numbers that were packed. Raises ValueError, KeyError and the like for what is damaged."""
    with np.load(io.BytesIO(zlib.decompress(packed)), allow_pickle=False) as arrays:
        for name, value in vars(empty).items():
            if isinstance(value, Numbered):
                value.update(
                    (text, number) for number, text in enumerate(json.loads(arrays[name].tobytes()))
                )
            elif isinstance(value, Columns):
                value.extend([arrays[f"{name} {place}"] for place in range(len(value))])
    return empty
