"""Solved questions stored as cases, for answering similar questions.

A case holds the vector of the masked question and the relation chains that best reproduce its
answers.

After CBR-KBQA (Das et al., Case-based Reasoning for Natural Language Queries over Knowledge Bases,
EMNLP 2021). Its cases hold logical forms; here a case needs only a question and its answers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets import questions as questions_of
from core.graph.algorithms.chains import Chain, best_chains
from core.graph.names.lookup import name_lookup
from core.graph.store import Graph
from core.indexes.chains import fingerprint
from core.indexes.index_storage import hold_free_lock, index_folder
from core.indexes.question_masks import mask_entities
from core.io.rows import RowFile, Schema
from core.io.rows import select_by_keys as rows_by_key
from core.runtime.meter import count_time
from core.runtime.slots import hold_lock
from core.types import Question
from core.watch import NO_WATCH, Watch

OWN_QUESTIONS = "own"  # the source that names a person's own solved questions
# Seed of the sample drawn from a question set, fixed so that every run has the same cases.
DRAW_SEED = 0
BATCH_CASES = 64  # cases written together; written batches survive a cancellation
MAX_HELD_CASE_SETS = 8  # sets of cases kept in memory per graph
CASES_SHELF = "solved questions"  # under this name a graph holds the cases in memory
CASE_COLUMNS = ("key", "masked", "chains", "fit", "vector")
CASES_TABLE = (
    "CREATE TABLE cases (key TEXT PRIMARY KEY, masked TEXT, chains TEXT, fit REAL, vector BLOB)"
)
CASES_SCHEMA = Schema("the solved questions", (CASES_TABLE,), is_recomputable=True)


@dataclass(frozen=True, eq=False)
class Cases:
    """Solved questions in a fixed order: keys, masked texts, chains, fits and vectors.

    `chains[i]` are the shortest chains whose end nodes best match the answers; empty if no chain
    leads to an answer. `fits[i]` is the F1 of these end nodes. `vectors` is float32 [n, d] with
    unit rows.
    """

    keys: tuple[str, ...]
    texts: tuple[str, ...]
    chains: tuple[tuple[Chain, ...], ...]
    fits: tuple[float, ...]
    vectors: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)

    def __add__(self, other: Cases) -> Cases:
        """Return these cases followed by those of `other` that are not among them."""
        own_keys = set(self.keys)
        rows = [i for i, key in enumerate(other.keys) if key not in own_keys]
        if not rows:
            return self
        vectors = other.vectors[rows]
        if len(self):
            vectors = np.concatenate([self.vectors, vectors])
        return Cases(
            self.keys + tuple(other.keys[i] for i in rows),
            self.texts + tuple(other.texts[i] for i in rows),
            self.chains + tuple(other.chains[i] for i in rows),
            self.fits + tuple(other.fits[i] for i in rows),
            vectors,
        )

    def rank_cases(self, vector: np.ndarray) -> list[tuple[int, float]]:
        """Rank all cases by their cosine with a vector, as pairs of (position, cosine).

        Cosines are rounded to six digits. Equal ones keep the order of the cases.
        """
        if not len(self):
            return []
        cosines = np.round(
            np.einsum("nd,d->n", self.vectors.astype(np.float32), vector.astype(np.float32)), 6
        )
        order = np.argsort(-cosines, kind="stable")
        return list(zip(order.tolist(), cosines[order].tolist()))


def case_key(question: Question) -> str:
    """Return the key of a solved question, from its text, entities and answers."""
    key_text = json.dumps([question.text, question.entities, question.answers], ensure_ascii=False)
    return text_key(question) + hashlib.sha256(key_text.encode()).hexdigest()[:16]


def text_key(question: Question) -> str:
    """Return the part of a key that depends only on the question's text.

    Two solutions of the same question share it. Keys are stored on disk, so this must not change,
    even if `core.languages.spelling` does.
    """
    text = question.text.replace("[", "").replace("]", "").casefold()
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@count_time("preparation", "Solved questions of the graph")
def load_cases(
    graph: Graph,
    encoder,
    source: str,
    size: int,
    steps: int,
    direction: str = "graph",
    watch: Watch = NO_WATCH,
    own_cases: Sequence[Question] = (),
) -> Cases:
    """Return the cases of the named sources, solving those that are not saved yet.

    The person's own questions are checked for new ones in each call. Questions with an entity that
    the graph lacks, or without any answer in the graph, are left out.

    Parameters
    ----------
    encoder : encodes the masked questions.
    source : names of question sets, separated by commas. "own" stands for the questions in the
        argument `own_cases`.
    size : how many questions are drawn from each set, the same ones every time.
    steps : the largest number of steps of a chain.
    direction : of the steps: "both", "out" (along the triples), "in" (against them) or "graph", the
        graph's own setting.
    watch : receives the progress; what it raises stops the work.
    own_cases : the person's own solved questions.

    Returns
    -------
    The cases, saved and new ones.

    Raises
    ------
    BadInput : a question set is unknown.
    StoreError : the cases cannot be saved.
    """
    encoder_id, direction = fingerprint(encoder), graph.resolve(direction)
    file = _file(graph, encoder_id, steps, direction)
    shelf = graph.derived.cache_of(CASES_SHELF, MAX_HELD_CASE_SETS)
    sources = split_sources(source)
    sets = tuple(part for part in sources if part != OWN_QUESTIONS)
    key = (encoder_id, steps, direction, sets, size)
    with hold_lock(shelf.lock, watch):  # two lanes that need the same cases solve them once
        result = shelf.values.get(key)
        if result is None:
            result = _find_cases(graph, encoder, file, _draw(sets, size), steps, direction, watch)
            shelf.values[key] = result
        if OWN_QUESTIONS in sources:
            result = result + _find_cases(graph, encoder, file, own_cases, steps, direction, watch)
    return result


def forget_cases(graph: Graph) -> None:
    """Release the graph's cases from memory. Raises StoreError while they are being solved."""
    shelf = graph.derived.cache_of(CASES_SHELF, MAX_HELD_CASE_SETS)
    with hold_free_lock(shelf.lock, "The solved questions"):
        shelf.values.clear()


