"""How near to the documents that an answer rests on a search has come in a corpus graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.diagnosis.passages import chunk_order, chunk_rows
from core.graph.algorithms.simple import simple
from core.graph.algorithms.uncertainty import uncertainty
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import leaves
from core.types import State

MAX_GOLDS = 200  # known documents of a question that are measured
DIGITS = 6


@dataclass(frozen=True)
class Nearing:
    """How the uncertainty of each of `golds` known documents falls as more is retrieved: from place `places[i]` (from 1) on that of the
    document number `of[i]` is `costs[i]`, until the next entry of that document. Before the first one no path leads to it."""

    golds: int
    count: int  # of the documents kept
    of: tuple[int, ...]
    places: tuple[int, ...]
    costs: tuple[float, ...]

    def at(self, k: int | None) -> list[float]:
        """The uncertainty of each known document after the first k of those kept (None: all of them); infinite where none leads there."""
        found = [math.inf] * self.golds
        for gold, place, cost in zip(self.of, self.places, self.costs):
            if place <= min(k or self.count, self.count):
                found[gold] = min(found[gold], cost)
        return found


def nearing(graph: KnowledgeGraph, state: State) -> Nearing | None:
    """The facts behind Topological Recall; None where documents are no nodes with links, nothing was sought, or none is known.

    >>> from core.evaluation.metrics.topology import nearing
    >>> from core.types import Question
    >>> nearing(story, retrieve("SparseChunks()", graph=story).replace(question=Question("?", gold=("carol",)))) is None  # entities
    True
    """
    placed = chunk_order(graph, state)
    if placed is None or not state.question.gold or not graph.n_edges:
        return None
    nodes = _documents(graph)
    if not nodes:
        return None
    order, rows = placed
    retrieved = [nodes[row] for row in rows if row in nodes]
    return falls(links_to_known(graph, state.question.gold), retrieved, len(order))


def links_to_known(graph: KnowledgeGraph, gold: Sequence[str]) -> list[np.ndarray]:
    """For each known document float64 [nodes], the uncertainty of the way to it from every node, infinite to one that is no node; none
    where no document is a node with links."""
    nodes = _documents(graph) if gold and graph.n_edges else {}
    if not nodes:
        return []
    known: list[int | None] = []
    for id in dict.fromkeys(gold):
        known += [nodes[row] for row in sorted(chunk_rows(graph, id)) if row in nodes] or [None]
    links = simple(graph)
    return [np.full(len(links), math.inf) if one is None else uncertainty(links, one) for one in known[:MAX_GOLDS]]


def falls(costs: Sequence[np.ndarray], retrieved: Sequence[int], count: int) -> Nearing:
    """The places at which a retrieved node is nearer to a known document than all before it."""
    of, places, least = list[int](), list[int](), list[float]()
    for gold, cost in enumerate(costs):
        known = math.inf
        for place, value in enumerate(cost[list(retrieved)].tolist() if len(retrieved) else (), 1):
            if value < known:
                known = value
                of.append(gold)
                places.append(place)
                least.append(round(value, DIGITS))
    return Nearing(len(costs), count, tuple(of), tuple(places), tuple(least))


def _documents(graph: KnowledgeGraph) -> dict[int, int]:
    """For each chunk that is a node its node."""
    return graph.derived.once("documents", 0, lambda: {row: node for node, row in leaves(graph, np.arange(graph.n_nodes)).items()})
