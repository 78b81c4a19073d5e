"""Mediators: unnamed nodes that stand for a fact with more than two parts, as in Freebase.

For example, a node without a name connects an actor, a film and a role.
"""

from __future__ import annotations

import numpy as np

from core.graph.algorithms.chains import Chain
from core.graph.identifier_names import is_unnamed
from core.graph.protocol import KnowledgeGraph

# Largest number of triples whose node names are checked.
MAX_CHECKED_TRIPLES = 200_000
# A step counts as leading into mediators if more than this share of its end nodes are mediators.
MIN_MEDIATOR_SHARE = 0.5


def mediator_step_mask(graph: KnowledgeGraph) -> np.ndarray:
    """Mark each relation and direction whose steps mostly lead to mediators.

    The result is bool [2 * relations]. The positions are the step codes of
    `core.graph.algorithms.chains`: 2r for relation r from head to tail, and 2r + 1 from tail to
    head. Of a large graph, `MAX_CHECKED_TRIPLES` evenly spaced triples are checked. The result is
    cached on the graph.

    >>> from core.graph.algorithms.mediators import mediator_step_mask
    >>> mask = mediator_step_mask(toy)  # every node of this graph has a name
    >>> len(mask), mask.any()
    (14, np.False_)
    """
    return graph.derived.get_or_make("mediating", None, lambda: _mark_mediator_steps(graph))


def _mark_mediator_steps(graph: KnowledgeGraph) -> np.ndarray:
    edges = np.unique(
        np.linspace(0, graph.n_edges - 1, min(graph.n_edges, MAX_CHECKED_TRIPLES)).astype(np.int64)
    )
    heads, relations, tails = graph.triples(edges)
    # Forward steps end in tails, backward ones in heads.
    nodes, end_indices = np.unique(np.concatenate([tails, heads]), return_inverse=True)
    codes = np.concatenate([2 * relations, 2 * relations + 1])
    n_codes = 2 * graph.n_relations
    is_mediator = np.array([is_unnamed(name) for name in graph.names(nodes.tolist())], float)
    mediator_ends = np.bincount(codes, is_mediator[end_indices], n_codes)
    all_ends = np.bincount(codes, minlength=n_codes)
    return mediator_ends > MIN_MEDIATOR_SHARE * all_ends


def count_named_hops(chain: Chain, is_mediator_step: np.ndarray) -> int:
    """Count the hops of a chain.

    Each hop leads from a named node to the next one. A step into a mediator and the step out of it
    are one hop.

    Parameters
    ----------
    chain : step codes.
    is_mediator_step : bool [2 * relations], the result of `mediator_step_mask`.

    Examples
    --------
    >>> from core.graph.algorithms.mediators import count_named_hops
    >>> is_mediator_step = np.array([True, False, False, False])
    >>> count_named_hops((0, 2), is_mediator_step)  # the first step leads to a mediator
    1
    """
    return len(chain) - sum(bool(is_mediator_step[code]) for code in chain)
