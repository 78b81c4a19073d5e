"""Collection of the mentions of entities in a chunk.

The facts of the chunk are made from it. It records the spellings and types of each entity, and the
entities that share a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from core.builds.facts import ChunkEntity, ChunkRelation, Facts

PHRASE_TYPE = "concept"  # type of entities that are no names
APPEARS_WITH = "appears with"
ALSO_CALLED = "also called"  # label of two names that the text says are names of the same entity
# Label of a name in brackets after another. The whole corpus decides whether both are the same.
IN_BRACKETS = "in brackets"
MAX_ENTITY_WORDS = 8
TIME_WORDS = frozenset(
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday "
    "saturday sunday today yesterday tomorrow".split()
)
MAX_JOINED_ENTITIES = 10  # entities after an entity in a sentence to which it is related
CROWDED_SENTENCE_NOTE = (
    f"a sentence names more than {MAX_JOINED_ENTITIES + 1} entities; "
    f"each was joined with the {MAX_JOINED_ENTITIES} after it alone"
)


class EntityMentions:
    """An entity's mentions in a chunk, with the first sentence of one."""

    def __init__(self, first_sentence: str):
        self.first_sentence = first_sentence
        self.spellings, self.kinds = Counter[str](), Counter[str]()

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
        return ChunkEntity(name, kind, self.first_sentence, self.spellings.total())


class SentenceFacts:
    """Entities of a chunk, each related to those that share a sentence with it."""

    def __init__(self) -> None:
        self._entities: dict[str, EntityMentions] = {}
        # By the folded names of two entities: number of sentences, the first sentence, its verbs.
        self._pairs: dict[tuple[str, str], list[Any]] = {}
        self._is_crowded = False

    def add(self, sentence: str, mentions: Iterable[tuple[str, str]], verbs: str = "") -> None:
        """Add a sentence.

        Parameters
        ----------
        sentence : its text.
        mentions : name and type of each mention in it.
        verbs : its verbs, as keywords.
        """
        names: dict[str, None] = {}
        for name, kind in mentions:
            self._entities.setdefault(name.casefold(), EntityMentions(sentence)).add(name, kind)
            names[name.casefold()] = None
        self._is_crowded = self._is_crowded or len(names) > MAX_JOINED_ENTITIES + 1
        for pair in pair_names(list(names)):
            self._pairs.setdefault(pair, [0, sentence, verbs])[0] += 1

    def facts(self) -> Facts:
        """Return the entities, and relations weighted by their number of sentences."""
        entities = {key: mentions.entity for key, mentions in self._entities.items()}
        relations = (
            ChunkRelation(
                entities[a].name, entities[b].name, APPEARS_WITH, sentence, verbs, float(times)
            )
            for (a, b), (times, sentence, verbs) in self._pairs.items()
        )
        notes = (CROWDED_SENTENCE_NOTE,) if self._is_crowded else ()
        return Facts(tuple(entities.values()), tuple(relations), notes=notes)


def is_entity_name(name: str, max_words: int = MAX_ENTITY_WORDS) -> bool:
    """Return whether a text can name an entity.

    It has a letter and a second character, at most `max_words` words, and is not only a month or
    day.

    Parameters
    ----------
    name : the text.
    max_words : largest number of words.
    """
    words = name.casefold().split()
    return (
        any(map(str.isalpha, name))
        and len(name) > 1
        and len(words) <= max_words
        and not TIME_WORDS.issuperset(words)
    )


def pair_names(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of each name with those after it.

    Each name is paired with the next `MAX_JOINED_ENTITIES` names. A pair is sorted.
    """
    for index, first in enumerate(names):
        for second in names[index + 1 : index + 1 + MAX_JOINED_ENTITIES]:
            yield (first, second) if first < second else (second, first)
