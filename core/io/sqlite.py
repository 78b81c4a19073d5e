"""What SQLite files that several processes share need beyond the library."""

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

from core.io.home import cannot_save

WAIT = 30.0  # seconds for another process
# errors of a file that is no database, or one with damaged pages
DAMAGED = ("SQLITE_NOTADB", "SQLITE_CORRUPT")
# errors that come where nothing can be written
UNWRITABLE = ("SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY")


def write_ahead(database: sqlite3.Connection) -> None:
    """Readers and a writer side by side. SQLite does not wait here while another process does the same, so this does.

    Raises sqlite3.OperationalError where the other does not end.
    """
    until = time.monotonic() + WAIT
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.02)


def why_unsaved(error: sqlite3.Error) -> str:
    """Why nothing can be saved in the person's folder, where that is what an error means; else empty."""
    return cannot_save() if getattr(error, "sqlite_errorname", "").startswith(UNWRITABLE) else ""


def is_damaged(error: sqlite3.Error) -> bool:
    """Whether an error says that the file is no database, or that its pages are damaged."""
    return getattr(error, "sqlite_errorname", "").startswith(DAMAGED)


class Database(sqlite3.Connection):
    """An open file of SQLite. `saves` is off where nothing can be written into it, so that it only holds what was there."""

    saves = True


def opened(file: Path, prepare: Callable[[Database], None], **options: Any) -> Database:
    """The database in a file; `prepare` makes its tables where they are absent. `options` are those of sqlite3.connect.

    Where nothing can be written, as on a full disk or one that is mounted for reading alone, what is there is read, and every attempt to
    write raises; where there is no file yet, the database is empty. Raises sqlite3.Error, and what `prepare` raises.
    """
    try:
        database = _prepared(sqlite3.connect(file, factory=Database, **options), prepare)
        database.saves = os.access(file, os.W_OK) and not cannot_save(file.parent)
        return database
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith(UNWRITABLE):
            raise
    try:
        database = _prepared(_as_it_is(file, options), prepare)
    except OSError as error:
        raise sqlite3.OperationalError(f"{error.strerror or error}") from None
    database.saves = False
    database.execute("PRAGMA query_only = ON")
    return database


def _prepared(database: Database, prepare: Callable[[Database], None]) -> Database:
    try:
        prepare(database)
    except BaseException:
        database.close()
        raise
    return database


def _as_it_is(file: Path, options: Mapping[str, Any]) -> Database:
    """What is in a file, without writing beside it; an empty database where there is nothing. Raises OSError, sqlite3.Error."""
    ahead = file.with_name(f"{file.name}-wal")
    if not file.exists() or not file.stat().st_size:
        return sqlite3.connect(":memory:", factory=Database, **options)
    if not ahead.exists() or not ahead.stat().st_size:
        return sqlite3.connect(
            f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True, factory=Database, **options
        )
    # what was written ahead is not in the file yet: it is read from a copy
    with tempfile.TemporaryDirectory() as folder:
        for part in (file, ahead):
            shutil.copyfile(part, Path(folder) / part.name)
        read = sqlite3.connect(":memory:", factory=Database, **options)
        with closing(sqlite3.connect(Path(folder) / file.name)) as copy:
            copy.backup(read)
    return read