def case_coverage(
    graph: Graph, encoder, source: str, size: int, steps: int, own_cases: Sequence[Question] = ()
) -> tuple[int, int]:
    """Count the questions of the sources that are solved, and those that can be.

    A question can be solved if the graph has its entities and at least one of its answers.

    Parameters
    ----------
    encoder : encoder of the questions; its fingerprint is part of the file's name.
    source : names of question sets, separated by commas; "own" stands for `own_cases`.
    size : number of questions that are drawn from each set.
    steps : largest number of steps of a case's chains.
    own_cases : the person's own questions.

    Returns
    -------
    Number of solved questions, and of those that can be solved.
    """
    sets = tuple(part for part in split_sources(source) if part != OWN_QUESTIONS)
    questions = (*_draw(sets, size), *own_cases)
    by_key = {case_key(question): question for question in questions if question.answers}
    file, solved_keys = _file(graph, fingerprint(encoder), steps, graph.resolve("graph")), set()
    if file.is_file():
        with RowFile(file, CASES_SCHEMA).open_for_reading() as store:
            solved_keys = {key for (key,) in rows_by_key(store, "cases", ("key",), by_key)}
    solvable = [
        key
        for key, question in by_key.items()
        if key in solved_keys or _question_nodes(graph, question) is not None
    ]
    return len(solved_keys), len(solvable)


def split_sources(source: str) -> tuple[str, ...]:
    """Split a text of names separated by commas, without duplicates."""
    return tuple(dict.fromkeys(part.strip() for part in source.split(",") if part.strip()))


def own_stamp(source: str, own_cases: Sequence[Question]) -> str:
    """Return a text that changes with the person's own solved questions.

    Parameters
    ----------
    source : names of question sets, separated by commas; "own" stands for `own_cases`.
    own_cases : the person's own questions.

    Returns
    -------
    The keys of these questions; empty if the source does not name them.
    """
    return " ".join(map(case_key, own_cases)) if OWN_QUESTIONS in split_sources(source) else ""


def _file(graph: Graph, encoder: str, steps: int, direction: str) -> Path:
    return index_folder(graph) / f"cases-{encoder}-{steps}-{direction}.sqlite"


