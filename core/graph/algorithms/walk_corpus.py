"""Walks rooted in a node, drawn or along a breadth-first tree, that depend on what the graph says and not on how it is numbered."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from core.errors import BadParameter
from core.graph.protocol import KnowledgeGraph
from core.types import Path

STRATEGIES = ("random", "breadth-first")


@dataclass(frozen=True)
class WalkPlan:
    """Which walks a node has (Walk&Retrieve, section 2.1).

    "random": `walks` walks of `length` steps, each to a neighbour drawn uniformly, which end early where no step leads on; a walk that
    is drawn twice counts twice (the paper) or, with `unique`, once. A neighbour that several triples lead to is drawn as one (the
    paper's N(v)), then one of these triples. "breadth-first": for each node reached within `length` steps the walk to it in the
    breadth-first tree, the nearest `walks` of them (0: all, as the paper has it; followed both ways, a hub reaches the whole graph).
    `direction` is that of the steps: the paper's go along the triples ("out"), for its footnote 8 counts 9.41 breadth-first walks a
    node, which are MetaQA's along them. `seed` is that of the draws.
    """

    strategy: str = "random"
    walks: int = 60
    length: int = 4
    direction: str = "graph"
    unique: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        if (
            self.strategy not in STRATEGIES
            or self.walks < (self.strategy == "random")
            or self.length < 1
        ):
            raise BadParameter(
                f"Walks are random or breadth-first, at least one of at least one step, not {self.strategy}, {self.walks}, {self.length}."
            )


@dataclass(frozen=True, eq=False)
class OrderedSteps:
    """The steps from every node, ordered by what they say: the names of the relation and of the node they lead to, then the direction.

    That order is the same however the graph is numbered, so that a triple more or less changes the walks that come past it and no other.
    """

    indptr: np.ndarray
    nodes: np.ndarray
    edges: np.ndarray
    forward: np.ndarray

    @classmethod
    def of(cls, graph: KnowledgeGraph, direction: str) -> OrderedSteps:
        """Those of a graph in a resolved direction; made once and kept on the graph."""
        return graph.derived.once("ordered steps", direction, lambda: _ordered(graph, direction))

    def at(self, node: int) -> slice:
        """Where the steps from a node stand."""
        return slice(int(self.indptr[node]), int(self.indptr[node + 1]))

    def has_steps(self) -> np.ndarray:
        """The nodes from which a step leads on, ascending."""
        return np.flatnonzero(np.diff(self.indptr))


def _ordered(graph: KnowledgeGraph, direction: str) -> OrderedSteps:
    edges = np.arange(graph.n_edges, dtype=np.int64)
    heads, relations, tails = graph.triples(edges)
    ways = [(heads, tails, True)] * (direction in ("out", "both")) + [(tails, heads, False)] * (
        direction in ("in", "both")
    )
    starts, ends, along = (
        np.concatenate(part)
        for part in zip(*((a, b, np.full(len(edges), way)) for a, b, way in ways))
    )
    every, said = np.tile(edges, len(ways)), np.tile(relations, len(ways))
    by_name = _ranks(graph.names(range(graph.n_nodes)))
    order = np.lexsort((every, ~along, by_name[ends], _ranks(graph.relation_names)[said], starts))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(starts, minlength=graph.n_nodes))])
    return OrderedSteps(indptr, ends[order], every[order], along[order])


@dataclass(frozen=True, eq=False)
class Doors:
    """The neighbours of every node in the order of their first step, and the steps to each: door `d` leads along the steps at
    `places[starts[d] : starts[d + 1]]`; node `n` has the doors from `indptr[n]` to `indptr[n + 1]`."""

    indptr: np.ndarray
    starts: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, graph: KnowledgeGraph, direction: str) -> Doors:
        """Those of a graph in a resolved direction; made once and kept on the graph."""
        return graph.derived.once(
            "doors of steps", direction, lambda: _doors(OrderedSteps.of(graph, direction))
        )


def _doors(steps: OrderedSteps) -> Doors:
    n_nodes = len(steps.indptr) - 1
    roots = np.repeat(np.arange(n_nodes), np.diff(steps.indptr))
    _, first, which = np.unique(
        roots * n_nodes + steps.nodes, return_index=True, return_inverse=True
    )
    order = np.argsort(first)  # by their first step, and so by node
    door = np.argsort(order)[which]
    counts = np.bincount(roots[np.sort(first)], minlength=n_nodes)
    starts = np.concatenate([[0], np.cumsum(np.bincount(door, minlength=len(first)))])
    return Doors(np.concatenate([[0], np.cumsum(counts)]), starts, np.argsort(door, kind="stable"))


def _ranks(names: Iterable[str]) -> np.ndarray:
    """The place of each name among them in alphabetical order."""
    names = list(names)
    ranks = np.empty(len(names), np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


def walks_from(graph: KnowledgeGraph, node: int, plan: WalkPlan) -> list[Path]:
    """The walks of a node, in the order in which they are drawn or reached; none where no step leads from it.

    >>> from core.graph.algorithms.walk_corpus import WalkPlan, walks_from
    >>> toy.texts(walks_from(toy, 0, WalkPlan("breadth-first", 0, 2, "out")))
    ['A -> r0 -> B', 'A -> r1 -> C', 'A -> r1 -> C -> r4 -> D']
    >>> toy.texts(walks_from(toy, 4, WalkPlan("random", 2, 1, "out")))  # from E only A is reached
    ['E -> r5 -> A', 'E -> r5 -> A']
    """
    return list(each_walk(graph, node, plan))


def each_walk(graph: KnowledgeGraph, node: int, plan: WalkPlan) -> Iterator[Path]:
    """The same walks, each made when it is asked for."""
    steps = OrderedSteps.of(graph, graph.resolve(plan.direction))
    if plan.strategy == "breadth-first":
        return _breadth_first(steps, node, plan)
    drawn = _random(
        steps,
        Doors.of(graph, graph.resolve(plan.direction)),
        node,
        _draws(graph.node_name(node), plan),
    )
    return _once(drawn) if plan.unique else drawn


def _once(walks: Iterable[Path]) -> Iterator[Path]:
    seen = set()
    for walk in walks:
        if walk not in seen:
            seen.add(walk)
            yield walk


def _draws(name: str, plan: WalkPlan) -> np.ndarray:
    """Two numbers in [0, 1) a step of each walk, known by the name of the node alone, float64 [walks, length, 2]."""
    digest = hashlib.blake2b(f"{plan.seed}\n{name}".encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little")).random(
        (plan.walks, plan.length, 2)
    )


def _random(steps: OrderedSteps, doors: Doors, root: int, draws: np.ndarray) -> Iterator[Path]:
    for chances in draws.tolist():
        nodes, edges, ways = [root], [], []
        for which, by in chances:
            first, after = doors.indptr[nodes[-1]], doors.indptr[nodes[-1] + 1]
            if first == after:
                break
            door = int(first) + int(which * int(after - first))
            start, end = int(doors.starts[door]), int(doors.starts[door + 1])
            place = doors.places[start + int(by * (end - start))]
            nodes.append(int(steps.nodes[place]))
            edges.append(int(steps.edges[place]))
            ways.append(bool(steps.forward[place]))
        if edges:
            yield Path(tuple(nodes), tuple(edges), tuple(ways))


def _breadth_first(steps: OrderedSteps, root: int, plan: WalkPlan) -> Iterator[Path]:
    most = plan.walks or len(steps.indptr)
    tree, layer = {root: Path((root,))}, [root]
    for _ in range(plan.length):
        following = []
        for node in layer:
            at, so_far = steps.at(node), tree[node]
            for place, neighbour in enumerate(steps.nodes[at].tolist(), at.start):
                if neighbour in tree:
                    continue
                edge, way = int(steps.edges[place]), bool(steps.forward[place])
                walk = Path(
                    (*so_far.nodes, neighbour), (*so_far.edges, edge), (*so_far.forward, way)
                )
                tree[neighbour] = walk
                yield walk
                following.append(neighbour)
                if len(tree) > most:
                    return
        layer = following
