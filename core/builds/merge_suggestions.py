"""Suggestions of entities that may be the same.

They are entities of a document graph, and a person decides on them. Their names differ only in
spelling, or have similar vectors.
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

# Lowest cosine of two names that are suggested as the same.
MIN_NAME_COSINE = 0.9
# Most names that are compared by their vectors. Entities with the most relations come first.
MAX_COMPARED_NAMES = 4_000
# Number of nearest names that each name is compared with.
COMPARED_NEIGHBOURS = 3
NON_WORD_RUN = re.compile(r"[^\w]+|_")
DIGIT_RUN = re.compile(r"\d+")
MIN_PLURAL_LETTERS = 4  # shorter words, such as “gas”, are not taken for plurals
SPELLING_REASONS = ("case", "accents", "apostrophes and punctuation", "plural")
Entity = tuple[int, str]  # node and name


@dataclass(frozen=True)
class Suggestion:
    """A suggested merge of one entity into another.

    `reason` is one of `SPELLING_REASONS`, or “alike” for similar vectors. `cosine` is the
    similarity of the names' vectors, None if the spelling is the reason. `passages` counts the
    passages of both entities, the merged one first. In a graph without chunks, it counts their
    edges.
    """

    edit: Edit
    reason: str
    cosine: float | None
    passages: tuple[int, int]


def fold_spelling(name: str) -> tuple[str, ...]:
    """Return four forms of a name, one for each of `SPELLING_REASONS`.

    Each form folds more than the one before: first case, then also accents, then also punctuation,
    and finally the plural.

    >>> from core.builds.merge_suggestions import fold_spelling
    >>> fold_spelling("Noël’s Carols")
    ('noël’s carols', 'noel’s carols', 'noels carols', 'noel carol')
    """
    case = " ".join(unicodedata.normalize("NFC", name).split()).casefold()
    letters = unicodedata.normalize("NFD", case)
    accents = "".join(letter for letter in letters if not unicodedata.combining(letter))
    words = NON_WORD_RUN.sub(" ", fold(accents).replace("'", "")).split()
    return case, accents, " ".join(words), " ".join(map(_singular, words))


def suggest_by_spelling(graph: Graph, merges: EntityMerges) -> list[Suggestion]:
    """Suggest merges of entities whose names differ only in spelling.

    That means case, accents, apostrophes, punctuation or plural. Each is merged into the entity of
    its group with the most passages. Refused pairs are left out. A graph whose nodes are passages
    or summaries has no suggestions.

    Parameters
    ----------
    graph : the graph of a corpus.
    merges : the merges and refusals of the corpus.

    Returns
    -------
    Suggestions, each with its reason.
    """
    counts = _count_passages(graph)
    groups: dict[str, list[Entity]] = {}
    for node, name in _entities(graph):
        if folded := fold_spelling(name)[-1]:
            groups.setdefault(folded, []).append((node, name))
    suggestions: list[Suggestion] = []
    for group in groups.values():
        target = min(group, key=lambda entity: (-counts[entity[0]], entity[1]))
        for entity in group:
            names = entity[1], target[1]
            if names[0] != names[1] and ordered_pair(*names) not in merges.refused:
                reason = _spelling_reason(*names)
                suggestions.append(_make_suggestion(entity, target, reason, None, counts))
    return sorted(
        suggestions,
        key=lambda suggestion: (
            SPELLING_REASONS.index(suggestion.reason),
            -sum(suggestion.passages),
            suggestion.edit.names,
        ),
    )


def _spelling_reason(name: str, other: str) -> str:
    """Return the first reason why two names have the same form.

    Reasons are in the order of folding. Their last form is the same, so there is always one.
    """
    forms = zip(SPELLING_REASONS, fold_spelling(name), fold_spelling(other))
    return next(reason for reason, form, other_form in forms if form == other_form)


def _make_suggestion(
    entity: Entity, target: Entity, reason: str, cosine: float | None, counts: np.ndarray
) -> Suggestion:
    passages = int(counts[entity[0]]), int(counts[target[0]])
    return Suggestion(Edit("merge", (entity[1], target[1])), reason, cosine, passages)


def suggest_by_vectors(
    graph: Graph,
    merges: EntityMerges,
    encoder: Encoder,
    min_cosine: float = MIN_NAME_COSINE,
    watch: Watch = NO_WATCH,
) -> list[Suggestion]:
    """Suggest merges of entities whose names have similar vectors.

    Names are compared among the `MAX_COMPARED_NAMES` entities with the most relations. Pairs are
    left out if their numbers differ, as in two years, if the spelling already suggests the merge,
    or if they were refused.

    Parameters
    ----------
    graph : the graph of a corpus.
    merges : the merges and refusals of the corpus.
    encoder : encoder of the names.
    min_cosine : lowest cosine of two names.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    Suggestions, most similar first.
    """
    entities = list(_entities(graph))
    if len(entities) < 2:
        return []
    counts = _count_passages(graph)
    degrees = graph.degrees(np.array([node for node, _ in entities], np.int64)).tolist()
    order = sorted(range(len(entities)), key=lambda index: (-degrees[index], entities[index][1]))
    chosen = [entities[index] for index in order[:MAX_COMPARED_NAMES]]
    vectors = encoder.encode([name for _, name in chosen], watch)
    pairs = nearest_rows(vectors, COMPARED_NEIGHBOURS, min_cosine, watch)
    suggestions: list[Suggestion] = []
    for (first, second), cosine in pairs.items():
        target, entity = sorted(
            (chosen[first], chosen[second]),
            key=lambda candidate: (-counts[candidate[0]], candidate[1]),
        )
        names = entity[1], target[1]
        if ordered_pair(*names) not in merges.refused and _is_new_candidate(*names):
            suggestions.append(_make_suggestion(entity, target, "alike", cosine, counts))
    return sorted(
        suggestions, key=lambda suggestion: (-(suggestion.cosine or 0), suggestion.edit.names)
    )


def _is_new_candidate(name: str, other: str) -> bool:
    """Return whether two names have the same numbers but are no suggestion by spelling."""
    return (
        DIGIT_RUN.findall(name) == DIGIT_RUN.findall(other)
        and fold_spelling(name)[-1] != fold_spelling(other)[-1]
    )


def _entities(graph: Graph) -> Iterator[Entity]:
    """Yield the nodes with their names.

    Nodes that are passages or summaries have no names. Their graphs have a column `level`, and
    nothing is yielded.
    """
    table: Table | None = graph.columns.nodes
    if table is None or not table.has_column("level"):
        yield from enumerate(graph.names(range(graph.n_nodes)))


def _count_passages(graph: Graph) -> np.ndarray:
    """Return the number of chunks of each node, int64 [n].

    In a graph without chunks, it is the node's degree.
    """
    table = graph.columns.nodes
    if table is not None and table.has_column("chunks"):
        return table.id_lists("chunks").counts
    return graph.degrees(np.arange(graph.n_nodes))


def _singular(word: str) -> str:
    """Return an English word without the ending of its plural."""
    if len(word) < MIN_PLURAL_LETTERS or not word.isalpha() or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    return word.removesuffix("s")
