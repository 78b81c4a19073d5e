"""What extractors found in chunks, kept in SQLite: by operator, model and the chunk's text, so that no chunk is read twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from core.builds.facts import SHAPE, Facts
from core.errors import StoreError
from core.io.files import lines
from core.io.home import home
from core.io.sqlite import WAIT, Database, opened, with_table

AT_ONCE = 500  # keys asked for in one query
TABLE = "create table if not exists facts (key blob primary key, facts blob not null) without rowid"


def key_of(operator: str, signature: str, text: str) -> bytes:
    """What tells the facts of a chunk from those of any other, or by any other extractor or model."""
    return hashlib.sha256(json.dumps([SHAPE, operator, signature, text]).encode()).digest()


ROW = "facts"  # what a row of a shipped file is known by that holds the facts of a chunk, rather than a reply


class FactStore:
    """The facts in one SQLite file, that of the person by default, and below it those in files that ship, which are only read. Raises
    StoreError where it cannot be used, BadInput for a damaged shipped file."""

    def __init__(self, file: Path | None = None, shipped: Sequence[Path] = ()):
        self.file, self._files = file or home() / "facts.sqlite", tuple(shipped)
        self._lock = threading.Lock()
        self._shipped: dict[bytes, str] | None = None

    def found(self, keys: Sequence[bytes], final: Callable[[Facts], bool] = lambda facts: True) -> dict[bytes, Facts]:
        """The facts that are saved, by key; of the user's those that are final, of those that ship all."""
        known: dict[bytes, Facts] = {}
        with self._opened() as base:
            for first in range(0, len(keys), AT_ONCE):
                part = keys[first : first + AT_ONCE]
                asked = f"select key, facts from facts where key in ({','.join('?' * len(part))})"
                read = ((key, Facts.from_json(zlib.decompress(packed).decode())) for key, packed in base.execute(asked, part))
                known |= {key: facts for key, facts in read if final(facts)}
        came = self._shipped_ones() if self._files and len(known) < len(keys) else {}
        return known | {key: Facts.from_json(came[key]) for key in keys if key in came and key not in known}

    def keep(self, facts: Mapping[bytes, Facts]) -> None:
        """Keep some facts, at once and for good."""
        self._write(((key, zlib.compress(one.to_json().encode(), 1)) for key, one in facts.items()))

    def _shipped_ones(self) -> dict[bytes, str]:
        with self._lock:
            if self._shipped is None:
                rows = (json.loads(line) for file in self._files if file.exists() for _, line in lines(file))
                self._shipped = {bytes.fromhex(row[ROW]): row["told"] for row in rows if ROW in row}
            return self._shipped

    def _write(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        with self._opened() as base:
            try:
                with base:
                    if base.saves:
                        base.executemany("insert or replace into facts values (?, ?)", rows)
            except sqlite3.Error as error:
                raise self._unusable(error) from None

    def _opened(self) -> closing[Database]:
        try:
            return closing(opened(self.file, with_table(TABLE, ahead=True), timeout=WAIT))
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> StoreError:
        return StoreError(f"What was extracted, in {self.file}, cannot be used ({error}); remove that file to start anew.")
