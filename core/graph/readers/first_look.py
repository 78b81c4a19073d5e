"""What the triples of a file come to, said before a graph is built of them."""

from __future__ import annotations

from collections.abc import Iterable

Triple = tuple[str, str, str]
NUMBERED = 0.75  # of the entities are called by numbers where they may well be ids


def looked_at(triples: Iterable[Triple], whole: bool, numbers: bool = False) -> list[str]:
    """Sentences on triples: how many they are, of how many entities and relations; of the beginning of a file unless `whole`. Where most
    entities are called by numbers, which `numbers` says to be meant so, how they get names.

    >>> from core.graph.readers.first_look import looked_at
    >>> looked_at([("1", "acted in", "2"), ("1", "acted in", "3")], whole=True)[0]
    '2 triples, 3 entities, 1 relation.'
    """
    number, entities, relations = 0, set[str](), set[str]()
    for head, relation, tail in triples:
        number += 1
        entities.update((head, tail))
        relations.add(relation)
    counts = ((number, "triple", "triples"), (len(entities), "entity", "entities"), (len(relations), "relation", "relations"))
    said = ", ".join(f"{count:,} {one if count == 1 else more}" for count, one, more in counts)
    found = [f"{said}." if whole else f"Its beginning: {said}."]
    if not numbers and entities and sum(name.isdigit() for name in entities) >= NUMBERED * len(entities):
        found.append(
            "Entities are called by numbers, and questions find them by names: add the table of nodes that has these, if there is one."
        )
    return found
