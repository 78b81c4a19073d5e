"""Communities of communities: Leiden, and Leiden again inside what is too large."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.graph.algorithms.dice import dice

SEED = 0
ROUNDS = 10  # of Leiden


@dataclass(frozen=True, eq=False)
class Group:
    """A community: its level (0 for the coarsest), the number of the one that it is a part of (-1 for none), and its nodes, ascending."""

    level: int
    parent: int
    members: np.ndarray  # int64


def hierarchy(
    n: int,
    heads: np.ndarray,
    tails: np.ndarray,
    weights: np.ndarray | None = None,
    max_size: int = 10,
    largest: bool = True,
    check: Callable[[], None] = lambda: None,
) -> list[Group]:
    """The communities of an undirected graph of `n` nodes: those of Leiden for modularity, each of more than `max_size` nodes split
    again on the subgraph that it induces, until it is small enough or Leiden leaves it whole.

    Parallel edges weigh together. With `largest` only the largest connected component is looked at (of equals the one with the smallest
    node), as in Microsoft's GraphRAG; communities of one node are none. By (level, smallest member). Same graph, same communities.

    >>> import numpy as np
    >>> from core.graph.algorithms.hierarchy import hierarchy
    >>> heads, tails = np.array([0, 0, 1, 3, 3, 4, 2]), np.array([1, 2, 2, 4, 5, 5, 3])  # two triangles and an edge between
    >>> [(one.level, one.parent, one.members.tolist()) for one in hierarchy(6, heads, tails, max_size=3)]
    [(0, -1, [0, 1, 2]), (0, -1, [3, 4, 5])]
    """
    import igraph

    weighted = np.ones(len(heads)) if weights is None else weights
    whole = igraph.Graph(n=n, edges=np.column_stack([heads, tails]).astype(np.int64), edge_attrs={"weight": weighted.tolist()})
    whole.simplify(combine_edges="sum")
    nodes = _largest(whole) if largest else np.arange(n)
    groups: list[Group] = []
    waiting = [(0, -1, nodes)]  # level, parent, nodes: breadth first, so that groups come by level
    while waiting:
        later: list[tuple[int, int, np.ndarray]] = []
        found: list[Group] = []
        for level, parent, part in waiting:
            check()
            pieces = _pieces(whole, part)
            if parent >= 0 and len(pieces) == 1:
                continue
            found += [Group(level, parent, piece) for piece in pieces if len(piece) > 1]
        for group in sorted(found, key=lambda group: int(group.members[0])):
            groups.append(group)
            if len(group.members) > max_size:
                later.append((group.level + 1, len(groups) - 1, group.members))
        waiting = later
    return groups


def _largest(whole: Any) -> np.ndarray:
    """The nodes of the largest component, of equals the one with the smallest node."""
    parts = whole.connected_components()
    return np.array(min(parts, key=lambda part: (-len(part), part[0])) if len(parts) else [], np.int64)


def _pieces(whole: Any, part: np.ndarray) -> list[np.ndarray]:
    """The communities of the subgraph on some nodes, each ascending."""
    if not len(part):
        return []
    graph = whole.induced_subgraph(part.tolist())
    with dice(SEED):
        found = graph.community_leiden(objective_function="modularity", weights="weight", n_iterations=ROUNDS)
    return [np.sort(part[np.asarray(piece, np.int64)]) for piece in found if piece]
