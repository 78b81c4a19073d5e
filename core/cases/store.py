"""Saved comparisons: kept, found, annotated, duplicated, deleted. Shipped examples stand beside them and cannot be changed."""

from __future__ import annotations

import json
import time
import uuid
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.cases.database import reading, writing
from core.cases.finished import Finished, freeze_finished, thaw_finished
from core.errors import BadInput, shorten

LARGEST = 16_000_000  # bytes of a case's JSON
MOST_TAGS, LONGEST_TAG, LONGEST_NOTES, LONGEST_LINK = 20, 40, 20_000, 20_000
COLUMNS = "id, created, changed, digest, about, link, notes, tags"


@dataclass(frozen=True)
class Case:
    """What is told of a saved comparison without opening it. Times are seconds since 1970; `link` is the address that
    asks the same again, as query parameters."""

    id: str
    question: str
    entities: tuple[str, ...]
    answers: tuple[str, ...]
    graph: str
    digest: str
    instances: tuple[str, ...]
    link: Mapping[str, Any]
    notes: str = ""
    tags: tuple[str, ...] = ()
    created: float = 0.0
    changed: float = 0.0
    example: bool = False

    def holds(self, words: Iterable[str]) -> bool:
        """Whether every word, case aside, is in the question, notes, tags, entities, graph or instance names."""
        told = "\n".join((self.question, self.notes, self.graph, *self.tags, *self.entities, *self.instances)).casefold()
        return all(word.casefold() in told for word in words)


def save(finished: Finished, link: Mapping[str, Any] | None = None, notes: str = "", tags: Iterable[str] = ()) -> Case:
    """Keep a comparison. Raises BadInput where it is too large, StoreError where it cannot be written."""
    case = replace(about(finished), link=dict(link or {}), notes=check_notes(notes), tags=check_tags(tags))
    content = pack(freeze_finished(finished))
    with writing() as database:
        insert(database, case, content)
    return case


def about(finished: Finished) -> Case:
    """What is told of a comparison, with a new id and the present time."""
    question, graph, now = finished.question, finished.graph, round(time.time(), 3)
    return Case(
        uuid.uuid4().hex[:12],
        question.text,
        tuple(graph.names(finished.seeds)),
        question.answers,
        graph.name,
        getattr(graph, "origin", graph.digest),
        tuple(lane.instance.name for lane in finished.lanes),
        {},
        created=now,
        changed=now,
    )


def cases(text: str = "", tag: str = "") -> list[Case]:
    """The cases that hold all words of `text` and bear `tag`, the newest first, then the examples."""
    with reading() as database:
        found = [_case(row) for row in database.execute(f"SELECT {COLUMNS} FROM cases ORDER BY created DESC, id")]
    words = text.split()
    return [case for case in (*found, *_examples()) if case.holds(words) and (not tag or tag in case.tags)]


def tags() -> dict[str, int]:
    """Every tag with how many cases bear it, by name."""
    return dict(sorted(Counter(tag for case in cases() for tag in case.tags).items()))


def get(key: str) -> Case:
    """The case of that id. Raises BadInput where there is none."""
    return _found(key)[0]


def whole(key: str) -> Finished:
    """The comparison of a case, on the part of the graph saved with it. Raises BadInput where it is damaged or not there."""
    return thaw_finished(unpack(_found(key)[1]))


def content(key: str) -> tuple[Case, bytes]:
    """A case and its packed comparison."""
    return _found(key)


def edit(key: str, notes: str | None = None, tags: Iterable[str] | None = None) -> Case:
    """Change the notes or the tags. Raises BadInput where there is no such case, or it is an example."""
    case = _own(key)
    case = replace(
        case,
        notes=case.notes if notes is None else check_notes(notes),
        tags=case.tags if tags is None else check_tags(tags),
        changed=round(time.time(), 3),
    )
    with writing() as database:
        told = (case.notes, json.dumps(case.tags), case.changed, key)
        if not database.execute("UPDATE cases SET notes = ?, tags = ?, changed = ? WHERE id = ?", told).rowcount:
            raise BadInput(_missing(key))
    return case


