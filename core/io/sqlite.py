"""What SQLite files that several processes share need beyond the library."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from pathlib import Path
from typing import Any

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


def connect(file: Path, **options: Any) -> sqlite3.Connection:
    """The database in a file; where the file is there but cannot be written, as on a disk that is mounted for reading alone, one that can
    be read. `options` are those of sqlite3.connect."""
    if not file.exists() or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
        return sqlite3.connect(file, **options)
    ahead = file.with_name(f"{file.name}-wal")
    if not ahead.exists() or not ahead.stat().st_size:
        return sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro&immutable=1", uri=True, **options)
    with tempfile.TemporaryDirectory() as folder:  # what was written ahead is not in the file yet: it is read from a copy
        for part in (file, ahead):
            shutil.copyfile(part, Path(folder) / part.name)
        copy, read = sqlite3.connect(Path(folder) / file.name), sqlite3.connect(":memory:", **options)
        copy.backup(read)
        copy.close()
    read.execute("PRAGMA query_only = ON")
    return read
