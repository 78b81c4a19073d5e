"""Relation chains that lead from a question's entity to its answers in a graph.

A chain is a sequence of relations with directions, such as “starred actors” backward and then
“directed by” forward. Its answers are the nodes at the end of the walks that never return to the
entity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.graph.protocol import KnowledgeGraph

MAX_CHAIN_STEPS = 3
DEFAULT_CHAIN_STEPS = 2  # of questions without a number of hops
MAX_FRONTIER_NODES = 5_000  # a chain through more nodes is not followed further
MAX_PREFIXES = 400  # chains that are followed for one entity
MAX_PROBED_ANSWERS = 4  # answers from which the last step is searched backward
Chain = tuple[tuple[int, bool], ...]  # relation ids, True for steps from head to tail


@dataclass(frozen=True)
class ChainMatch:
    """Agreement of a chain's answers with a key: shares in [0, 1] of each that the other has."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of both shares."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    @property
    def is_exact(self) -> bool:
        """True if the chain leads to the key and to nothing else."""
        return self.precision == self.recall == 1.0


def compare_answers(reached: np.ndarray, key: np.ndarray) -> ChainMatch:
    """Compare the nodes that a chain reaches with those of a key; both without repeats."""
    shared = len(np.intersect1d(reached, key, assume_unique=True))
    return ChainMatch(shared / max(1, len(key)), shared / max(1, len(reached)))


def follow_chain(graph: KnowledgeGraph, start: int, chain: Chain) -> np.ndarray:
    """Return the nodes at the end of a chain, ascending; empty if it leads through too many."""
    nodes = np.array([start], np.int64)
    for relation, forward in chain:
        if not len(nodes) or len(nodes) > MAX_FRONTIER_NODES:
            return np.empty(0, np.int64)
        steps = graph.steps_from(nodes, "out" if forward else "in")
        nodes = np.unique(steps.nodes[steps.relations == relation])
        nodes = nodes[nodes != start]
    return nodes


def find_chains(
    graph: KnowledgeGraph, start: int, key: np.ndarray, hops: int | None = None
) -> dict[Chain, ChainMatch]:
    """Return the chains from a node to at least one answer, with their agreement with the key.

    Parameters
    ----------
    graph : the graph.
    start : the question's entity.
    key : nodes of the answers, int64 without repeats.
    hops : most steps of a chain; None for `DEFAULT_CHAIN_STEPS`.

    Examples
    --------
    >>> from core.evaluation.audit.relation_chains import find_chains
    >>> find_chains(toy, 0, np.array([1, 2]), 1)[((0, True),)].f1  # A r1 B, and A r2 C
    0.6666666666666666
    """
    max_steps = min(hops or DEFAULT_CHAIN_STEPS, MAX_CHAIN_STEPS)
    last_steps = _last_steps(graph, key)
    frontiers: dict[Chain, np.ndarray] = {(): np.array([start], np.int64)}
    candidates: list[tuple[Chain, np.ndarray]] = []
    for depth in range(max_steps):
        for prefix, nodes in frontiers.items():
            candidates += [
                ((*prefix, step), nodes)
                for step, ends in last_steps.items()
                if len(np.intersect1d(nodes, ends, assume_unique=True))
            ]
        if depth + 1 < max_steps:
            frontiers = _extend(graph, frontiers, start)
    matches = {}
    for chain, nodes in candidates:
        relation, forward = chain[-1]
        steps = graph.steps_from(nodes, "out" if forward else "in")
        reached = np.unique(steps.nodes[steps.relations == relation])
        match = compare_answers(reached[reached != start], key)
        if match.f1:
            matches[chain] = match
    return matches


def _last_steps(graph: KnowledgeGraph, key: np.ndarray) -> dict[tuple[int, bool], np.ndarray]:
    """Return the steps into the first answers, each with the nodes that it comes from."""
    steps = graph.steps_from(key[:MAX_PROBED_ANSWERS])
    # A step from an answer forward is one into it backward.
    codes = steps.relations * 2 + np.logical_not(steps.forward)
    return {
        (code // 2, bool(code % 2)): np.unique(steps.nodes[codes == code])
        for code in np.unique(codes).tolist()
    }


def _extend(
    graph: KnowledgeGraph, frontiers: Mapping[Chain, np.ndarray], start: int
) -> dict[Chain, np.ndarray]:
    """Return the chains that are one step longer, with the nodes that they reach."""
    extended: dict[Chain, np.ndarray] = {}
    for prefix, nodes in frontiers.items():
        if len(nodes) > MAX_FRONTIER_NODES:
            continue
        steps = graph.steps_from(nodes)
        codes = steps.relations * 2 + steps.forward
        for code in np.unique(codes).tolist():
            reached = np.unique(steps.nodes[codes == code])
            reached = reached[reached != start]
            if len(reached) and len(extended) < MAX_PREFIXES:
                extended[(*prefix, (code // 2, bool(code % 2)))] = reached
    return extended


def chain_text(graph: KnowledgeGraph, chain: Chain) -> str:
    """Return a chain as text, backward steps as in `KnowledgeGraph.texts`.

    >>> from core.evaluation.audit.relation_chains import chain_text
    >>> chain_text(toy, ((0, True), (1, False)))
    'r0 -> r1_reverse'
    """
    parts = []
    for relation, forward in chain:
        name = graph.relation_names[relation]
        parts.append(name if forward else f"{name}_reverse")
    return " -> ".join(parts)
