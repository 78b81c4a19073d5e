"""Mediators: unnamed nodes that only connect others.

Freebase uses them for facts with more than two parts.
"""

from __future__ import annotations

import numpy as np

from core.graph.algorithms.chains import Chain
from core.graph.identifier_names import is_unnamed
from core.graph.protocol import KnowledgeGraph

# Number of triples whose node names are checked.
MAX_CHECKED_TRIPLES = 200_000
# Share of mediators among the nodes that a step leads to, above which the step counts as leading
# into mediators.
MIN_MEDIATOR_SHARE = 0.5


def mediator_steps(graph: KnowledgeGraph) -> np.ndarray:
    """Mark the step codes of which most steps lead to a mediator.

    The result is bool [2 * relations]. All triples are checked, or `MAX_CHECKED_TRIPLES` of them,
    spread evenly. Step codes are those of `core.graph.algorithms.chains`.

    >>> from core.graph.algorithms.mediators import mediator_steps
    >>> len(mediator_steps(toy)), mediator_steps(toy).any()  # every node of the toy has a name
    (14, np.False_)
    """
    return graph.derived.once("mediating", None, lambda: _mark_mediator_steps(graph))


def _mark_mediator_steps(graph: KnowledgeGraph) -> np.ndarray:
    edges = np.unique(
        np.linspace(0, graph.n_edges - 1, min(graph.n_edges, MAX_CHECKED_TRIPLES)).astype(np.int64)
    )
    heads, relations, tails = graph.triples(edges)
    nodes, node_positions = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    nameless = np.array([is_unnamed(name) for name in graph.names(nodes.tolist())], float)[
        node_positions
    ]
    codes = np.concatenate([2 * relations, 2 * relations + 1])
    return np.bincount(codes, nameless, 2 * graph.n_relations) > MIN_MEDIATOR_SHARE * np.bincount(
        codes, minlength=2 * graph.n_relations
    )


def count_verbal_steps(chain: Chain, into: np.ndarray) -> int:
    """Count the steps of a chain, where passing through a mediator is one step.

    Parameters
    ----------
    chain : step codes.
    into : bool [2 * relations], the result of `mediator_steps`.

    Returns
    -------
    The number of steps that a person would count.

    Examples
    --------
    >>> from core.graph.algorithms.mediators import count_verbal_steps
    >>> into = np.array([True, False, False, False])
    >>> count_verbal_steps((0, 2), into)  # the first step leads into a mediator
    1
    """
    return len(chain) - sum(bool(into[code]) for code in chain)
