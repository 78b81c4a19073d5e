"""Storage of saved comparisons: save, search, annotate, duplicate and delete cases.

The examples that ship with Hopscope are listed with the user's own cases and cannot be changed.
"""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.cases.case import Case, check_notes, check_tags, describe_case, pack, unpack
from core.cases.comparison_data import freeze, thaw
from core.cases.database import case_file
from core.cases.examples import examples, find_example
from core.comparison.lane import MethodComparison
from core.corpus import Corpus
from core.errors import BadInput, shorten
from core.io import digests
from core.io.home import home_folder
from core.sharing import check_may_change, forget_owner, record_owner

CASE_KIND = "case"
CASE_ROW_COLUMNS = "id, created, changed, digest, about, link, notes, tags"


def save(
    comparison: MethodComparison,
    link: Mapping[str, Any] | None = None,
    notes: str = "",
    tags: Iterable[str] = (),
) -> Case:
    """Save a comparison and return its case.

    Parameters
    ----------
    comparison : the comparison. Lanes that have not ended are saved as cancelled.
    link : query parameters of the page that asks the same question again.
    notes, tags : the user's notes and tags.

    Raises
    ------
    BadInput
        If the comparison, the notes or the tags are too large.
    StoreError
        If it cannot be written.
    """
    case = replace(
        describe_case(comparison),
        link=dict(link or {}),
        notes=check_notes(notes),
        tags=check_tags(tags),
    )
    content = pack(freeze(comparison))
    with case_file().open_for_writing() as database:
        insert_case(database, case, content)
    return case


def cases(text: str = "", tag: str = "") -> list[Case]:
    """Return the cases that contain all words of `text` and have `tag`.

    An empty text or tag fits every case. The user's own come first, newest first; then the examples. A damaged case is listed with the
    error as its question.
    """
    query = f"SELECT {CASE_ROW_COLUMNS} FROM cases ORDER BY created DESC, id"
    with case_file().open_for_reading() as database:
        own_cases = list(map(_listed_case, database.execute(query)))
    words = text.split()
    return [
        case
        for case in (*own_cases, *_examples())
        if case.has_words(words) and (not tag or tag in case.tags)
    ]


def tags() -> dict[str, int]:
    """Return every tag with its number of cases, sorted by tag."""
    counts = Counter[str]()
    with case_file().open_for_reading() as database:
        for (text,) in database.execute("SELECT tags FROM cases"):
            counts.update(_tags(text))
    for case in _examples():
        counts.update(case.tags)
    return dict(sorted(counts.items()))


def get_case(key: str) -> Case:
    """Return the case of that id. Raises BadInput if there is none."""
    return packed_case(key)[0]


def comparison_of_case(
    key: str, graph: Any = None, corpus: Corpus | None = None
) -> MethodComparison:
    """Return the comparison of a case.

    Parameters
    ----------
    key : id of the case.
    graph : the graph to attach, used if the comparison was made on it; else the saved part is used.
    corpus : the corpus that was asked, if it is available.

    Raises
    ------
    BadInput
        If the case does not exist or is damaged.
    """
    return thaw(unpack(packed_case(key)[1]), graph, corpus)


def packed_case(key: str) -> tuple[Case, bytes]:
    """Return a case and its packed comparison.

    Raises BadInput if there is none of that id, or its description is damaged.
    """
    with case_file().open_for_reading() as database:
        row = database.execute(
            f"SELECT {CASE_ROW_COLUMNS}, content FROM cases WHERE id = ?", (key,)
        ).fetchone()
    if row is not None:
        return _read_case(row[:-1]), row[-1]
    example = find_example(key)
    if example is None:
        raise BadInput(_missing_message(key))
    return example


