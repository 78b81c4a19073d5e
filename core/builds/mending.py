"""Which entities of a graph of documents are likely the same: names that differ in how they are spelled, and names with alike vectors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.builds.merge.pairing import nearest_rows
from core.corpus.mends import Mends, pair
from core.graph.columns import Table
from core.graph.edits import Edit
from core.graph.store import Graph
from core.languages.spelling import fold
from core.models.base import Encoder
from core.watch import NO_WATCH, Watch

ALIKE = 0.9  # the least cosine of two names that are alike
COMPARED = 4_000  # names whose vectors are compared: those of the entities with the most relations
NEAREST = 3  # of each name
OTHERS = re.compile(r"[^\w]+|_")
DIGITS = re.compile(r"\d+")
PLURAL = 4  # letters of a word at least whose plural is folded
REASONS = ("case", "accents", "apostrophes and punctuation", "plural")


@dataclass(frozen=True)
class Suggestion:
    """A merge of an entity into another, why they may be the same, how alike their names' vectors are (None where spelling says it), and of
    how many passages each comes."""

    edit: Edit
    reason: str
    cosine: float | None
    passages: tuple[int, int]


def spellings(name: str) -> tuple[str, ...]:
    """A name folded step by step, in the order of REASONS: what names have in common that differ in no more than that.

    >>> from core.builds.mending import spellings
    >>> spellings("Noël’s Carols")
    ('noël’s carols', 'noel’s carols', 'noels carols', 'noel carol')
    """
    case = " ".join(unicodedata.normalize("NFC", name).split()).casefold()
    accents = "".join(
        letter for letter in unicodedata.normalize("NFD", case) if not unicodedata.combining(letter)
    )
    marks = " ".join(OTHERS.sub(" ", fold(accents).replace("'", "")).split())
    return case, accents, marks, " ".join(map(_singular, marks.split()))


def by_spelling(graph: Graph, mends: Mends) -> list[Suggestion]:
    """Merges of entities whose names differ in case, accents, apostrophes, punctuation or plural alone: into the one that comes of the most
    passages. Those that are refused are left out; of a graph whose nodes are passages or summaries there are none."""
    found, counts = [], _passages(graph)
    groups: dict[str, list[tuple[tuple[str, ...], int, str]]] = {}
    for node, name in _entities(graph):
        steps = spellings(name)
        if steps[-1]:
            groups.setdefault(steps[-1], []).append((steps, node, name))
    for group in (group for group in groups.values() if len(group) > 1):
        steps, node, name = min(group, key=lambda one: (-counts[one[1]], one[2]))
        for other_steps, other, other_name in sorted(group, key=lambda one: one[2]):
            if other_name != name and pair(other_name, name) not in mends.refused:
                reason = next(
                    reason for reason, one, two in zip(REASONS, other_steps, steps) if one == two
                )
                found.append(
                    Suggestion(
                        Edit("merge", (other_name, name)),
                        reason,
                        None,
                        (int(counts[other]), int(counts[node])),
                    )
                )
    return sorted(
        found, key=lambda one: (REASONS.index(one.reason), -sum(one.passages), one.edit.names)
    )


def by_vectors(
    graph: Graph,
    mends: Mends,
    encoder: Encoder,
    least: float = ALIKE,
    watch: Watch = NO_WATCH,
) -> list[Suggestion]:
    """Merges of entities whose names have vectors of a cosine of `least` or more, the most alike first: of the 4,000 with the most
    relations. Not where their numbers differ, as of two years, or where spelling says it already."""
    entities, counts = list(_entities(graph)), _passages(graph)
    if entities:
        degrees = graph.degrees(np.array([node for node, _ in entities], np.int64))
    else:
        degrees = np.empty(0)
    best = sorted(range(len(entities)), key=lambda at: (-degrees[at], entities[at][1]))[:COMPARED]
    chosen = [entities[at] for at in best]
    if len(chosen) < 2:
        return []
    found = []
    pairs = nearest_rows(encoder.encode([name for _, name in chosen], watch), NEAREST, least, watch)
    for (one, other), cosine in pairs.items():
        (into, name), (node, other_name) = sorted(
            (chosen[one], chosen[other]), key=lambda entity: (-counts[entity[0]], entity[1])
        )
        if (
            name == other_name
            or pair(name, other_name) in mends.refused
            or not _may_be_same(name, other_name)
        ):
            continue
        found.append(
            Suggestion(
                Edit("merge", (other_name, name)),
                "alike",
                cosine,
                (int(counts[node]), int(counts[into])),
            )
        )
    return sorted(found, key=lambda one: (-(one.cosine or 0), one.edit.names))


def _may_be_same(name: str, other: str) -> bool:
    """Whether two names have the same numbers, and differ in more than their spelling."""
    return (
        DIGITS.findall(name) == DIGITS.findall(other)
        and spellings(name)[-1] != spellings(other)[-1]
    )


def _entities(graph: Graph) -> Iterator[tuple[int, str]]:
    """The nodes with their names; none where nodes have levels, as passages and summaries do."""
    table: Table | None = graph.columns.nodes
    if table is None or not table.has("level"):
        yield from enumerate(graph.names(range(graph.n_nodes)))


def _passages(graph: Graph) -> np.ndarray:
    """Of how many chunks each node comes; of a graph without any, its edges."""
    table = graph.columns.nodes
    if table is not None and table.has("chunks"):
        return table.lists("chunks").counts
    return graph.degrees(np.arange(graph.n_nodes))


def _singular(word: str) -> str:
    if len(word) < PLURAL or not word.isalpha() or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    return word.removesuffix("s")