@lru_cache(maxsize=MAX_HELD_CASE_SETS)
def _draw(sets: tuple[str, ...], size: int) -> tuple[Question, ...]:
    """Draw `size` questions from each set, in the order of the sets."""
    sample: list[Question] = []
    for name in sets:
        questions = questions_of(name)
        n = len(questions)
        rows = np.random.default_rng(DRAW_SEED).choice(n, min(size, n), replace=False)
        sample += [questions[row] for row in np.sort(rows).tolist()]
    return tuple(sample)


def _find_cases(
    graph: Graph,
    encoder,
    file: Path,
    questions: Sequence[Question],
    steps: int,
    direction: str,
    watch: Watch = NO_WATCH,
) -> Cases:
    """Return the cases of these questions in order.

    They are read from `file`, or solved and added to it.
    """
    by_key = {case_key(question): question for question in questions if question.answers}
    case_file = RowFile(file, CASES_SCHEMA)
    with case_file.open_for_reading() as store:
        row_of_key = {row[0]: row for row in rows_by_key(store, "cases", CASE_COLUMNS, by_key)}
        missing = {key: by_key[key] for key in by_key if key not in row_of_key}
        for batch in _batches_with_progress(missing, watch):
            fresh = _solve(graph, encoder, batch, steps=steps, direction=direction, watch=watch)
            case_file.save("cases", fresh, database=store)
            row_of_key |= {row[0]: row for row in fresh}
    return _cases_of_rows([row_of_key[key] for key in by_key if key in row_of_key])


def _batches_with_progress(
    questions: dict[str, Question], watch: Watch
) -> Iterator[dict[str, Question]]:
    """Yield the questions in batches, and report the progress before each."""
    keys = list(questions)
    for first in range(0, len(keys), BATCH_CASES):
        watch.report(f"Solving questions: {first:,} of {len(keys):,}", first / len(keys))
        yield {key: questions[key] for key in keys[first : first + BATCH_CASES]}


def _cases_of_rows(rows: Sequence[tuple[Any, ...]]) -> Cases:
    """Return the cases of database rows, in their order."""
    vectors = np.zeros((0, 1), np.float32)
    if rows:
        vectors = np.stack([np.frombuffer(row[4], "<f4") for row in rows])
    return Cases(
        keys=tuple(row[0] for row in rows),
        texts=tuple(row[1] for row in rows),
        chains=tuple(tuple(map(tuple, json.loads(row[2]))) for row in rows),
        fits=tuple(row[3] for row in rows),
        vectors=vectors,
    )


def _solve(
    graph: Graph,
    encoder,
    questions: dict[str, Question],
    steps: int,
    direction: str,
    watch: Watch = NO_WATCH,
):
    """Return a database row for each question whose entities and answers the graph has."""
    rows = []
    for key, question in questions.items():
        watch.check()
        question_nodes = _question_nodes(graph, question)
        if question_nodes is not None:
            seeds, answers = question_nodes
            chains, fit = best_chains(graph, seeds, answers, steps, direction, watch)
            rows.append((key, mask_entities(graph, question.text, seeds), json.dumps(chains), fit))
    vectors = encoder.encode([row[1] for row in rows], watch) if rows else ()
    return [(*row, np.asarray(vector, "<f4").tobytes()) for row, vector in zip(rows, vectors)]


def _question_nodes(graph: Graph, question: Question) -> tuple[list[int], list[int]] | None:
    """Return the nodes of a question's entities, and those of its answers.

    The result is None if the graph lacks one of the entities or all answers.
    """
    seeds = []
    for entity in question.entities:
        nodes = name_lookup(graph).find_exact(entity)
        if not nodes:
            return None
        seeds.append(_busiest(graph, nodes))
    answers = {
        node for answer in question.answers for node in name_lookup(graph).find_exact(answer)
    }
    return (seeds, sorted(answers)) if seeds and answers else None


def _busiest(graph: Graph, nodes: Sequence[int]) -> int:
    """Return the node with the most edges among nodes that share a name.

    Among equal ones it is the one with the smallest id. Entity linking makes the same choice.
    """
    return min(nodes, key=lambda node: (-graph.degree(node), node))