def edit(key: str, notes: str | None = None, tags: Iterable[str] | None = None) -> Case:
    """Change the notes or the tags of a case; None keeps them.

    Raises BadInput if the case does not exist or is an example, and NotAllowed if it is another
    person's.
    """
    case = _find_own_case(key)
    case = replace(
        case,
        notes=case.notes if notes is None else check_notes(notes),
        tags=case.tags if tags is None else check_tags(tags),
        changed=round(time.time(), 3),
    )
    with case_file().open_for_writing() as database:
        values = (case.notes, json.dumps(case.tags), case.changed, key)
        if not database.execute(
            "UPDATE cases SET notes = ?, tags = ?, changed = ? WHERE id = ?", values
        ).rowcount:
            raise BadInput(_missing_message(key))
    return case


def duplicate(key: str) -> Case:
    """Save a copy of a case and return it.

    The copy has a new id and new times. The copy of an example can be changed. Raises BadInput if
    the case does not exist.
    """
    case, packed = packed_case(key)
    now = round(time.time(), 3)
    case = replace(case, id=uuid.uuid4().hex[:12], created=now, changed=now, example=False)
    with case_file().open_for_writing() as database:
        insert_case(database, case, packed)
    return case


def delete(key: str) -> None:
    """Delete a case.

    Raises BadInput if the case does not exist or is an example, and NotAllowed if it is another
    person's.
    """
    _find_own_case(key)
    with case_file().open_for_writing() as database:
        database.execute("DELETE FROM cases WHERE id = ?", (key,))
    forget_owner(CASE_KIND, key)
    thumbnail_file(key).unlink(missing_ok=True)


def thumbnail_file(key: str) -> Path:
    """Return the file for the thumbnail of a saved case. It may be missing."""
    return home_folder() / "thumbnails" / f"{key}.svg"


def insert_case(database, case: Case, packed: bytes) -> None:
    """Write a case into the database, for the current user. Its id must be new."""
    names = ("question", "entities", "answers", "graph")
    description = {name: getattr(case, name) for name in names} | {"instances": case.methods}
    row = (
        case.id,
        case.created,
        case.changed,
        case.digest,
        json.dumps(digests.with_digest(description)),
        json.dumps(dict(case.link)),
        case.notes,
        json.dumps(case.tags),
        packed,
    )
    database.execute(
        f"INSERT INTO cases ({CASE_ROW_COLUMNS}, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row
    )
    record_owner(CASE_KIND, case.id)


def _read_case(row: tuple) -> Case:
    """Return the case of a row with `CASE_ROW_COLUMNS`. Raises BadInput if it is damaged."""
    key, created, changed, digest, description, link, notes, tags = row
    try:
        description = digests.check_own_digest(json.loads(description))
        return Case(
            id=key,
            question=description["question"],
            entities=tuple(description["entities"]),
            answers=tuple(description["answers"]),
            graph=description["graph"],
            digest=digest,
            methods=tuple(description["instances"]),
            link=json.loads(link),
            notes=notes,
            tags=tuple(json.loads(tags)),
            created=created,
            changed=changed,
        )
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"The saved case {key} is damaged ({shorten(str(error))}).") from None


def _tags(text: str) -> tuple[str, ...]:
    """Return the tags of a row.

    A damaged row has none; the list of cases reports it.
    """
    try:
        return tuple(json.loads(text))
    except (ValueError, TypeError):
        return ()


def _listed_case(row: tuple) -> Case:
    """Return the case of a row. A damaged one has the error in place of its question."""
    try:
        return _read_case(row)
    except BadInput as error:
        key, created, changed, digest = row[:4]
        case = Case(key, str(error), (), (), "", str(digest), (), {})
        return replace(case, created=created, changed=changed)


def _find_own_case(key: str) -> Case:
    """Return a case that the current user may change.

    Raises BadInput for an example, and NotAllowed if it is another person's.
    """
    case = get_case(key)
    if case.example:
        raise BadInput(
            "This case is an example that ships with Hopscope; duplicate it to change it."
        )
    check_may_change(CASE_KIND, key)
    return case


def _examples() -> list[Case]:
    return [case for case, _ in examples()]


def _missing_message(key: str) -> str:
    return (
        f"There is no case “{shorten(key, 40)}”; it may have been deleted, or saved on another "
        "machine."
    )
