"""The one SQLite file of cases and feedback: made when first used, safe between processes, never overwritten."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from core.errors import StoreError
from core.io.home import home
from core.io.sqlite import WAIT, opened, why_unsaved, write_ahead

APPLICATION, VERSION = 0x486F7043, 1  # "HopC" in the file's header, and the schema's number
SCHEMA = (
    """CREATE TABLE cases (id TEXT PRIMARY KEY, created REAL NOT NULL, changed REAL NOT NULL, digest TEXT NOT NULL, about TEXT NOT NULL,
    link TEXT NOT NULL, notes TEXT NOT NULL, tags TEXT NOT NULL, content BLOB NOT NULL)""",
    """CREATE TABLE feedback (digest TEXT NOT NULL, question TEXT NOT NULL, line TEXT NOT NULL, answer TEXT NOT NULL, up INTEGER NOT NULL,
    time REAL NOT NULL, about TEXT NOT NULL, PRIMARY KEY (digest, question, line, answer))""",
)


def file() -> Path:
    """Where the cases lie."""
    return home() / "cases.sqlite"


@contextmanager
def reading() -> Iterator[sqlite3.Connection]:
    """The database, open for reading. Raises StoreError, and changes nothing, where it is damaged or not ours."""
    with _as_store_errors(), _connected() as database:
        yield database


@contextmanager
def writing() -> Iterator[sqlite3.Connection]:
    """The database in a transaction of its own: all of it is written or, after an error, none."""
    with _as_store_errors(), _connected() as database:
        database.execute("BEGIN IMMEDIATE")
        try:
            yield database
        except BaseException:
            database.execute("ROLLBACK")
            raise
        database.execute("COMMIT")


@contextmanager
def _connected() -> Iterator[sqlite3.Connection]:
    with closing(opened(file(), _prepare, timeout=WAIT, isolation_level=None)) as database:
        yield database


def _prepare(database: sqlite3.Connection) -> None:
    """The tables, where the file is new. Raises StoreError for a file of another program or a later version."""
    if _known(database):
        return
    write_ahead(database)
    database.execute("BEGIN IMMEDIATE")
    if not _known(database):
        for statement in SCHEMA:
            database.execute(statement)
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute(f"PRAGMA user_version = {VERSION}")
    database.execute("COMMIT")


def _known(database: sqlite3.Connection) -> bool:
    """Whether the tables are there. Tables are counted first: those seen here have their marks by then, whoever makes them."""
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    application, version = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    if application == APPLICATION and version == VERSION:
        return True
    if application == APPLICATION and version > VERSION:
        raise StoreError(f"The saved cases in {file()} were written by a newer Hopscope; update this one to open them.")
    if tables:
        raise StoreError(f"{file()} is a database of another program; move it away to keep cases there.")
    return False


@contextmanager
def _as_store_errors() -> Iterator[None]:
    """SQLite's errors as sentences."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise StoreError("Another process has been writing to the saved cases for too long; try again in a moment.") from None
        raise StoreError(why_unsaved(error) or f"The saved cases in {file()} cannot be used ({error}).") from None
    except sqlite3.DatabaseError as error:
        raise StoreError(
            f"The saved cases in {file()} are damaged ({error}). The file was left as it is; move it away to start with an empty one."
        ) from None
