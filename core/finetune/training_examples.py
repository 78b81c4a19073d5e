"""Training examples: right candidates, which lead to a known answer, and wrong candidates.

Each question has both for every unit that the methods rank: paths, triples and relations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from core.environment import Environment
from core.graph.algorithms.chains import Chain, chain_of
from core.graph.names.lookup import name_lookup
from core.graph.store import Graph
from core.models.base import NoModels
from core.operators.base import Context
from core.operators.extract import PersonalizedPageRank
from core.operators.retrieve.paths import ShortestPaths
from core.operators.retrieve.tree_paths import newest_triples
from core.types import Path, Question, State
from core.watch import NO_WATCH, Watch

CANDIDATE_RETRIEVAL = PersonalizedPageRank(keep=2000, damping=0.8) >> ShortestPaths(hops=4)
"""Operators that find the candidates, as in the methods No. 16 and No. 18 of LEGO-GraphRAG v1."""
CANDIDATE_UNITS = ("path", "triple", "relation")
# Limits of the texts of each unit.
MAX_POSITIVES = 8
MAX_NEGATIVES = 32
T = TypeVar("T")


@dataclass(frozen=True)
class CandidateTexts:
    """The texts of a question's candidates of one unit.

    `positives` lead to an answer, `negatives` do not.
    """

    unit: str
    positives: tuple[str, ...]
    negatives: tuple[str, ...]


@dataclass(frozen=True)
class TrainingExample:
    """A question with its candidates, one `CandidateTexts` for each unit.

    `entities` are the names of its entities, and `plan` the names of the relations that lead from
    them to the answers, step by step.
    """

    id: str
    question: str
    entities: tuple[str, ...]
    plan: tuple[str, ...]
    parts: tuple[CandidateTexts, ...]

    def candidates(self, unit: str) -> CandidateTexts:
        """Return the candidates of one unit."""
        return next(part for part in self.parts if part.unit == unit)


def training_example(
    graph: Graph, question: Question, seeds: Sequence[int], seed: int = 0, watch: Watch = NO_WATCH
) -> TrainingExample | None:
    """Return the training example of a question.

    The result is None if no retrieved path ends in a known answer, or if all paths of other chains
    contain one.

    A chain is the sequence of relations along a path. The right chain is the one whose ends agree
    best with the known answers (F1). A path of another chain may end in an answer by chance.

    - "path": positives are the paths of the right chain that end in an answer, by rank. The papers'
      code trains on the first of them. Negatives are paths of other chains that contain no answer,
      drawn so that lengths alternate, and chains within a length.
    - "triple" (`A, r, B`): the triples of the positive paths, and the other triples of the negative
      paths.
    - "relation": the relations of the right chain, and the other relations of the subgraph.
    """
    golds = set[int]().union(*map(name_lookup(graph).find_exact, question.answers))
    state = _retrieve_candidates(graph, question, seeds, seed, watch)
    assert state.paths is not None and state.subgraph is not None  # written by the retrieval
    chains: dict[Chain, list[Path]] = {}
    for path in state.paths.items:
        chains.setdefault(chain_of(graph, path), []).append(path)
    best = best_chain(chains, golds)
    if best is None:
        return None
    right_paths = [path for path in chains[best] if path.end in golds]
    others = {chain: paths for chain, paths in chains.items() if chain != best}
    rng = np.random.default_rng([seed, *question.id.encode()])
    wrong_paths = _draw_wrong_paths(others, golds, rng)
    if not wrong_paths:
        return None
    # The last bit of a step's code is its direction, the other bits are its relation.
    plan = [graph.relation_names[code >> 1] for code in best]
    relations = np.unique(graph.triples(state.subgraph.edges)[1])
    drawn_relations = relations[rng.permutation(len(relations))].tolist()
    parts = (
        _texts("path", map(graph.text, right_paths), map(graph.text, wrong_paths)),
        _texts("triple", _triples(graph, right_paths), _triples(graph, wrong_paths)),
        _texts("relation", plan, (graph.relation_names[relation] for relation in drawn_relations)),
    )
    return TrainingExample(
        question.id, question.text, tuple(graph.names(seeds)), tuple(plan), parts
    )


def _retrieve_candidates(
    graph: Graph, question: Question, seeds: Sequence[int], seed: int, watch: Watch
) -> State:
    """Return the state after `CANDIDATE_RETRIEVAL` from the entities of a question."""
    state = State(question, tuple(seeds))
    for operator in CANDIDATE_RETRIEVAL:
        state = operator(
            state, Context(graph, Environment(NoModels()), seed, watch.without_reports)
        )
    return state


def _draw_wrong_paths(
    chains: dict[Chain, list[Path]], golds: set[int], rng: np.random.Generator
) -> list[Path]:
    """Draw paths that contain no answer.

    Their lengths alternate, and so do the chains within a length.
    """
    wrong_paths: list[tuple[Chain, Path]] = []
    for chain, paths in chains.items():
        wrong_paths += [(chain, path) for path in paths if golds.isdisjoint(path.nodes)]
    sample = [wrong_paths[int(row)] for row in rng.permutation(len(wrong_paths))]
    # First by chain, then by length, since the later order keeps the earlier one within a length.
    sample = take_turns(sample, lambda chain_and_path: chain_and_path[0])
    sample = take_turns(sample, lambda chain_and_path: len(chain_and_path[0]))
    return [path for _, path in sample[:MAX_NEGATIVES]]


def best_chain(chains: dict[Chain, list[Path]], golds: set[int]) -> Chain | None:
    """Return the chain whose ends agree best with the known answers by F1.

    Of several such chains it is the shortest, then the one with the smallest codes. The result is
    None if no chain ends in an answer.
    """
    ranked_chains: list[tuple[float, int, Chain]] = []
    for chain, paths in chains.items():
        ends = {path.end for path in paths}
        if ends & golds:
            f1 = 2 * len(ends & golds) / (len(ends) + len(golds))
            ranked_chains.append((-f1, len(chain), chain))
    return min(ranked_chains)[2] if ranked_chains else None


def take_turns(items: Iterable[T], group: Callable[[T], Any]) -> list[T]:
    """Reorder items so that their groups alternate.

    The first of each group comes first, in the given order, then the second of each.
    """
    counts: Counter = Counter()
    numbered_items = []  # each with its number within its group
    for item in items:
        counts[group(item)] += 1
        numbered_items.append((counts[group(item)], item))
    return [item for _, item in sorted(numbered_items, key=lambda numbered: numbered[0])]


def _texts(unit: str, positives: Iterable[str], negatives: Iterable[str]) -> CandidateTexts:
    """Return the first distinct texts of both kinds.

    A positive text is never a negative.
    """
    right = list(dict.fromkeys(positives))
    wrong = [text for text in dict.fromkeys(negatives) if text not in set(right)]
    return CandidateTexts(unit, tuple(right[:MAX_POSITIVES]), tuple(wrong[:MAX_NEGATIVES]))


def _triples(graph: Graph, paths: Iterable[Path]) -> list[str]:
    steps: list[Path] = []  # each step as a path of its own
    for path in paths:
        for a, b, edge, is_forward in zip(path.nodes, path.nodes[1:], path.edges, path.forward):
            steps.append(Path((a, b), (edge,), (is_forward,)))
    return newest_triples(graph, steps)
