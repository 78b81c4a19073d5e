"""Suggestions of entities of a document graph that may be the same.

Their names differ only in spelling, or have similar vectors.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.builds.merge.row_pairs import nearest_rows
from core.corpus.entity_merges import EntityMerges, ordered_pair
from core.graph.columns import Table
from core.graph.edits import Edit
from core.graph.store import Graph
from core.languages.spelling import fold
from core.models.base import Encoder
from core.watch import NO_WATCH, Watch

MIN_NAME_COSINE = 0.9  # least cosine of two similar names
# most names whose vectors are compared: those of the entities with the most relations
MAX_COMPARED_NAMES = 4_000
COMPARED_NEIGHBOURS = 3  # neighbours compared for each name
NON_WORD_RUN = re.compile(r"[^\w]+|_")
DIGIT_RUN = re.compile(r"\d+")
MIN_PLURAL_LETTERS = 4  # fewest letters of a word whose plural is folded
SPELLING_REASONS = ("case", "accents", "apostrophes and punctuation", "plural")


@dataclass(frozen=True)
class Suggestion:
    """A suggested merge of one entity into another.

    `cosine` is the similarity of the names' vectors, None where the spelling is the reason.
    `passages` counts the passages of each entity.
    """

    edit: Edit
    reason: str
    cosine: float | None
    passages: tuple[int, int]


def spellings(name: str) -> tuple[str, ...]:
    """Return a name folded step by step, in the order of `SPELLING_REASONS`.

    Two names with the same form at one step differ in no more than what is folded up to it.

    >>> from core.builds.merge_suggestions import spellings
    >>> spellings("Noël’s Carols")
    ('noël’s carols', 'noel’s carols', 'noels carols', 'noel carol')
    """
    case = " ".join(unicodedata.normalize("NFC", name).split()).casefold()
    accents = "".join(
        letter for letter in unicodedata.normalize("NFD", case) if not unicodedata.combining(letter)
    )
    marks = " ".join(NON_WORD_RUN.sub(" ", fold(accents).replace("'", "")).split())
    return case, accents, marks, " ".join(map(_singular, marks.split()))


def suggest_by_spelling(graph: Graph, mends: EntityMerges) -> list[Suggestion]:
    """Suggest merges of entities whose names differ only in spelling.

    That means case, accents, apostrophes, punctuation or plural. Each is merged into the entity of
    its group with the most passages. Refused pairs are left out. A graph whose nodes are passages
    or summaries has no suggestions.

    Parameters
    ----------
    graph : the graph of a corpus.
    mends : the merges and refusals of the corpus.

    Returns
    -------
    Suggestions, each with its reason.
    """
    suggestions, counts = [], _passages(graph)
    groups: dict[str, list[tuple[tuple[str, ...], int, str]]] = {}
    for node, name in _entities(graph):
        steps = spellings(name)
        if steps[-1]:
            groups.setdefault(steps[-1], []).append((steps, node, name))
    for group in (group for group in groups.values() if len(group) > 1):
        steps, node, name = min(group, key=lambda one: (-counts[one[1]], one[2]))
        for other_steps, other_node, other_name in sorted(group, key=lambda one: one[2]):
            if other_name != name and ordered_pair(other_name, name) not in mends.refused:
                reason = next(
                    reason
                    for reason, one, two in zip(SPELLING_REASONS, other_steps, steps)
                    if one == two
                )
                suggestions.append(
                    Suggestion(
                        Edit("merge", (other_name, name)),
                        reason,
                        None,
                        (int(counts[other_node]), int(counts[node])),
                    )
                )
    return sorted(
        suggestions,
        key=lambda one: (SPELLING_REASONS.index(one.reason), -sum(one.passages), one.edit.names),
    )


def suggest_by_vectors(
    graph: Graph,
    mends: EntityMerges,
    encoder: Encoder,
    min_cosine: float = MIN_NAME_COSINE,
    watch: Watch = NO_WATCH,
) -> list[Suggestion]:
    """Suggest merges of entities whose names have similar vectors.

    Names are compared among the `MAX_COMPARED_NAMES` entities with the most relations. Pairs are
    left out if their numbers differ, as in two years, or if the spelling already suggests the
    merge.

    Parameters
    ----------
    graph : the graph of a corpus.
    mends : the merges and refusals of the corpus.
    encoder : encoder of the names.
    min_cosine : least cosine.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    Suggestions, most similar first.
    """
    entities, counts = list(_entities(graph)), _passages(graph)
    if entities:
        degrees = graph.degrees(np.array([node for node, _ in entities], np.int64))
    else:
        degrees = np.empty(0)
    order = sorted(range(len(entities)), key=lambda index: (-degrees[index], entities[index][1]))[
        :MAX_COMPARED_NAMES
    ]
    chosen = [entities[index] for index in order]
    if len(chosen) < 2:
        return []
    suggestions = []
    pairs = nearest_rows(
        encoder.encode([name for _, name in chosen], watch), COMPARED_NEIGHBOURS, min_cosine, watch
    )
    for (first, second), cosine in pairs.items():
        (into, name), (node, other_name) = sorted(
            (chosen[first], chosen[second]), key=lambda entity: (-counts[entity[0]], entity[1])
        )
        if (
            name == other_name
            or ordered_pair(name, other_name) in mends.refused
            or not _may_be_same(name, other_name)
        ):
            continue
        suggestions.append(
            Suggestion(
                Edit("merge", (other_name, name)),
                "alike",
                cosine,
                (int(counts[node]), int(counts[into])),
            )
        )
    return sorted(suggestions, key=lambda one: (-(one.cosine or 0), one.edit.names))


def _may_be_same(name: str, other: str) -> bool:
    """Return whether two names have the same numbers and differ in more than spelling."""
    return (
        DIGIT_RUN.findall(name) == DIGIT_RUN.findall(other)
        and spellings(name)[-1] != spellings(other)[-1]
    )


def _entities(graph: Graph) -> Iterator[tuple[int, str]]:
    """Yield the nodes with their names.

    Nothing where nodes have levels, because they are then passages and summaries.
    """
    table: Table | None = graph.columns.nodes
    if table is None or not table.has("level"):
        yield from enumerate(graph.names(range(graph.n_nodes)))


def _passages(graph: Graph) -> np.ndarray:
    """Return the number of chunks of each node; in a graph without chunks, its degree."""
    table = graph.columns.nodes
    if table is not None and table.has("chunks"):
        return table.lists("chunks").counts
    return graph.degrees(np.arange(graph.n_nodes))


def _singular(word: str) -> str:
    if len(word) < MIN_PLURAL_LETTERS or not word.isalpha() or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    return word.removesuffix("s")
