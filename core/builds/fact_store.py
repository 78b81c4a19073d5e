"""Facts that extractors found in chunks, saved in SQLite.

Thus no chunk is read twice. Their key is a digest of the extractor, its model and the text of the
chunk.
"""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.builds.facts import SAVED_FIELDS, Facts
from core.io.files import numbered_lines
from core.io.home import home_folder
from core.io.rows import RowFile, Schema, select_by_keys

FACTS_SCHEMA = Schema(
    "the facts",
    ("create table facts (key blob primary key, facts blob not null) without rowid",),
    is_recomputable=True,
)


def fact_key(operator: str, signature: str, text: str) -> bytes:
    """Return the key of a chunk's facts.

    Parameters
    ----------
    operator : `repr` of the extractor with its parameters.
    signature : id of all else that the facts depend on, from `Extractor.signature`; may be empty.
    text : text of the chunk.

    Returns
    -------
    SHA-256 digest, 32 bytes.
    """
    return hashlib.sha256(json.dumps([SAVED_FIELDS, operator, signature, text]).encode()).digest()


# Marks a row of a shipped file that holds the facts of a chunk rather than a reply.
FACTS_FIELD = "facts"


class FactStore:
    """Saved facts of chunks, in one SQLite file and in files that ship.

    Parameters
    ----------
    file : the SQLite file; by default facts.sqlite in the person's folder.
    shipped : files that ship with the corpus; they are only read, for facts that `file` lacks.

    Raises
    ------
    StoreError : by its methods, if the file cannot be used.
    BadInput : by its methods, for a damaged shipped file.
    """

    def __init__(self, file: Path | None = None, shipped: Sequence[Path] = ()):
        self.file = file or home_folder() / "facts.sqlite"
        self.shipped = tuple(shipped)
        self._rows = RowFile(self.file, FACTS_SCHEMA)
        self._lock = threading.Lock()
        self._shipped_facts: dict[bytes, str] | None = None

    def load(
        self, keys: Sequence[bytes], is_final: Callable[[Facts], bool] = lambda facts: True
    ) -> dict[bytes, Facts]:
        """Return the saved facts by key.

        Parameters
        ----------
        keys : keys of chunks, by `fact_key`.
        is_final : returns False for facts of `file` that are left out, so that their chunk is read
            again. Shipped facts are always returned.

        Returns
        -------
        Facts by key; keys without facts are left out.

        Raises
        ------
        StoreError, BadInput : a file cannot be used.
        """
        with self._rows.open_for_reading() as database:
            result: dict[bytes, Facts] = {}
            for key, packed in select_by_keys(database, "facts", ("key", "facts"), keys):
                facts = Facts.from_json(zlib.decompress(packed).decode())
                if is_final(facts):
                    result[key] = facts
        if self.shipped and len(result) < len(keys):
            shipped = self._load_shipped()
            for key in keys:
                if key in shipped and key not in result:
                    result[key] = Facts.from_json(shipped[key])
        return result

    def save(self, facts: Mapping[bytes, Facts]) -> None:
        """Save facts by key, replacing those with the same key."""
        packed = ((key, zlib.compress(one.to_json().encode(), 1)) for key, one in facts.items())
        self._rows.save("facts", packed)

    def _load_shipped(self) -> dict[bytes, str]:
        with self._lock:
            if self._shipped_facts is None:
                rows = shipped_rows(self.shipped, FACTS_FIELD)
                self._shipped_facts = {bytes.fromhex(row[FACTS_FIELD]): row["told"] for row in rows}
            return self._shipped_facts


def shipped_rows(files: Iterable[Path], field: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of shipped files that have a certain field.

    Parameters
    ----------
    files : JSON lines, compressed or not; missing files are left out.
    field : the name of the field.

    Yields
    ------
    Rows in the order of the files.
    """
    for file in files:
        if file.exists():
            rows = (json.loads(line) for _, line in numbered_lines(file))
            yield from (row for row in rows if field in row)
