"""The facts of one chunk: entities and relations, as an extractor found them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields


@dataclass(frozen=True)
class Entity:
    """A name as it is written in the chunk, its type, and what the chunk says of it."""

    name: str
    type: str = ""
    description: str = ""
    times: int = 1


@dataclass(frozen=True)
class Relation:
    """That two entities belong together; `name` where the relation has one (as in a triple)."""

    head: str
    tail: str
    name: str = ""
    description: str = ""
    keywords: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Facts:
    """What an extractor found in one chunk. `unreadable` counts replies of a language model that could not be read, `dropped` entities and
    relations that were left out since they name what is nowhere in the chunk; `notes` are what a person should know of this chunk.

    >>> from core.builds.facts import Entity, Facts, Relation
    >>> facts = Facts((Entity("Ann", "person"), Entity("Rome")), (Relation("Ann", "Rome", "lives in"),))
    >>> Facts.from_json(facts.to_json()) == facts
    True
    """

    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    unreadable: int = field(default=0, metadata={"saved": "unread"})
    dropped: int = 0
    notes: tuple[str, ...] = ()

    @property
    def without_content(self) -> Facts:
        """What is counted and noted alone."""
        return Facts((), (), self.unreadable, self.dropped, self.notes)

    def to_json(self) -> str:
        """As one line of JSON: rows of values, in the order of the fields."""
        # in the order of the fields, as they were set
        rows = lambda items: [list(vars(item).values()) for item in items]
        return json.dumps(
            [rows(self.entities), rows(self.relations), self.unreadable, self.dropped, self.notes],
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Facts:
        """The facts of such a line. Raises ValueError, TypeError where it is none."""
        entities, relations, unreadable, dropped, notes = json.loads(text)
        return cls(
            tuple(Entity(*row) for row in entities),
            tuple(Relation(*row) for row in relations),
            unreadable,
            dropped,
            tuple(notes),
        )


SHAPE = [
    f.metadata.get("saved", f.name) for kind in (Entity, Relation, Facts) for f in fields(kind)
]
"""What a kept line of JSON holds; another shape makes other keys."""
