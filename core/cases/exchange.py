"""Export of saved cases to a file, and import from one."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.cases.case import Case, unpack
from core.cases.database import saved_cases
from core.cases.file import read_cases, write_cases
from core.cases.store import CASE_ROW_COLUMNS, insert, packed_case


@dataclass(frozen=True)
class CaseImport:
    """Result of an import: new cases and the number of known ones.

    A case was there already if its id, comparison, notes and tags are the same.
    """

    added: tuple[Case, ...]
    known: int


def export(keys: Iterable[str]) -> bytes:
    """Return these cases as one file. Raises BadInput for an unknown id.

    The same cases give the same bytes.
    """
    rows = (packed_case(key) for key in dict.fromkeys(keys))
    return write_cases((case, unpack(packed)) for case, packed in rows)


def load(data: bytes) -> CaseImport:
    """Add all cases of a file.

    If the file cannot be read, none is added. No existing case is changed. A case whose id is taken
    by another one gets a new id. Raises BadInput with the fault and its line.
    """
    cases_read, added, known_count = list(read_cases(data)), [], 0
    with saved_cases().writing() as database:
        for case, packed in cases_read:
            row = database.execute(
                f"SELECT {CASE_ROW_COLUMNS}, content FROM cases WHERE id = ?", (case.id,)
            ).fetchone()
            if (
                row is not None
                and row[-1] == packed
                and (row[6], row[7]) == (case.notes, json.dumps(case.tags))
            ):
                known_count += 1
                continue
            if row is not None:
                case = replace(case, id=uuid.uuid4().hex[:12])
            insert(database, case, packed)
            added.append(case)
    return CaseImport(tuple(added), known_count)
