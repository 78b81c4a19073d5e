"""Vectors of texts on disk, for all processes of a Hopscope folder.

They save the time of encoding the same texts again, in later sessions and builds. The vectors are
in half precision, and the least recently used are removed first.

Rankings must not depend on whether a vector was computed or found on disk. An encoder therefore
rounds every computed vector to half precision (`to_half_precision`) and uses the rounded one
(`to_unit_vectors`), with or without the file. This changes a cosine by less than 1e-4, a tenth of
the change allowed for bfloat16. Single precision would store half as many texts. Computed vectors
differ in their last digits between programs, precisions and processors. These are therefore part of
the key, together with the digest of the weights. Texts are stored as digests only.

SQLite was chosen by measurement. Finding 1,300 of 300,000 vectors takes 8 to 14 ms of processor
time, and writing them 16 ms. If a process is killed while it writes, the earlier contents stay.
Rows are numbered in the order of writing. A row that is found among the older half gets a new
number, so that the lowest numbers are the least recently used ones.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from core.errors import BadParameter, StoreError
from core.io.home import home_folder
from core.io.rows import RowFile, Schema, select_by_keys, transaction
from core.io.sqlite import SqliteDatabase

DEFAULT_FILE_MEGABYTES = 512  # size limit of the file, unless HOPSCOPE_SAVED_VECTORS sets another
# Fraction of the file that is removed in addition, so that not every question removes rows.
EXTRA_REMOVED_FRACTION = 1 / 64
WRITER_WAIT_MILLISECONDS = 500  # until another process has written; then nothing is saved
CHECKSUM_BYTES = 4  # of a CRC-32 after each vector
DAMAGE_ERROR_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
VECTORS_SCHEMA = Schema(
    "the vectors of texts",
    (
        "create table vectors (number integer primary key autoincrement, "
        "key blob not null unique, seconds real not null, "
        "vector blob not null)",
    ),
    application=0x48565458,  # the letters HVTX
    is_recomputable=True,
)
# Two subqueries, as SQLite reads the whole table for min and max in one.
NUMBER_BOUNDS_QUERY = "select (select min(number) from vectors), (select max(number) from vectors)"
T = TypeVar("T")
log = logging.getLogger(__name__)


def to_half_precision(vectors: np.ndarray) -> np.ndarray:
    """Normalise vectors and round them to half precision, float16 [n, d]."""
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return (vectors / lengths).astype(np.float16)


def to_unit_vectors(vectors: np.ndarray) -> np.ndarray:
    """Convert vectors from `to_half_precision` to float32 [n, d] of unit length."""
    single = vectors.astype(np.float32)
    return single / np.maximum(np.linalg.norm(single, axis=1, keepdims=True), np.float32(1e-12))


def file_limit_bytes() -> int:
    """Return the size limit of the file in bytes; 0 if nothing is saved.

    It is HOPSCOPE_SAVED_VECTORS in megabytes, or 512 MB by default. Raises BadParameter.
    """
    text = os.environ.get("HOPSCOPE_SAVED_VECTORS", "").strip()
    if text and not text.isdecimal():
        raise BadParameter(
            f"HOPSCOPE_SAVED_VECTORS must be a whole number of megabytes, 0 for none, not “{text}”."
        )
    return (int(text) if text else DEFAULT_FILE_MEGABYTES) << 20


@dataclass(frozen=True)
class VectorFileUse:
    """Size and use of the saved vectors.

    Parameters
    ----------
    texts : number of saved vectors.
    size : bytes in use.
    limit : size limit in bytes.
    lookup_count : number of texts that this process has looked up.
    hit_count : number of these texts that had a vector.
    note : a sentence on a problem; empty if there is none.
    """

    texts: int
    size: int
    limit: int
    lookup_count: int
    hit_count: int
    note: str


class VectorFile:
    """Vectors in one SQLite file of limited size. Safe between threads and processes.

    A file that cannot be written is only read. A damaged file is removed and created again, and a
    row with a wrong checksum is removed. Both are described in `note`.

    Parameters
    ----------
    file : path of the file.
    limit : size limit in bytes; 0 to save nothing.
    """

    def __init__(self, file: Path, limit: int):
        self.file = file
        self.limit = limit
        self.lookup_count = self.hit_count = 0
        self.note = ""  # a sentence on the last problem
        self._lock = threading.RLock()
        self._process_id = 0  # of the process that opened the database
        self._n_builds = 0  # running builds, during which nothing is removed
        self._database: SqliteDatabase | None = None
        self._rows = RowFile(file, VECTORS_SCHEMA)
        self._is_usable = limit > 0  # false also once the file could not be opened

    def find(self, keys: Sequence[bytes]) -> dict[bytes, tuple[np.ndarray, float]]:
        """Return the saved vectors of keys, with their computing times.

        Each is a vector, float16 [d], and the seconds it took to compute. Keys without a vector are
        left out.
        """

        def find_rows(db: SqliteDatabase) -> dict[bytes, tuple[np.ndarray, float]]:
            oldest, newest = db.execute(NUMBER_BOUNDS_QUERY).fetchone()
            rows_by_key: dict[bytes, tuple[np.ndarray, float]] = {}
            older_keys: list[bytes] = []
            damaged_keys: list[bytes] = []
            for number, key, seconds, data in select_by_keys(
                db, "vectors", ("number", "key", "seconds", "vector"), keys
            ):
                if not _has_valid_checksum(key, data):
                    damaged_keys.append(key)
                    continue
                rows_by_key[key] = np.frombuffer(data[:-CHECKSUM_BYTES], np.float16), seconds
                if number < (oldest + newest) // 2:
                    older_keys.append(key)
            self._renew(db, older_keys, damaged_keys)
            return rows_by_key

        rows = self._run_safely(find_rows) or {}
        with self._lock:
            self.lookup_count += len(keys)
            self.hit_count += len(rows)
        return rows

    def save(self, rows: Mapping[bytes, tuple[np.ndarray, float]]) -> None:
        """Save vectors, float16 [d], each with the seconds that it took to compute.

        Nothing is saved if the file cannot be written, or while another process writes.
        """

        def write(db: SqliteDatabase) -> None:
            if not db.is_writable:
                return
            with transaction(db):
                db.executemany(
                    "insert or ignore into vectors (key, seconds, vector) values (?, ?, ?)",
                    (
                        (key, seconds, _with_checksum(key, vector))
                        for key, (vector, seconds) in rows.items()
                    ),
                )
                self._remove_oldest(db)

        if rows:
            self._run_safely(write)

    @contextmanager
    def lift_limit(self) -> Iterator[None]:
        """Lift the size limit within the block, while a graph is built.

        Otherwise the least recently used vectors would be removed during the build. A build that
        encodes its texts twice in the same order would then find none of them.
        """
        with self._lock:
            self._n_builds += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_builds -= 1
            self._run_safely(self._shrink)

    def clear(self) -> None:
        """Remove all saved vectors. Raises StoreError if that is impossible."""
        with self._lock:
            db = self._open()
            if db is None or not db.is_writable:
                raise StoreError(
                    self.note
                    or f"{self.file} cannot be written, so that nothing in it can be removed."
                )
            with self._rows.raise_store_errors():
                db.execute("delete from vectors")
                db.execute("vacuum")
                db.execute("pragma wal_checkpoint(truncate)")
            self.lookup_count = self.hit_count = 0
            self.note = ""

    def measure_use(self) -> VectorFileUse:
        """Return size and use of the file."""

        def measure(db: SqliteDatabase) -> tuple[int, int]:
            return db.execute("select count(*) from vectors").fetchone()[0], _used_bytes(db)

        texts, size = self._run_safely(measure) or (0, 0)
        return VectorFileUse(texts, size, self.limit, self.lookup_count, self.hit_count, self.note)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._database is not None and self._process_id == os.getpid():
                self._database.close()
            self._database = None

    def _renew(
        self, db: SqliteDatabase, older_keys: list[bytes], damaged_keys: list[bytes]
    ) -> None:
        """Mark rows as recently used, by new numbers, and remove damaged rows.

        Nothing happens while another process writes.
        """
        if damaged_keys:
            self.note = f"{len(damaged_keys):,} saved vectors were damaged and are computed again."
            log.warning("%s: %s", self.file, self.note)
        if not db.is_writable or not (older_keys or damaged_keys):
            return
        # If another process writes, or the disk is full, the rows stay as they are.
        with suppress(sqlite3.OperationalError), transaction(db):
            db.executemany("delete from vectors where key = ?", ((key,) for key in damaged_keys))
            (latest,) = db.execute(
                "select seq from sqlite_sequence where name = 'vectors'"
            ).fetchone()
            db.executemany(
                "update vectors set number = ? where key = ?", enumerate(older_keys, latest + 1)
            )
            db.execute(
                "update sqlite_sequence set seq = ? where name = 'vectors'",
                (latest + len(older_keys),),
            )

    def _remove_oldest(self, db: SqliteDatabase) -> None:
        """Remove the least recently used vectors if the file exceeds its size limit."""
        size = _used_bytes(db)
        if self._n_builds or size <= self.limit:
            return
        oldest, newest = db.execute(NUMBER_BOUNDS_QUERY).fetchone()
        # Numbers have gaps, so about this fraction of the rows has a number below the bound.
        removed_fraction = min(1.0, 1 - self.limit / size + EXTRA_REMOVED_FRACTION)
        n_removed = math.ceil((newest - oldest + 1) * removed_fraction)
        db.execute("delete from vectors where number < ?", (oldest + n_removed,))

    def _shrink(self, db: SqliteDatabase) -> None:
        """Shrink the file to its size limit after a build."""
        if self._n_builds or not db.is_writable or _used_bytes(db) <= self.limit:
            return
        with transaction(db):
            self._remove_oldest(db)
        db.execute("vacuum")

    def _run_safely(self, work: Callable[[SqliteDatabase], T]) -> T | None:
        """Return the result of `work` on the database.

        The result is None if the file cannot be used. Sets `note` in that case, unless another
        process is just writing to the file.
        """
        if not self._is_usable:
            return None
        with self._lock:
            try:
                db = self._open()
                return work(db) if db is not None else None
            except sqlite3.DatabaseError as error:
                if _is_damage(error):
                    self._remove_file()
                elif "locked" not in str(error):
                    self.note = f"Vectors of texts are not saved: {error}."
                return None

    def _open(self) -> SqliteDatabase | None:
        """Return the open database; None if the file cannot be used.

        Raises DatabaseError if the file is damaged.
        """
        # A connection cannot be used after a fork.
        if self._database is None or self._process_id != os.getpid():
            self._database = None
            self._process_id = os.getpid()
            try:
                self._database = self._rows.open(check_same_thread=False)
            except StoreError as error:
                cause = error.__cause__
                if isinstance(cause, sqlite3.DatabaseError) and _is_damage(cause):
                    raise cause from None
                self.note = str(error)
                self._is_usable = False
                return None
            self._database.execute(f"pragma busy_timeout = {WRITER_WAIT_MILLISECONDS}")
            self._database.execute("pragma synchronous = normal")
        return self._database

    def _remove_file(self) -> None:
        """Remove the damaged file; the next use creates it again."""
        self.close()
        self.note = "The file of saved vectors was damaged; it was removed and begun anew."
        log.warning("%s: %s", self.file, self.note)
        try:
            for suffix in ("", "-wal", "-shm"):
                self.file.with_name(self.file.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            self.note = (
                "The file of saved vectors is damaged and cannot be removed: "
                f"{error.strerror or error}."
            )
            self._is_usable = False


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    # The lowest byte of an extended error code is the primary one.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGE_ERROR_CODES


def _used_bytes(db: SqliteDatabase) -> int:
    pages, free_pages, page_bytes = (
        db.execute(f"pragma {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free_pages) * page_bytes


def _with_checksum(key: bytes, vector: np.ndarray) -> bytes:
    data = vector.tobytes()
    return data + _checksum(key, data)


def _has_valid_checksum(key: bytes, data: bytes) -> bool:
    vector_bytes = data[:-CHECKSUM_BYTES]
    return len(vector_bytes) > 0 and data[-CHECKSUM_BYTES:] == _checksum(key, vector_bytes)


def _checksum(key: bytes, vector_bytes: bytes) -> bytes:
    return zlib.crc32(vector_bytes, zlib.crc32(key)).to_bytes(CHECKSUM_BYTES, "little")


class SavedVectors:
    """The vectors of one encoder in a file, by text.

    Parameters
    ----------
    file : the file, which several encoders share.
    identity : text that changes with everything that the bytes of the vectors depend on, such as
        the weights, the program and the precision.
    """

    def __init__(self, file: VectorFile, identity: str):
        self._file = file
        # Digest of the identity, continued with each text to a key.
        self._prefix = hashlib.blake2b(identity.encode() + b"\0", digest_size=16)

    def find(self, texts: Sequence[str]) -> dict[str, tuple[np.ndarray, float]]:
        """Return the saved vectors of texts, with their computing times.

        Each is a vector, float16 [d], and the seconds it took to compute. Texts without a vector
        are left out.
        """
        if not texts:
            return {}
        texts_by_key = {self._key(text): text for text in texts}
        rows = self._file.find(list(texts_by_key))
        return {texts_by_key[key]: row for key, row in rows.items()}

    def save(self, vectors: Mapping[str, np.ndarray], seconds: float) -> None:
        """Save the vectors of texts.

        Parameters
        ----------
        vectors : the vector of each text, float16 [d].
        seconds : time that computing all vectors took; each is saved with an equal share.
        """
        seconds_each = seconds / max(1, len(vectors))
        self._file.save(
            {self._key(text): (vector, seconds_each) for text, vector in vectors.items()}
        )

    def _key(self, text: str) -> bytes:
        hasher = self._prefix.copy()
        hasher.update(text.encode("utf-8", "surrogatepass"))
        return hasher.digest()


@runtime_checkable
class SavingEncoder(Protocol):
    """An encoder that saves its vectors on disk and looks them up there."""

    def open_saved_vectors(self) -> SavedVectors | None:
        """Return the saved vectors of this encoder.

        Returns
        -------
        The vectors; None if the encoder saves none.
        """
        ...


def vector_file() -> VectorFile:
    """Return the vector file of the user's folder, one object per process.

    Raises BadParameter, StoreError.
    """
    return _file(home_folder() / "text-vectors.sqlite", file_limit_bytes())


@lru_cache(maxsize=16)
def _file(file: Path, limit: int) -> VectorFile:
    return VectorFile(file, limit)
