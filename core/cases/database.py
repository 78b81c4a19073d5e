"""The one SQLite file of cases and feedback: made when first used, safe between processes, never overwritten."""

from __future__ import annotations

from core.io.home import home
from core.io.rows import RowFile, Schema

STATEMENTS = (
    """CREATE TABLE cases (id TEXT PRIMARY KEY, created REAL NOT NULL, changed REAL NOT NULL, \
digest TEXT NOT NULL, about TEXT NOT NULL,
    link TEXT NOT NULL, notes TEXT NOT NULL, tags TEXT NOT NULL, content BLOB NOT NULL)""",
    """CREATE TABLE feedback (digest TEXT NOT NULL, question TEXT NOT NULL, line TEXT NOT NULL, \
answer TEXT NOT NULL, up INTEGER NOT NULL,
    time REAL NOT NULL, about TEXT NOT NULL, PRIMARY KEY (digest, question, line, answer))""",
)

# "HopC" in the file's header
SCHEMA = Schema("the saved cases", STATEMENTS, application=0x486F7043, version=1)


def saved_cases() -> RowFile:
    """The file of the cases."""
    return RowFile(home() / "cases.sqlite", SCHEMA)