def duplicate(key: str) -> Case:
    """A copy with an id and times of its own; that of an example can be changed."""
    case, packed = _found(key)
    now = round(time.time(), 3)
    case = replace(case, id=uuid.uuid4().hex[:12], created=now, changed=now, example=False)
    with writing() as database:
        insert(database, case, packed)
    return case


def delete(key: str) -> None:
    """Remove a case. Raises BadInput where there is no such case, or it is an example."""
    _own(key)
    with writing() as database:
        database.execute("DELETE FROM cases WHERE id = ?", (key,))


def insert(database, case: Case, packed: bytes) -> None:
    """Write a new case; its id must not be there yet."""
    told = {"question": case.question, "entities": case.entities, "answers": case.answers, "graph": case.graph, "instances": case.instances}
    row = [case.id, case.created, case.changed, case.digest, told, dict(case.link), case.notes, case.tags, packed]
    row = [json.dumps(value) if isinstance(value, dict | tuple) else value for value in row]
    database.execute(f"INSERT INTO cases ({COLUMNS}, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)


def pack(told: Mapping[str, Any]) -> bytes:
    """Plain data compressed. Raises BadInput where it is larger than a case may be, or holds half a character."""
    try:
        text = json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise BadInput("This comparison holds text that is not Unicode; it cannot be kept.") from None
    if len(text) > LARGEST:
        raise BadInput(
            f"This comparison is too large to keep ({len(text) / 1e6:.0f} MB; at most {LARGEST / 1e6:.0f} MB). "
            "Keep fewer nodes or paths, or fewer lanes."
        )
    return zlib.compress(text, 9)


def unpack(packed: bytes) -> dict[str, Any]:
    """What `pack` packed. Raises BadInput where it is damaged."""
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(packed, LARGEST)
        if unpacker.unconsumed_tail:
            raise ValueError("it is too large")
        return json.loads(text)
    except (zlib.error, ValueError, RecursionError) as error:
        raise BadInput(f"This saved comparison is damaged ({shorten(str(error))}).") from None


def check_notes(notes: str) -> str:
    """The notes, trimmed. Raises BadInput where they are far too long."""
    if len(notes) > LONGEST_NOTES:
        raise BadInput(f"Notes of at most {LONGEST_NOTES:,} characters, please.")
    return notes.strip()


def check_tags(given: Iterable[str]) -> tuple[str, ...]:
    """The tags, each once, spaces squeezed. Raises BadInput where there are too many or one is too long."""
    found = tuple(dict.fromkeys(tag for tag in (" ".join(tag.split()) for tag in given) if tag))
    if len(found) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in found):
        raise BadInput(f"At most {MOST_TAGS} tags of at most {LONGEST_TAG} characters, please.")
    return found


def _case(row: tuple) -> Case:
    key, created, changed, digest, told, link, notes, tags = row
    told = json.loads(told)
    return Case(
        key,
        told["question"],
        tuple(told["entities"]),
        tuple(told["answers"]),
        told["graph"],
        digest,
        tuple(told["instances"]),
        json.loads(link),
        notes,
        tuple(json.loads(tags)),
        created,
        changed,
    )


def _found(key: str) -> tuple[Case, bytes]:
    with reading() as database:
        row = database.execute(f"SELECT {COLUMNS}, content FROM cases WHERE id = ?", (key,)).fetchone()
    if row is not None:
        return _case(row[:-1]), row[-1]
    from core.cases.examples import examples

    for case, packed in examples():
        if case.id == key:
            return case, packed
    raise BadInput(_missing(key))


def _own(key: str) -> Case:
    case = get(key)
    if case.example:
        raise BadInput("This case is an example that ships with Hopscope; duplicate it to change it.")
    return case


def _examples() -> list[Case]:
    from core.cases.examples import examples

    return [case for case, _ in examples()]


def _missing(key: str) -> str:
    return f"There is no case “{shorten(key, 40)}”; it may have been deleted, or saved on another machine."
