"""Summary of a file's triples, shown before a graph is built."""

from __future__ import annotations

from collections.abc import Iterable

from core.errors import shorten
from core.languages.spelling import fold

Triple = tuple[str, str, str]
# If at least this share of the entities have numbers as names, the names are probably ids.
MIN_NUMBERED_SHARE = 0.75


def summarise_triples(triples: Iterable[Triple], whole: bool, numbers: bool = False) -> list[str]:
    """Return sentences about the numbers of triples and entities, and about possible problems.

    Two problems are reported. Names that are numbers may be ids; `numbers` is True if numbers are
    expected. Names that differ in case, spaces and apostrophes alone become separate entities.
    `whole` is False if the triples are only the beginning of a file.

    >>> from core.graph.readers.triple_summary import summarise_triples
    >>> summarise_triples([("1", "acted in", "2"), ("1", "acted in", "3")], whole=True)[0]
    '2 triples, 3 entities, 1 relation.'
    >>> summarise_triples([("O'Neil", "knows", "Ann"), ("O’Neil", "knows", "ann")], whole=True)[1][:76]
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
    counts_text = ", ".join(
        f"{count:,} {singular if count == 1 else plural}" for count, singular, plural in counts
    )
    sentences = [f"{counts_text}." if whole else f"Its beginning: {counts_text}."]
    n_numbered = sum(name.isdigit() for name in entities)
    if not numbers and entities and n_numbered >= MIN_NUMBERED_SHARE * len(entities):
        sentences.append(
            "Entities are called by numbers, and questions find them by names: add the table of "
            "nodes that has these, if there is one."
        )
    return sentences + _similar_spellings(entities)


def _similar_spellings(entities: Iterable[str]) -> list[str]:
    """Return a sentence about names of similar spelling, if any.

    Such names differ by case, spaces and apostrophes alone.
    """
    spellings: dict[str, list[str]] = {}
    for name in entities:
        spellings.setdefault(" ".join(fold(name).split()), []).append(name)
    repeated_names = sorted(sorted(names) for names in spellings.values() if len(names) > 1)
    if not repeated_names:
        return []
    others = sum(len(names) - 1 for names in repeated_names)
    pairs = " and ".join(f"“{shorten(name, 40)}”" for name in repeated_names[0][:2])
    return [
        f"Entities that differ from another by case, blanks or typography alone: {others:,}, such "
        f"as {pairs}. Each is its own entity."
    ]
