"""Random and breadth-first walks from a node, independent of the graph's numbering."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from core.errors import BadParameter
from core.graph.protocol import KnowledgeGraph
from core.types import Path

WALK_STRATEGIES = ("random", "breadth-first")


@dataclass(frozen=True)
class WalkPlan:
    """Parameters of the walks from a node (Walk&Retrieve, section 2.1).

    With the strategy "random", a node has `walks` walks of `length` steps. Each step goes to a
    uniformly drawn neighbour. A walk ends early if no step leads on. A walk that is drawn twice
    counts twice (as in the paper) or, with `unique`, once. If several triples lead to a neighbour,
    it is drawn as one (the paper's N(v)), and then one of these triples is drawn.

    With "breadth-first", each node reached within `length` steps has one walk, along the
    breadth-first tree. The nearest `walks` of them are taken. 0 means all, as in the paper; in both
    directions a hub would then reach the whole graph.

    `direction` is that of the steps. The paper's go from head to tail ("out"): its footnote 8
    counts 9.41 breadth-first walks per node, which is the number for MetaQA in that direction.
    `seed` is that of the random draws.
    """

    strategy: str = "random"
    walks: int = 60
    length: int = 4
    direction: str = "graph"
    unique: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if (
            self.strategy not in WALK_STRATEGIES
            or self.walks < (self.strategy == "random")
            or self.length < 1
        ):
            raise BadParameter(
                "Walks are random or breadth-first, at least one of at least one step, "
                f"not {self.strategy}, {self.walks}, {self.length}."
            )


@dataclass(frozen=True, eq=False)
class OrderedSteps:
    """Steps from every node, in an order given by names.

    They are ordered by relation name, name of the next node and direction. This order does not
    depend on the numbering of the graph. If a triple is added or removed, only the walks that pass
    it change.
    """

    indptr: np.ndarray
    nodes: np.ndarray
    edges: np.ndarray
    forward: np.ndarray

    @classmethod
    def of(cls, graph: KnowledgeGraph, direction: str) -> OrderedSteps:
        """Return the steps of a graph in a resolved direction, cached on the graph.

        Parameters
        ----------
        direction : out, in or both.

        Returns
        -------
        The steps, the same object for the same graph.
        """
        return graph.derived.once(
            "ordered steps", direction, lambda: _order_steps(graph, direction)
        )

    def at(self, node: int) -> slice:
        """Slice of the steps from a node."""
        return slice(int(self.indptr[node]), int(self.indptr[node + 1]))

    def has_steps(self) -> np.ndarray:
        """Return the nodes that have steps, ascending."""
        return np.flatnonzero(np.diff(self.indptr))


def _order_steps(graph: KnowledgeGraph, direction: str) -> OrderedSteps:
    edges = np.arange(graph.n_edges, dtype=np.int64)
    heads, relations, tails = graph.triples(edges)
    sides = [(heads, tails, True)] * (direction in ("out", "both")) + [(tails, heads, False)] * (
        direction in ("in", "both")
    )
    starts, ends, forward = (
        np.concatenate(part)
        for part in zip(*((a, b, np.full(len(edges), is_out)) for a, b, is_out in sides))
    )
    step_edges, edge_relations = np.tile(edges, len(sides)), np.tile(relations, len(sides))
    by_name = _ranks(graph.names(range(graph.n_nodes)))
    order = np.lexsort(
        (step_edges, ~forward, by_name[ends], _ranks(graph.relation_names)[edge_relations], starts)
    )
    indptr = np.concatenate([[0], np.cumsum(np.bincount(starts, minlength=graph.n_nodes))])
    return OrderedSteps(indptr, ends[order], step_edges[order], forward[order])


@dataclass(frozen=True, eq=False)
class NeighbourGroups:
    """Neighbours of every node, each with the parallel steps that lead to it.

    An entry here is called a door. Node `n` has the doors `indptr[n]` to `indptr[n + 1]`, in the
    order of their first step. The steps of door `d` are `places[starts[d] : starts[d + 1]]`.
    """

    indptr: np.ndarray
    starts: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, graph: KnowledgeGraph, direction: str) -> NeighbourGroups:
        """Return the doors of a graph in a resolved direction, cached on the graph.

        Parameters
        ----------
        direction : out, in or both.

        Returns
        -------
        The doors, the same object for the same graph.
        """
        return graph.derived.once(
            "doors of steps",
            direction,
            lambda: _group_neighbours(OrderedSteps.of(graph, direction)),
        )


def _group_neighbours(steps: OrderedSteps) -> NeighbourGroups:
    n_nodes = len(steps.indptr) - 1
    roots = np.repeat(np.arange(n_nodes), np.diff(steps.indptr))
    _, first, which = np.unique(
        roots * n_nodes + steps.nodes, return_index=True, return_inverse=True
    )
    order = np.argsort(first)  # by first step, and therefore by node
    door = np.argsort(order)[which]
    counts = np.bincount(roots[np.sort(first)], minlength=n_nodes)
    starts = np.concatenate([[0], np.cumsum(np.bincount(door, minlength=len(first)))])
    return NeighbourGroups(
        np.concatenate([[0], np.cumsum(counts)]), starts, np.argsort(door, kind="stable")
    )


def _ranks(names: Iterable[str]) -> np.ndarray:
    """Return the position of each name in alphabetical order."""
    names = list(names)
    ranks = np.empty(len(names), np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


def walks_from(graph: KnowledgeGraph, node: int, plan: WalkPlan) -> list[Path]:
    """Return the walks of a node, in the order of their discovery.

    Parameters
    ----------
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

    Each is made when it is requested.

    Parameters
    ----------
    node : node id.
    plan : strategy, number and length of the walks.

    Yields
    ------
    A walk.
    """
    steps = OrderedSteps.of(graph, graph.resolve(plan.direction))
    if plan.strategy == "breadth-first":
        return _breadth_first_walks(steps, node, plan)
    walks = _random_walks(
        steps,
        NeighbourGroups.of(graph, graph.resolve(plan.direction)),
        node,
        _draws(graph.node_name(node), plan),
    )
    return _distinct_walks(walks) if plan.unique else walks


def _distinct_walks(walks: Iterable[Path]) -> Iterator[Path]:
    seen = set()
    for walk in walks:
        if walk not in seen:
            seen.add(walk)
            yield walk


def _draws(name: str, plan: WalkPlan) -> np.ndarray:
    """Random numbers in [0, 1), two for each step of each walk.

    The result is float64 [walks, length, 2]. They depend only on the seed and on the name of the
    node.
    """
    digest = hashlib.blake2b(f"{plan.seed}\n{name}".encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little")).random(
        (plan.walks, plan.length, 2)
    )


def _random_walks(
    steps: OrderedSteps, doors: NeighbourGroups, root: int, draws: np.ndarray
) -> Iterator[Path]:
    for chances in draws.tolist():
        nodes, edges, forward = [root], [], []
        for door_draw, step_draw in chances:
            first, after = doors.indptr[nodes[-1]], doors.indptr[nodes[-1] + 1]
            if first == after:
                break
            door = int(first) + int(door_draw * int(after - first))
            start, end = int(doors.starts[door]), int(doors.starts[door + 1])
            step_position = doors.places[start + int(step_draw * (end - start))]
            nodes.append(int(steps.nodes[step_position]))
            edges.append(int(steps.edges[step_position]))
            forward.append(bool(steps.forward[step_position]))
        if edges:
            yield Path(tuple(nodes), tuple(edges), tuple(forward))


def _breadth_first_walks(steps: OrderedSteps, root: int, plan: WalkPlan) -> Iterator[Path]:
    limit = plan.walks or len(steps.indptr)
    tree, layer = {root: Path((root,))}, [root]
    for _ in range(plan.length):
        following = []
        for node in layer:
            span, path_to_node = steps.at(node), tree[node]
            for step_position, neighbour in enumerate(steps.nodes[span].tolist(), span.start):
                if neighbour in tree:
                    continue
                edge, forward = int(steps.edges[step_position]), bool(steps.forward[step_position])
                walk = Path(
                    (*path_to_node.nodes, neighbour),
                    (*path_to_node.edges, edge),
                    (*path_to_node.forward, forward),
                )
                tree[neighbour] = walk
                yield walk
                following.append(neighbour)
                if len(tree) > limit:
                    return
        layer = following
