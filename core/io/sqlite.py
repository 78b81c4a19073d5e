"""What SQLite files that several processes share need beyond the library."""

from __future__ import annotations

import sqlite3
import time

WAIT = 30.0  # seconds for another process


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
