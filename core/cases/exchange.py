"""Export of saved cases to a file, and import from one."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.cases.case import Case, unpack
from core.cases.database import saved_cases
from core.cases.file import as_file, read
from core.cases.store import COLUMNS, content, insert


@dataclass(frozen=True)
class Loaded:
    """Result of an import: new cases and the number of known ones.

    A case was there already if its id, comparison, notes and tags are the same.
    """

    added: tuple[Case, ...]
    known: int


def export(keys: Iterable[str]) -> bytes:
    """Return these cases as one file. Raises BadInput for an unknown id.

    The same cases give the same bytes.
    """
    found = (content(key) for key in dict.fromkeys(keys))
    return as_file((case, unpack(packed)) for case, packed in found)


def load(data: bytes) -> Loaded:
    """Add all cases of a file.

    If the file cannot be read, none is added. No existing case is changed. A case whose id is taken
    by another one gets a new id. Raises BadInput with the fault and its line.
    """
    found, added, known = list(read(data)), [], 0
    with saved_cases().writing() as database:
        for case, packed in found:
            row = database.execute(
                f"SELECT {COLUMNS}, content FROM cases WHERE id = ?", (case.id,)
            ).fetchone()
            if (
                row is not None
                and row[-1] == packed
                and (row[6], row[7]) == (case.notes, json.dumps(case.tags))
            ):
                known += 1
                continue
            if row is not None:
                case = replace(case, id=uuid.uuid4().hex[:12])
            insert(database, case, packed)
            added.append(case)
    return Loaded(tuple(added), known)
