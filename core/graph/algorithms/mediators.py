"""Mediators: unnamed nodes that only connect others.

Freebase uses them for facts with more than two parts.
"""

from __future__ import annotations

import numpy as np

from core.graph.algorithms.chains import Chain
from core.graph.protocol import KnowledgeGraph
from core.graph.unnamed import unnamed

# Number of triples whose node names are checked.
MOST_EDGES = 200_000
# Share of mediators among the nodes that a step leads to, above which the step counts as leading
# into mediators.
MOSTLY = 0.5


def mediating(graph: KnowledgeGraph) -> np.ndarray:
    """Mark the step codes of which most steps lead to a mediator.

    The result is bool [2 * relations]. All triples are checked, or `MOST_EDGES` of them, spread
    evenly. Step codes are those of `core.graph.algorithms.chains`.

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
    """Count the steps of a chain, where passing through a mediator is one step.

    `into` is the result of `mediating`.

    >>> from core.graph.algorithms.mediators import verbal_steps
    >>> into = np.array([True, False, False, False])
    >>> verbal_steps((0, 2), into)  # the first step leads into a mediator
    1
    """
    return len(chain) - sum(bool(into[code]) for code in chain)
