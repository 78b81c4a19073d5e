"""What extractors found in chunks, kept in SQLite: by operator, model and the chunk's text, so that no chunk is read twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from core.builds.facts import SHAPE, Facts
from core.errors import StoreError
from core.io.home import home
from core.io.sqlite import WAIT, write_ahead

AT_ONCE = 500  # keys asked for in one query
TABLE = "create table if not exists facts (key blob primary key, facts blob not null) without rowid"


def key_of(operator: str, signature: str, text: str) -> bytes:
    """What tells the facts of a chunk from those of any other, or by any other extractor or model."""
    return hashlib.sha256(json.dumps([SHAPE, operator, signature, text]).encode()).digest()


class FactStore:
    """The facts in one SQLite file, that of the person by default. Raises StoreError where it cannot be used."""

    def __init__(self, file: Path | None = None):
        self.file = file or home() / "facts.sqlite"

    def found(self, keys: Sequence[bytes]) -> dict[bytes, Facts]:
        """The facts that are kept, by key."""
        known: dict[bytes, Facts] = {}
        with self._opened() as base:
            for first in range(0, len(keys), AT_ONCE):
                part = keys[first : first + AT_ONCE]
                asked = f"select key, facts from facts where key in ({','.join('?' * len(part))})"
                known |= {key: Facts.from_json(zlib.decompress(packed).decode()) for key, packed in base.execute(asked, part)}
        return known

    def count(self, keys: Sequence[bytes]) -> int:
        """How many of these keys are kept."""
        with self._opened() as base:
            parts = (keys[first : first + AT_ONCE] for first in range(0, len(keys), AT_ONCE))
            asked = "select count(*) from facts where key in ({})"
            return sum(base.execute(asked.format(",".join("?" * len(part))), part).fetchone()[0] for part in parts)

    def keep(self, facts: Mapping[bytes, Facts]) -> None:
        """Keep some facts, at once and for good."""
        self._write(((key, zlib.compress(one.to_json().encode(), 1)) for key, one in facts.items()))

    def _write(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        with self._opened() as base:
            try:
                with base:
                    base.executemany("insert or replace into facts values (?, ?)", rows)
            except sqlite3.Error as error:
                raise self._unusable(error) from None

    def _opened(self) -> closing[sqlite3.Connection]:
        try:
            base = sqlite3.connect(self.file, timeout=WAIT)
            write_ahead(base)
            base.execute(TABLE)
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        return closing(base)

    def _unusable(self, error: Exception) -> StoreError:
        return StoreError(f"What was extracted, in {self.file}, cannot be used ({error}); remove that file to start anew.")
