"""Rows in SQLite files with a schema, such as saved replies.

A `RowFile` makes the tables and columns that a file lacks, so files of earlier versions can be
opened. A file of another program, or of a newer version, raises StoreError.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import StoreError
from core.io.home import save_fault
from core.io.locks import hold_change_lock
from core.io.sqlite import (
    BUSY_WAIT_SECONDS,
    SqliteDatabase,
    is_damaged,
    open_database,
    unsaved_reason,
    write_ahead,
)

KEYS_PER_QUERY = 500  # keys looked up in one query


class DamagedFile(StoreError):
    """Error for a file of rows that is no database or has damaged pages."""


@dataclass(frozen=True)
class Schema:
    """The tables of a file.

    Parameters
    ----------
    rows_noun : the rows in messages, in the plural, such as “saved replies”.
    statements : the SQL statements that make the tables.
    later_columns : columns added in later versions, with their SQL types, by table.
    application, version : SQLite's `application_id` and `user_version` in the file's header. With
        `application` 0, the program that wrote the file is not checked.
    is_recomputable : True if the rows can be computed again, so that the file may be removed.
    """

    rows_noun: str
    statements: tuple[str, ...]
    later_columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    application: int = 0
    version: int = 0
    is_recomputable: bool = False


class SharedConnection:
    """A connection to a file that stays open between its uses.

    Threads use it in turn: each holds `lock` during its use. `n_users` counts the blocks of
    `RowFile.keep_open` that are running.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.n_users = 0
        # The open database, with the device and inode of its file.
        self._open: tuple[SqliteDatabase, tuple[int, int]] | None = None

    @contextmanager
    def use(
        self, file: Path, open_file: Callable[[], SqliteDatabase]
    ) -> Iterator[SqliteDatabase | None]:
        """Yield the open database, or None if nothing can be saved in it.

        It is opened again if its file was replaced meanwhile. It is closed after an error.
        """
        if self._open is not None and (self._open[1] != _identity(file) or save_fault(file.parent)):
            self.close()
        if self._open is None:
            database = open_file()
            if not database.is_writable:
                database.close()
                yield None
                return
            self._open = database, _identity(file)
        try:
            yield self._open[0]
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the database until its next use."""
        if self._open is not None:
            self._open[0].close()
        self._open = None


_shared_connections: dict[Path, SharedConnection] = {}
_connections_lock = threading.Lock()


class RowFile:
    """The rows of a schema in a file, safe between processes.

    Faults of the file are raised as a StoreError that describes them.
    """

    def __init__(self, file: Path, schema: Schema):
        self.file, self.schema = file, schema

    def open(self, **options: Any) -> SqliteDatabase:
        """Open the file in autocommit mode, which the caller closes. Raises StoreError.

        The caller runs statements within `raise_store_errors` and, to change several rows at once,
        `transaction`. `options` are those of `sqlite3.connect`.
        """
        with self.raise_store_errors():
            database = open_database(
                self.file, self._prepare, timeout=BUSY_WAIT_SECONDS, isolation_level=None, **options
            )
            # A kill loses no row. A power cut may lose the last ones, which can be computed again.
            if self.schema.is_recomputable:
                database.execute("PRAGMA synchronous = NORMAL")
            return database

    @contextmanager
    def keep_open(self) -> Iterator[None]:
        """Keep the file open between uses while the block runs.

        This is for many threads that save a row each, as opening takes longer than saving.
        """
        with _connections_lock:
            connection = _shared_connections.setdefault(self.file, SharedConnection())
            connection.n_users += 1
        try:
            yield
        finally:
            with _connections_lock, connection.lock:
                connection.n_users -= 1
                if not connection.n_users:
                    connection.close()
                    del _shared_connections[self.file]

    @contextmanager
    def open_for_reading(self) -> Iterator[SqliteDatabase]:
        """Open the file, or use the connection that is kept open.

        Raises StoreError, and changes nothing, if the file is damaged or belongs to another
        program.
        """
        connection = _shared_connections.get(self.file)
        if connection is not None:
            with (
                connection.lock,
                connection.use(self.file, lambda: self.open(check_same_thread=False)) as database,
            ):
                if database is not None and connection.n_users:
                    with self.raise_store_errors():
                        yield database
                    return
        with closing(self.open()) as database, self.raise_store_errors():
            yield database

    @contextmanager
    def open_for_writing(self) -> Iterator[SqliteDatabase]:
        """Open the file in one transaction: all is written or, after an error, nothing.

        Raises StoreError.
        """
        with self.open_for_reading() as database, transaction(database):
            yield database

    def query(self, text: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows that an SQL query finds. `values` fill its question marks.

        Raises StoreError.
        """
        with self.open_for_reading() as database:
            return database.execute(text, values).fetchall()

    def save(
        self,
        table: str,
        rows: Iterable[Sequence[Any]],
        columns: Sequence[str] = (),
        database: SqliteDatabase | None = None,
    ) -> None:
        """Write rows and replace those with the same key. Raises StoreError.

        Nothing is written if the file is read-only.

        Parameters
        ----------
        table : name of the table.
        rows : the values of each row.
        columns : names of the columns of these values; empty for all columns in their order.
        database : the open file; None opens it.
        """
        if database is None:
            with self.open_for_reading() as database:
                return self.save(table, rows, columns, database)
        rows = list(rows)
        if database.is_writable and rows:
            column_list = f" ({', '.join(columns)})" if columns else ""
            with self.raise_store_errors(), transaction(database):
                database.executemany(
                    f"INSERT OR REPLACE INTO {table}{column_list} VALUES ({_marks(rows[0])})",
                    rows,
                )

    @contextmanager
    def raise_store_errors(self) -> Iterator[None]:
        """Turn SQLite's errors within the block into a StoreError that describes them."""
        try:
            yield
        except sqlite3.Error as error:
            error_type = DamagedFile if is_damaged(error) else StoreError
            raise error_type(self._describe(error)) from error

    def remove_damaged(self) -> None:
        """Remove a damaged file whose rows can be computed again.

        The next use makes an empty one. A file that another process has replaced meanwhile is not
        removed. Raises StoreError if the file cannot be removed.
        """
        assert self.schema.is_recomputable
        with hold_change_lock(self.file):
            try:
                if self.query("PRAGMA quick_check(1)") == [("ok",)]:
                    return
            except DamagedFile:
                pass
            for suffix in ("", "-wal", "-shm"):
                self.file.with_name(f"{self.file.name}{suffix}").unlink(missing_ok=True)

    def _describe(self, error: sqlite3.Error) -> str:
        if "locked" in str(error):
            return (
                f"Another process has been writing to {self.schema.rows_noun} for too long; try again "
                "in a moment."
            )
        reason = unsaved_reason(error)
        if reason:
            return reason
        advice = ". The file was left as it is; move it away to start with an empty one."
        if self.schema.is_recomputable:
            advice = "; remove that file to start anew."
        return f"{self._subject()} cannot be used ({error}){advice}"

    def _subject(self) -> str:
        """Return the rows and the file as the subject of a sentence."""
        return f"{self.schema.rows_noun[:1].upper()}{self.schema.rows_noun[1:]} in {self.file}"

    def _prepare(self, database: SqliteDatabase) -> None:
        """Make the tables of an empty file, and add the columns of later versions."""
        if not self._has_tables(database):
            write_ahead(database)
            with transaction(database):
                if not self._has_tables(database):
                    for statement in self.schema.statements:
                        database.execute(statement)
                    database.execute(f"PRAGMA application_id = {self.schema.application}")
                    database.execute(f"PRAGMA user_version = {self.schema.version}")
        if self._missing_columns(database):
            with transaction(database):
                for table, name in self._missing_columns(database):
                    database.execute(
                        f"ALTER TABLE {table} ADD COLUMN {name} {self.schema.later_columns[table][name]}"
                    )

    def _missing_columns(self, database: SqliteDatabase) -> list[tuple[str, str]]:
        """Return the later columns that are still missing, each with its table."""
        missing: list[tuple[str, str]] = []
        for table, columns in self.schema.later_columns.items():
            names = {column[1] for column in database.execute(f"PRAGMA table_info({table})")}
            missing += [(table, name) for name in columns if name not in names]
        return missing

    def _has_tables(self, database: SqliteDatabase) -> bool:
        """Return whether the tables exist.

        Raises StoreError for a file of another program or of a newer version.
        """
        # The tables are counted before the header is read. Another process that makes the tables
        # meanwhile writes the header in the same transaction, so a known header means tables.
        n_tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        application = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if n_tables and self.schema.application and application != self.schema.application:
            raise StoreError(
                f"{self.file} is a database of another program; move it away to have "
                f"{self.schema.rows_noun} there."
            )
        if version > self.schema.version:
            raise StoreError(
                f"{self._subject()} were written by a newer Hopscope; update this one to open them."
            )
        return bool(n_tables) or (application != 0 and application == self.schema.application)


def _identity(file: Path) -> tuple[int, int]:
    """Return the device and inode of a file; zeros if there is none."""
    try:
        stat = os.stat(file)
    except OSError:
        return 0, 0
    return stat.st_dev, stat.st_ino


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Write all changes of the block or, after an error, none."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def select_by_keys(
    database: sqlite3.Connection, table: str, columns: Sequence[str], keys: Iterable[Any]
) -> Iterator[tuple[Any, ...]]:
    """Yield the columns of the rows with these keys, in no order.

    The rows are found by the table's column `key`. Keys without a row are skipped.
    """
    key_list = list(keys)
    for start in range(0, len(key_list), KEYS_PER_QUERY):
        batch = key_list[start : start + KEYS_PER_QUERY]
        yield from database.execute(
            f"SELECT {', '.join(columns)} FROM {table} WHERE key IN ({_marks(batch)})", batch
        )


def _marks(values: Sequence[Any]) -> str:
    """Return a question mark for each value, for an SQL statement."""
    return ", ".join("?" * len(values))
