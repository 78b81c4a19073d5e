"""What the triples of a file come to, said before a graph is built of them."""

from __future__ import annotations

from collections.abc import Iterable

from core.errors import shorten
from core.languages.spelling import fold

Triple = tuple[str, str, str]
NUMBERED = 0.75  # of the entities are called by numbers where they may well be ids


def looked_at(triples: Iterable[Triple], whole: bool, numbers: bool = False) -> list[str]:
    """Sentences on triples: how many they are, of how many entities and relations; of the beginning of a file unless `whole`. Where most
    entities are called by numbers, which `numbers` says to be meant so, how they get names; and which names are one but for case, blanks
    and apostrophes, as each of them becomes an entity.

    >>> from core.graph.readers.first_look import looked_at
    >>> looked_at([("1", "acted in", "2"), ("1", "acted in", "3")], whole=True)[0]
    '2 triples, 3 entities, 1 relation.'
    >>> looked_at([("O'Neil", "knows", "Ann"), ("O’Neil", "knows", "ann")], whole=True)[1][:76]
    'Entities that differ from another by case, blanks or typography alone: 2, su'
    """
    number, entities, relations = 0, set[str](), set[str]()
    for head, relation, tail in triples:
        number += 1
        entities.update((head, tail))
        relations.add(relation)
    counts = (
        (number, "triple", "triples"),
        (len(entities), "entity", "entities"),
        (len(relations), "relation", "relations"),
    )
    said = ", ".join(f"{count:,} {one if count == 1 else more}" for count, one, more in counts)
    found = [f"{said}." if whole else f"Its beginning: {said}."]
    if (
        not numbers
        and entities
        and sum(name.isdigit() for name in entities) >= NUMBERED * len(entities)
    ):
        found.append(
            "Entities are called by numbers, and questions find them by names: add the table of nodes that has these, if there is one."
        )
    return found + _alike(entities)


def _alike(entities: Iterable[str]) -> list[str]:
    """A sentence on entities whose names are one but for case, blanks and apostrophes; none where there are none."""
    spellings: dict[str, list[str]] = {}
    for name in entities:
        spellings.setdefault(" ".join(fold(name).split()), []).append(name)
    several = sorted(sorted(names) for names in spellings.values() if len(names) > 1)
    if not several:
        return []
    others = sum(len(names) - 1 for names in several)
    pairs = " and ".join(f"“{shorten(name, 40)}”" for name in several[0][:2])
    return [
        f"Entities that differ from another by case, blanks or typography alone: {others:,}, such as {pairs}. Each is its own entity."
    ]
