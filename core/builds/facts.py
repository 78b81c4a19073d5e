"""Facts of one chunk: the entities and relations that an extractor found."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields


@dataclass(frozen=True)
class ChunkEntity:
    """An entity of a chunk: its name as written, its type, and a description from the chunk.

    `times` counts its mentions in the chunk.
    """

    name: str
    type: str = ""
    description: str = ""
    times: int = 1


@dataclass(frozen=True)
class ChunkRelation:
    """A directed relation of two entities of a chunk.

    `name` is its label, as in a triple; empty if it has none. `keywords` are separated by commas.
    Parsers set `weight` to the number of sentences with the relation, language models to 1.
    """

    head: str
    tail: str
    name: str = ""
    description: str = ""
    keywords: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Facts:
    """Entities and relations that an extractor found in one chunk.

    `unreadable` counts replies of a language model that could not be read. `dropped` counts
    entities and relations that were left out because a name does not occur in the chunk. `notes`
    are messages about this chunk for the person.

    >>> from core.builds.facts import ChunkEntity, Facts, ChunkRelation
    >>> facts = Facts(
    ...     (ChunkEntity("Ann", "person"), ChunkEntity("Rome")), (ChunkRelation("Ann", "Rome", "lives in"),)
    ... )
    >>> Facts.from_json(facts.to_json()) == facts
    True
    """

    entities: tuple[ChunkEntity, ...] = ()
    relations: tuple[ChunkRelation, ...] = ()
    unreadable: int = field(default=0, metadata={"saved": "unread"})
    dropped: int = 0
    notes: tuple[str, ...] = ()

    @property
    def without_content(self) -> Facts:
        """The counts and notes without entities and relations."""
        return Facts((), (), self.unreadable, self.dropped, self.notes)

    def to_json(self) -> str:
        """Return the facts as one line of JSON: rows of values in the order of the fields."""
        # `vars` has the order of the fields, and `from_json` relies on it.
        entities = [list(vars(entity).values()) for entity in self.entities]
        relations = [list(vars(relation).values()) for relation in self.relations]
        values = [entities, relations, self.unreadable, self.dropped, self.notes]
        return json.dumps(values, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Facts:
        """Parse a line from `to_json`. Raises ValueError or TypeError if it is none."""
        entities, relations, unreadable, dropped, notes = json.loads(text)
        return cls(
            tuple(ChunkEntity(*row) for row in entities),
            tuple(ChunkRelation(*row) for row in relations),
            unreadable,
            dropped,
            tuple(notes),
        )


SAVED_FIELDS = [
    attribute.metadata.get("saved", attribute.name)
    for record in (ChunkEntity, ChunkRelation, Facts)
    for attribute in fields(record)
]
"""Fields of a saved line of JSON.

They are part of the key of saved facts, so that facts with other fields are not found. The metadata
“saved” keeps the former name of a renamed field.
"""
