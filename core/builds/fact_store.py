"""What extractors found in chunks, kept in SQLite: by operator, model and the chunk's text, so that no chunk is read twice."""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from core.builds.facts import SHAPE, Facts
from core.io.files import lines
from core.io.home import home
from core.io.rows import RowFile, Schema, by_key

SCHEMA = Schema(
    "the facts",
    ("create table facts (key blob primary key, facts blob not null) without rowid",),
    again=True,
)


def key_of(operator: str, signature: str, text: str) -> bytes:
    """The key of a chunk's facts: another for every other text, extractor or model."""
    return hashlib.sha256(json.dumps([SHAPE, operator, signature, text]).encode()).digest()


ROW = "facts"  # what a row of a shipped file is known by that holds the facts of a chunk, rather than a reply


class FactStore:
    """The facts in one SQLite file, that of the person by default, and below it those in files that ship, which are only read. Raises
    StoreError where it cannot be used, BadInput for a damaged shipped file."""

    def __init__(self, file: Path | None = None, shipped: Sequence[Path] = ()):
        self.file, self.shipped = file or home() / "facts.sqlite", tuple(shipped)
        self._rows = RowFile(self.file, SCHEMA)
        self._lock = threading.Lock()
        self._known: dict[bytes, str] | None = None

    def found(
        self, keys: Sequence[bytes], final: Callable[[Facts], bool] = lambda facts: True
    ) -> dict[bytes, Facts]:
        """The facts that are saved, by key; of the user's those that are final, of those that ship all."""
        with self._rows.reading() as base:
            rows = by_key(base, "facts", ("key", "facts"), keys)
            read = (
                (key, Facts.from_json(zlib.decompress(packed).decode())) for key, packed in rows
            )
            known = {key: facts for key, facts in read if final(facts)}
        came = self._shipped_ones() if self.shipped and len(known) < len(keys) else {}
        return known | {
            key: Facts.from_json(came[key]) for key in keys if key in came and key not in known
        }

    def keep(self, facts: Mapping[bytes, Facts]) -> None:
        """Keep some facts, at once and for good."""
        self._rows.save(
            "facts", ((key, zlib.compress(one.to_json().encode(), 1)) for key, one in facts.items())
        )

    def _shipped_ones(self) -> dict[bytes, str]:
        with self._lock:
            if self._known is None:
                rows = (
                    json.loads(line)
                    for file in self.shipped
                    if file.exists()
                    for _, line in lines(file)
                )
                self._known = {bytes.fromhex(row[ROW]): row["told"] for row in rows if ROW in row}
            return self._known
