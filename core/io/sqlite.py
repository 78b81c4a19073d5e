"""SQLite files that several processes share and that may be read-only.

`core.io.rows` adds schemas and messages to these functions.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from core.io.home import save_fault

BUSY_WAIT_SECONDS = 30.0  # seconds to wait for another process
WRITE_AHEAD_RETRY_SECONDS = 0.02  # between two tries to switch the logging
# Errors of a file that is no database or has damaged pages.
DAMAGED_CODES = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
# Errors of a file that cannot be written.
UNWRITABLE_CODES = ("SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY")


def write_ahead(database: sqlite3.Connection) -> None:
    """Switch a database to write-ahead logging.

    SQLite does not wait while another process switches, so this function does. Raises
    `sqlite3.OperationalError` if the other process does not finish within `BUSY_WAIT_SECONDS`.
    """
    deadline = time.monotonic() + BUSY_WAIT_SECONDS
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(WRITE_AHEAD_RETRY_SECONDS)


def unsaved_reason(error: sqlite3.Error) -> str:
    """Return why nothing can be saved in the person's folder.

    The result is empty for an error that has other causes.
    """
    is_unwritable = getattr(error, "sqlite_errorname", "").startswith(UNWRITABLE_CODES)
    return save_fault() if is_unwritable else ""


def is_damaged(error: sqlite3.Error) -> bool:
    """Return whether an error means that the file is damaged."""
    return getattr(error, "sqlite_errorname", "").startswith(DAMAGED_CODES)


class SqliteDatabase(sqlite3.Connection):
    """An open SQLite file. `is_writable` is False if nothing can be written to it."""

    is_writable = True


def open_database(
    file: Path, prepare: Callable[[SqliteDatabase], None], **options: Any
) -> SqliteDatabase:
    """Open the database in a file, also on a full or read-only disk.

    On such a disk, the content can be read, every attempt to write raises, and without a file the
    database is empty.

    Parameters
    ----------
    file : the file, which is made if it does not exist.
    prepare : makes the missing tables of an open database.
    options : further arguments of `sqlite3.connect`.

    Raises
    ------
    sqlite3.Error
        If the file cannot be used. The errors of `prepare` are raised too.
    """
    try:
        database = _prepare(sqlite3.connect(file, factory=SqliteDatabase, **options), prepare)
        database.is_writable = os.access(file, os.W_OK) and not save_fault(file.parent)
        return database
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith(UNWRITABLE_CODES):
            raise
    try:
        database = _prepare(_open_unchanged(file, options), prepare)
    except OSError as error:
        raise sqlite3.OperationalError(f"{error.strerror or error}") from None
    database.is_writable = False
    database.execute("PRAGMA query_only = ON")
    return database


def _prepare(database: SqliteDatabase, prepare: Callable[[SqliteDatabase], None]) -> SqliteDatabase:
    """Return a database after preparing it. It is closed if that fails."""
    try:
        prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def _open_unchanged(file: Path, options: Mapping[str, Any]) -> SqliteDatabase:
    """Open a file without writing to it or next to it.

    Without a file, an empty database is opened.

    Raises OSError and `sqlite3.Error`.
    """
    log = file.with_name(f"{file.name}-wal")
    if not file.exists() or not file.stat().st_size:
        return sqlite3.connect(":memory:", factory=SqliteDatabase, **options)
    if not log.exists() or not log.stat().st_size:
        return sqlite3.connect(
            f"{file.absolute().as_uri()}?mode=ro&immutable=1",
            uri=True,
            factory=SqliteDatabase,
            **options,
        )
    # Rows in the write-ahead log are not in the file yet, so both are copied and read together.
    with tempfile.TemporaryDirectory() as folder:
        for part in (file, log):
            shutil.copyfile(part, Path(folder) / part.name)
        database = sqlite3.connect(":memory:", factory=SqliteDatabase, **options)
        with closing(sqlite3.connect(Path(folder) / file.name)) as copy:
            copy.backup(database)
    return database
