"""Mediators: nodes without a name that only tie others together, as Freebase has for facts of more than two parts."""

from __future__ import annotations

import numpy as np

from core.graph.algorithms.chains import Chain
from core.graph.protocol import KnowledgeGraph
from core.graph.unnamed import unnamed

MOST_EDGES = 200_000  # triples whose nodes' names are looked at
MOSTLY = 0.5  # share of the nodes that a step leads to


def mediating(graph: KnowledgeGraph) -> np.ndarray:
    """For each step code whether most of the nodes it leads to are mediators: bool [2 * relations].

    From all triples, or from `MOST_EDGES` of them spread evenly.

    >>> from core.graph.algorithms.mediators import mediating
    >>> len(mediating(toy)), mediating(toy).any()  # every node of the toy has a name
    (14, np.False_)
    """
    return graph.derived.once("mediating", None, lambda: _looked(graph))


def _looked(graph: KnowledgeGraph) -> np.ndarray:
    edges = np.unique(
        np.linspace(0, graph.n_edges - 1, min(graph.n_edges, MOST_EDGES)).astype(np.int64)
    )
    heads, relations, tails = graph.triples(edges)
    nodes, place = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    nameless = np.array([unnamed(name) for name in graph.names(nodes.tolist())], float)[place]
    codes = np.concatenate([2 * relations, 2 * relations + 1])
    return np.bincount(codes, nameless, 2 * graph.n_relations) > MOSTLY * np.bincount(
        codes, minlength=2 * graph.n_relations
    )


def verbal_steps(chain: Chain, into: np.ndarray) -> int:
    """How many steps a chain is said in: a passage through a mediator is one. `into` is of `mediating`.

    >>> from core.graph.algorithms.mediators import verbal_steps
    >>> verbal_steps((0, 2), np.array([True, False, False, False]))  # the first step leads into a mediator
    1
    """
    return len(chain) - sum(bool(into[code]) for code in chain)
