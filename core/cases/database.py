"""SQLite file of cases and ratings, created on first use and shared between processes."""

from __future__ import annotations

from core.io.home import home_folder
from core.io.rows import RowFile, Schema

# Both tables: `about` is a JSON object of fields that have no column. In `feedback`, `line` is the
# method that gave the answer, and `up` is 1 for a good rating and 0 for a bad one.
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


def case_file() -> RowFile:
    """Return the file of cases and ratings."""
    return RowFile(home_folder() / "cases.sqlite", CASE_SCHEMA)
