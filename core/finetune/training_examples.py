"""Training examples: candidates that lead to a known answer and candidates that do not.

Each question has them for every unit that the methods read: paths, triples and relations.
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
"""Operators that find the candidates, as the methods No. 16 and No. 18 do."""
CANDIDATE_UNITS = ("path", "triple", "relation")
MAX_POSITIVES, MAX_NEGATIVES = 8, 32  # texts kept for each unit
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
    """A question with its candidates.

    `plan` are the relations that lead to its answers, step by step.
    """

    id: str
    question: str
    entities: tuple[str, ...]
    plan: tuple[str, ...]
    parts: tuple[CandidateTexts, ...]

    def part(self, unit: str) -> CandidateTexts:
        """Return the candidates of one unit."""
        return next(part for part in self.parts if part.unit == unit)


def training_example(
    graph: Graph,
    question: Question,
    seeds: Sequence[int],
    seed: int = 0,
    watch: Watch = NO_WATCH,
) -> TrainingExample | None:
    """Return the training example of a question.

    The result is None where no retrieved path ends in a known answer, or none avoids all of them.

    Of the relation chains of the retrieved paths, the one whose ends agree best with the known
    answers (F1) counts as right. A path of another chain may end in an answer by chance.

    - "path": positives are the paths of that chain that end in an answer, by rank. The papers' code
      trains on the first one. Negatives are paths of other chains that pass no answer. They are
      drawn so that lengths take turns, and chains within a length.
    - "triple" (`A, r, B`): the triples of the positive paths, and others of the negative ones.
    - "relation": the chain's names, and the other names in the subgraph.
    """
    golds = {node for answer in question.answers for node in name_lookup(graph).exact(answer)}
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
        state = operator(state, Context(graph, Environment(NoModels()), seed, watch.quiet))
    return state


def _draw_wrong_paths(
    chains: dict[Chain, list[Path]], golds: set[int], rng: np.random.Generator
) -> list[Path]:
    """Return drawn paths that pass no answer.

    Lengths take turns, and chains within a length.
    """
    wrong_paths: list[tuple[Chain, Path]] = []
    for chain, paths in chains.items():
        wrong_paths += [(chain, path) for path in paths if golds.isdisjoint(path.nodes)]
    sample = [wrong_paths[int(row)] for row in rng.permutation(len(wrong_paths))]
    sample = take_turns(sample, lambda one: one[0])
    sample = take_turns(sample, lambda one: len(one[0]))
    return [path for _, path in sample[:MAX_NEGATIVES]]


def best_chain(chains: dict[Chain, list[Path]], golds: set[int]) -> Chain | None:
    """Return the chain whose ends agree best with the known answers, by (-F1, steps, codes).

    The result is None where no chain ends in an answer.
    """
    ranked_chains: list[tuple[float, int, Chain]] = []
    for chain, paths in chains.items():
        end_nodes = {path.end for path in paths}
        if end_nodes & golds:
            ranked_chains.append(
                (-2 * len(end_nodes & golds) / (len(end_nodes) + len(golds)), len(chain), chain)
            )
    return min(ranked_chains)[2] if ranked_chains else None


def take_turns(items: Iterable[T], group: Callable[[T], Any]) -> list[T]:
    """Reorder items so that their groups take turns.

    The first of each group comes first, in the given order, then the second of each.
    """
    counts: Counter = Counter()
    items_with_turn = []
    for item in items:
        counts[group(item)] += 1
        items_with_turn.append((counts[group(item)], item))
    return [item for _, item in sorted(items_with_turn, key=lambda one: one[0])]


def _texts(unit: str, positives: Iterable[str], negatives: Iterable[str]) -> CandidateTexts:
    """Return distinct texts of both kinds; a text that is positive anywhere is never negative."""
    good = list(dict.fromkeys(positives))
    bad = [text for text in dict.fromkeys(negatives) if text not in set(good)]
    return CandidateTexts(unit, tuple(good[:MAX_POSITIVES]), tuple(bad[:MAX_NEGATIVES]))


def _triples(graph: Graph, paths: Iterable[Path]) -> list[str]:
    steps = [zip(path.nodes, path.nodes[1:], path.edges, path.forward) for path in paths]
    return newest_triples(
        graph, [Path((a, b), (edge,), (along,)) for path in steps for a, b, edge, along in path]
    )
