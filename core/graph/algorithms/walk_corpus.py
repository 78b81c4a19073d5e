"""Random and breadth-first walks from nodes, which are indexed as texts (Walk&Retrieve).

The walks depend on names and not on ids, so a small change of a graph changes few of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from core.errors import BadParameter
from core.graph.columns import row_offsets
from core.graph.order import in_name_order
from core.graph.protocol import KnowledgeGraph
from core.types import Path

WALK_STRATEGIES = ("random", "breadth-first")


@dataclass(frozen=True)
class WalkPlan:
    """Parameters of the walks from a node (Walk&Retrieve, section 2.1).

    With the strategy "random", a node has `walks` walks of `length` steps. Each step goes to a
    uniformly drawn neighbour. A walk ends early at a node without steps. A walk that is drawn twice
    counts twice (as in the paper) or, with `unique`, once. A neighbour to which several triples
    lead counts once in the draw (the paper's N(v)); then one of these triples is drawn.

    With "breadth-first", each node reached within `length` steps has one walk, along the
    breadth-first tree. Only the first `walks` of them, to the nearest nodes, are used; 0 means all,
    as in the paper. With all walks in both directions, a hub would reach the whole graph.

    `direction` is the direction of the steps; "graph" is the graph's own. In the paper they go from
    head to tail ("out"): its footnote 8 counts 9.41 breadth-first walks per node, which is the
    number for MetaQA in that direction. `seed` is the seed of the random draws.
    """

    strategy: str = "random"
    walks: int = 60
    length: int = 4
    direction: str = "graph"
    unique: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        min_walks = int(self.strategy == "random")
        if self.strategy not in WALK_STRATEGIES or self.walks < min_walks or self.length < 1:
            raise BadParameter(
                "Walks are random or breadth-first, at least one of at least one step, "
                f"not {self.strategy}, {self.walks}, {self.length}."
            )


@dataclass(frozen=True, eq=False)
class OrderedSteps:
    """Ordered steps from every node.

    They are ordered by relation name, name of the next node and direction. The steps from node `v`
    are the rows from `indptr[v]` to below `indptr[v + 1]`. Their order does not depend on ids. If a
    triple is added or removed, only the walks that pass its ends change.
    """

    indptr: np.ndarray  # int64 [n + 1]
    nodes: np.ndarray  # int64 [steps], node that the step leads to
    edges: np.ndarray  # int64 [steps]
    forward: np.ndarray  # bool [steps], True from head to tail

    @classmethod
    def from_graph(cls, graph: KnowledgeGraph, direction: str) -> OrderedSteps:
        """Return the steps of a graph in a resolved direction, cached on the graph.

        Parameters
        ----------
        direction : out, in or both.

        Returns
        -------
        The steps, the same object for the same graph.
        """
        return graph.derived.get_or_make(
            "ordered steps", direction, lambda: _order_steps(graph, direction)
        )

    def rows_of(self, node: int) -> slice:
        """Return the slice of the steps from a node."""
        return slice(int(self.indptr[node]), int(self.indptr[node + 1]))

    def nodes_with_steps(self) -> np.ndarray:
        """Return the nodes that have steps, ascending."""
        return np.flatnonzero(np.diff(self.indptr))


def _order_steps(graph: KnowledgeGraph, direction: str) -> OrderedSteps:
    edges = np.arange(graph.n_edges, dtype=np.int64)
    heads, relations, tails = graph.triples(edges)
    flags = {"out": (True,), "in": (False,), "both": (True, False)}[direction]
    starts = np.concatenate([heads if is_out else tails for is_out in flags])
    ends = np.concatenate([tails if is_out else heads for is_out in flags])
    forward = np.repeat(np.array(flags), len(edges))
    step_edges, step_relations = np.tile(edges, len(flags)), np.tile(relations, len(flags))
    node_ranks = _rank_names(graph.names(range(graph.n_nodes)))
    relation_ranks = _rank_names(graph.relation_names)
    order = np.lexsort(
        (step_edges, ~forward, node_ranks[ends], relation_ranks[step_relations], starts)
    )
    indptr = row_offsets(np.bincount(starts, minlength=graph.n_nodes))
    return OrderedSteps(indptr, ends[order], step_edges[order], forward[order])


@dataclass(frozen=True, eq=False)
class NeighbourGroups:
    """Steps of every node, grouped by the neighbour to which they lead.

    Node `v` has the groups from `indptr[v]` to below `indptr[v + 1]`, in the order of their first
    step. The steps of group `g` are `step_rows[starts[g] : starts[g + 1]]`, as positions in
    `OrderedSteps`.
    """

    indptr: np.ndarray  # int64 [n + 1]
    starts: np.ndarray  # int64 [groups + 1]
    step_rows: np.ndarray  # int64 [steps]

    @classmethod
    def from_graph(cls, graph: KnowledgeGraph, direction: str) -> NeighbourGroups:
        """Return the groups of a graph in a resolved direction, cached on the graph.

        Parameters
        ----------
        direction : out, in or both.

        Returns
        -------
        The groups, the same object for the same graph.
        """
        return graph.derived.get_or_make(
            "grouped steps",
            direction,
            lambda: _group_neighbours(OrderedSteps.from_graph(graph, direction)),
        )


def _group_neighbours(steps: OrderedSteps) -> NeighbourGroups:
    n_nodes = len(steps.indptr) - 1
    start_nodes = np.repeat(np.arange(n_nodes), np.diff(steps.indptr))
    # A pair is a node and one of its neighbours. `first` is the first step of each pair, `pair_of`
    # the pair of each step.
    _, first, pair_of = np.unique(
        start_nodes * n_nodes + steps.nodes, return_index=True, return_inverse=True
    )
    order = np.argsort(first)  # by first step, and therefore by node
    group_of = np.argsort(order)[pair_of]
    return NeighbourGroups(
        row_offsets(np.bincount(start_nodes[first], minlength=n_nodes)),
        row_offsets(np.bincount(group_of, minlength=len(first))),
        np.argsort(group_of, kind="stable"),
    )


def _rank_names(names: Iterable[str]) -> np.ndarray:
    """Return the position of each name in alphabetical order."""
    return in_name_order(list(names))[1]


def walks_from(graph: KnowledgeGraph, node: int, plan: WalkPlan) -> list[Path]:
    """Return the walks from a node, in the order in which they are made.

    Parameters
    ----------
    graph : the graph.
    node : node id.
    plan : strategy, number and length of the walks.

    Returns
    -------
    The walks; empty if no step leads from the node.

    Examples
    --------
    >>> from core.graph.algorithms.walk_corpus import WalkPlan, walks_from
    >>> toy.texts(walks_from(toy, 0, WalkPlan("breadth-first", 0, 2, "out")))
    ['A -> r0 -> B', 'A -> r1 -> C', 'A -> r1 -> C -> r4 -> D']
    >>> toy.texts(walks_from(toy, 4, WalkPlan("random", 2, 1, "out")))  # from E only A is reached
    ['E -> r5 -> A', 'E -> r5 -> A']
    """
    return list(iterate_walks(graph, node, plan))


def iterate_walks(graph: KnowledgeGraph, node: int, plan: WalkPlan) -> Iterator[Path]:
    """Yield the walks of `walks_from` one by one.

    Parameters
    ----------
    graph : the graph.
    node : node id.
    plan : strategy, number and length of the walks.

    Yields
    ------
    A walk.
    """
    steps = OrderedSteps.from_graph(graph, graph.resolve(plan.direction))
    if plan.strategy == "breadth-first":
        return _breadth_first_walks(steps, node, plan)
    groups = NeighbourGroups.from_graph(graph, graph.resolve(plan.direction))
    walks = _random_walks(steps, groups, node, _draw_numbers(graph.node_name(node), plan))
    return _distinct_walks(walks) if plan.unique else walks


def _distinct_walks(walks: Iterable[Path]) -> Iterator[Path]:
    seen = set()
    for walk in walks:
        if walk not in seen:
            seen.add(walk)
            yield walk


def _draw_numbers(name: str, plan: WalkPlan) -> np.ndarray:
    """Draw two numbers in [0, 1) for each step of each walk.

    The result is float64 [walks, length, 2]. The numbers depend only on the seed and
    on the name of the node.
    """
    digest = hashlib.blake2b(f"{plan.seed}\n{name}".encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little")).random(
        (plan.walks, plan.length, 2)
    )


def _random_walks(
    steps: OrderedSteps, groups: NeighbourGroups, root: int, draws: np.ndarray
) -> Iterator[Path]:
    """Yield a random walk for each row of `draws`.

    Each step uses two numbers in [0, 1): one to draw the neighbour, one to draw the edge to it.
    """
    for walk_draws in draws.tolist():
        nodes, edges, forward = [root], [], []
        for group_draw, step_draw in walk_draws:
            first, after = groups.indptr[nodes[-1]], groups.indptr[nodes[-1] + 1]
            if first == after:
                break
            group = int(first) + int(group_draw * int(after - first))
            start, end = int(groups.starts[group]), int(groups.starts[group + 1])
            step = groups.step_rows[start + int(step_draw * (end - start))]
            nodes.append(int(steps.nodes[step]))
            edges.append(int(steps.edges[step]))
            forward.append(bool(steps.forward[step]))
        if edges:
            yield Path(tuple(nodes), tuple(edges), tuple(forward))


def _breadth_first_walks(steps: OrderedSteps, root: int, plan: WalkPlan) -> Iterator[Path]:
    limit = plan.walks or len(steps.indptr)
    tree, layer = {root: Path((root,))}, [root]
    for _ in range(plan.length):
        next_layer = []
        for node in layer:
            span = steps.rows_of(node)
            for step, neighbour in enumerate(steps.nodes[span].tolist(), span.start):
                if neighbour in tree:
                    continue
                edge, forward = int(steps.edges[step]), bool(steps.forward[step])
                tree[neighbour] = tree[node].extended(neighbour, edge, forward)
                yield tree[neighbour]
                next_layer.append(neighbour)
                if len(tree) > limit:
                    return
        layer = next_layer
