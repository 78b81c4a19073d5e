"""Mentions of a chunk while it is read.

They record the spellings and types of each entity, and which entities share a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from core.builds.facts import ChunkEntity

PHRASE_TYPE = "concept"  # type of entities that are no names
APPEARS_WITH = "appears with"
ALSO_CALLED = "also called"  # label of two names that the text says are names of the same entity
# Label of a name in brackets after another. The whole corpus decides whether both are the same.
IN_BRACKETS = "in brackets"
MAX_ENTITY_WORDS = 8  # most words of a name
MAX_JOINED_ENTITIES = 10  # entities that an entity is joined with: those after it in the sentence
CROWDED_SENTENCE_NOTE = (
    f"a sentence names more than {MAX_JOINED_ENTITIES + 1} entities; "
    f"each was joined with the {MAX_JOINED_ENTITIES} after it alone"
)


class EntityMentions:
    """An entity of a chunk while its mentions are collected."""

    def __init__(self, said: str):
        self.said, self.spellings, self.kinds = said, Counter[str](), Counter[str]()

    def add(self, name: str, kind: str) -> None:
        """Add a mention.

        Parameters
        ----------
        name : its spelling.
        kind : type of the entity, by this mention.
        """
        self.spellings[name] += 1
        self.kinds[kind] += 1

    @property
    def entity(self) -> ChunkEntity:
        """The entity with its most frequent spelling and type.

        The type of a name is preferred to that of a phrase.
        """
        name = min(self.spellings, key=lambda name: (-self.spellings[name], name))
        kind = min(self.kinds, key=lambda kind: (kind == PHRASE_TYPE, -self.kinds[kind], kind))
        return ChunkEntity(name, kind, self.said, self.spellings.total())


def pair_names(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pair each name with the `MAX_JOINED_ENTITIES` names after it; the smaller name comes first."""
    for index, one in enumerate(names):
        for other in names[index + 1 : index + 1 + MAX_JOINED_ENTITIES]:
            yield (one, other) if one < other else (other, one)
