"""Export of saved cases to a file, and import from one."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace

from core.cases.case import Case, unpack
from core.cases.database import case_file
from core.cases.file import read_cases, write_cases
from core.cases.store import insert_case, packed_case


@dataclass(frozen=True)
class CaseImport:
    """Result of an import: the new cases, and the number of known ones.

    A case is known if a saved one has the same id, comparison, notes and tags. It is not added.
    """

    added: tuple[Case, ...]
    n_known: int


def export(keys: Iterable[str]) -> bytes:
    """Return the cases of these ids as the bytes of one file.

    The same cases give the same bytes. Raises BadInput for an unknown id.
    """
    cases = map(packed_case, dict.fromkeys(keys))
    return write_cases((case, unpack(packed)) for case, packed in cases)


def load(data: bytes) -> CaseImport:
    """Add all cases of a file to the saved ones.

    If one cannot be read, none is added. No existing case is changed. A case whose id is taken by
    another one gets a new id. Raises BadInput, which names the faulty line.
    """
    cases_read = list(read_cases(data))
    added: list[Case] = []
    with case_file().open_for_writing() as database:
        for case, packed in cases_read:
            row = database.execute(
                "SELECT content, notes, tags FROM cases WHERE id = ?", (case.id,)
            ).fetchone()
            if row == (packed, case.notes, json.dumps(case.tags)):
                continue
            if row is not None:
                case = replace(case, id=uuid.uuid4().hex[:12])
            insert_case(database, case, packed)
            added.append(case)
    return CaseImport(tuple(added), len(cases_read) - len(added))
