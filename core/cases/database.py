"""SQLite file of cases and ratings, made at its first use and shared between processes."""

from __future__ import annotations

from core.io.home import home_folder
from core.io.rows import RowFile, Schema

CASE_STATEMENTS = (
    """CREATE TABLE cases (id TEXT PRIMARY KEY, created REAL NOT NULL, changed REAL NOT NULL, \
digest TEXT NOT NULL, about TEXT NOT NULL,
    link TEXT NOT NULL, notes TEXT NOT NULL, tags TEXT NOT NULL, content BLOB NOT NULL)""",
    """CREATE TABLE feedback (digest TEXT NOT NULL, question TEXT NOT NULL, line TEXT NOT NULL, \
answer TEXT NOT NULL, up INTEGER NOT NULL,
    time REAL NOT NULL, about TEXT NOT NULL, PRIMARY KEY (digest, question, line, answer))""",
)

# The application id is "HopC" in ASCII.
CASE_SCHEMA = Schema("the saved cases", CASE_STATEMENTS, application=0x486F7043, version=1)


def saved_cases() -> RowFile:
    """Return the file of cases and ratings."""
    return RowFile(home_folder() / "cases.sqlite", CASE_SCHEMA)
