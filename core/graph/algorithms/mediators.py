"""Mediators: unnamed nodes of a fact with more than two parts, as in Freebase."""

from __future__ import annotations

import numpy as np

from core.graph.algorithms.chains import Chain
from core.graph.identifier_names import is_unnamed
from core.graph.protocol import KnowledgeGraph

# Number of triples whose node names are checked.
MAX_CHECKED_TRIPLES = 200_000
# A step counts as leading into mediators if more than this share of its end nodes are mediators.
MIN_MEDIATOR_SHARE = 0.5


def mediator_steps(graph: KnowledgeGraph) -> np.ndarray:
    """Mark the step codes whose steps mostly lead to a mediator, bool [2 * relations].

    Of a large graph, `MAX_CHECKED_TRIPLES` triples are checked, spread evenly. Step codes are those
    of `core.graph.algorithms.chains`.

    >>> from core.graph.algorithms.mediators import mediator_steps
    >>> len(mediator_steps(toy)), mediator_steps(toy).any()  # every node of the toy has a name
    (14, np.False_)
    """
    return graph.derived.get_or_make("mediating", None, lambda: _mark_mediator_steps(graph))


def _mark_mediator_steps(graph: KnowledgeGraph) -> np.ndarray:
    edges = np.unique(
        np.linspace(0, graph.n_edges - 1, min(graph.n_edges, MAX_CHECKED_TRIPLES)).astype(np.int64)
    )
    heads, relations, tails = graph.triples(edges)
    nodes, node_positions = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    is_mediator = np.array([is_unnamed(name) for name in graph.names(nodes.tolist())], float)
    codes, n_codes = np.concatenate([2 * relations, 2 * relations + 1]), 2 * graph.n_relations
    mediators = np.bincount(codes, is_mediator[node_positions], n_codes)
    return mediators > MIN_MEDIATOR_SHARE * np.bincount(codes, minlength=n_codes)


def count_verbal_steps(chain: Chain, into: np.ndarray) -> int:
    """Count the steps of a chain, with two steps through a mediator as one.

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
