"""Summary of a file's triples, shown before a graph is built."""

from __future__ import annotations

from collections.abc import Iterable

from core.errors import shorten
from core.languages.spelling import fold

Triple = tuple[str, str, str]
# Share of entities with numbers as names from which on these are probably ids.
NUMBERED = 0.75


def looked_at(triples: Iterable[Triple], whole: bool, numbers: bool = False) -> list[str]:
    """Return sentences about triples, their numbers of entities and relations, and possible
    problems.

    The problems are entities whose names seem to be ids, unless `numbers` says that they are names,
    and entities whose names differ by case, spaces and apostrophes alone, since each becomes an
    entity of its own. `whole` is False if the triples are only the beginning of a file.

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
            "Entities are called by numbers, and questions find them by names: add the table of "
            "nodes that has these, if there is one."
        )
    return found + _alike(entities)


def _alike(entities: Iterable[str]) -> list[str]:
    """Return a sentence about entities whose names differ by case, spaces and apostrophes alone.

    The list is empty if there are none.
    """
    spellings: dict[str, list[str]] = {}
    for name in entities:
        spellings.setdefault(" ".join(fold(name).split()), []).append(name)
    several = sorted(sorted(names) for names in spellings.values() if len(names) > 1)
    if not several:
        return []
    others = sum(len(names) - 1 for names in several)
    pairs = " and ".join(f"“{shorten(name, 40)}”" for name in several[0][:2])
    return [
        f"Entities that differ from another by case, blanks or typography alone: {others:,}, such "
        f"as {pairs}. Each is its own entity."
    ]
