"""PathRAG: paths between the retrieved nodes, ranked by the flow along their edges."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from core.graph.algorithms.simple_graph import SimpleGraph, simple_graph
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import best_names
from core.operators.texts.khop import extend_path
from core.operators.texts.merge import score_by_position
from core.parameters import param
from core.types import Path, Ranking, State

Walk = tuple[int, ...]  # the nodes of a path


@dataclass(frozen=True, repr=False)
class PairPaths(Operator):
    """The nodes on the best paths between the retrieved nodes, then the other nodes.

    PathRAG considers, for each ordered pair of nodes, every simple path of at most 3 edges. The
    first node divides a flow of 1 equally among its next nodes on these paths. A node that more
    than `theta` reaches passes on `alpha` of it, divided again. The flows of an edge that is
    reached several times are added. The weight of a path is the mean flow of its edges.

    Of paths with the same nodes only the best is considered, and the best `paths` are returned. At
    most `pairs` of the retrieved nodes are paired. Instead of the original's exhaustive search the
    neighbours of both nodes are joined, which gives the same weights.

    >>> line = "SparseNodes(keep=2) >> PairPaths()"
    >>> # joined over Scrooge and Cratchit, with 1, 0.8 and 0.64 along the path
    >>> state = retrieve(line, graph=story, question="Marley and Tim", models=scores({}))
    >>> story.names(state.nodes.items), state.paths.scores
    (['Marley', 'Scrooge', 'Cratchit', 'Tim'], (0.813333,))
    """

    stage = "retrieve"
    title = "nodes on paths between those found"
    plain = "takes {paths} paths between them"
    reads, writes = ("nodes",), ("nodes", "paths")

    paths: int = param(15, "Paths", "How many paths are kept.", low=1, high=10_000)
    pairs: int = param(
        40,
        "Nodes paired",
        "How many of the nodes found, the best first, are paired.",
        low=2,
        high=1000,
    )
    alpha: float = param(
        0.8, "Handed on (alpha)", "How much of what reaches a node flows on.", low=0, high=1
    )
    theta: float = param(
        0.3,
        "Least flow (theta)",
        "What an edge must carry for more than this to flow on behind it.",
        low=0,
        high=1,
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        nodes = state.nodes.items if state.nodes else ()
        links = simple_graph(ctx.graph)
        ctx.watch.report("Paths between the nodes found")
        best_walks: dict[frozenset[int], tuple[float, Walk]] = {}
        for source, target in permutations(nodes[: self.pairs], 2):
            ctx.watch.check()
            for weight, walk in weighted_paths(links, source, target, self.alpha, self.theta):
                previous = best_walks.get(frozenset(walk))
                # the larger weight; of equal weights the smaller node ids
                if previous is None or (-weight, walk) < (-previous[0], previous[1]):
                    best_walks[frozenset(walk)] = (weight, walk)
        selected = sorted(best_walks.values(), key=lambda pair: (-pair[0], pair[1]))[: self.paths]
        weights = tuple(weight for weight, _ in selected)
        walks = [walk for _, walk in selected]
        node_ranking = score_by_position("node", itertools.chain(*walks, nodes))
        recorder.notes.append(
            f"{len(selected)} of {len(best_walks):,} paths; the first nodes: "
            f"{best_names(ctx.graph, node_ranking) or 'none'}."
        )
        paths = tuple(_path_along(ctx.graph, walk) for walk in walks)
        return state.replace(nodes=node_ranking, paths=Ranking("path", paths, weights))

    def words(self) -> str:
        return f"{self.paths} paths between them"


def weighted_paths(
    links: SimpleGraph, source: int, target: int, alpha: float, theta: float
) -> list[tuple[float, Walk]]:
    """Return the simple paths between two nodes, with their weights.

    Paths have at most 3 edges. Each comes after its weight. `PairPaths` defines the weight. It is
    rounded to six digits.

    >>> from core.graph.algorithms.simple_graph import simple_graph
    >>> from core.operators.nodes.pair_paths import weighted_paths
    >>> # B - C - D and B - A - C - D share the 1 of B; C - D carries 0.32 over A and 0.4
    >>> weighted_paths(simple_graph(toy), 1, 3, 0.8, 0.3)
    [(0.54, (1, 0, 2, 3)), (0.61, (1, 2, 3))]
    """
    walks = list(simple_paths_between(links, source, target))
    flows = edge_flows(walks, source, target, alpha, theta)
    weighted = []
    for walk in walks:
        total = sum(flows.get(edge, 0.0) for edge in zip(walk, walk[1:]))
        weighted.append((round(total / (len(walk) - 1), 6), walk))
    return weighted


def simple_paths_between(links: SimpleGraph, source: int, target: int) -> Iterator[Walk]:
    """Yield every simple path of at most 3 edges between two nodes.

    The order is fixed. A path of 3 edges joins a neighbour of the source with a neighbour of the
    target.
    """
    source_neighbours = links.neighbours(source).tolist()
    target_neighbours = set(links.neighbours(target).tolist())
    for first_node in source_neighbours:
        if first_node == target:
            yield (source, target)
            continue
        for second_node in links.neighbours(first_node).tolist():
            if second_node in target_neighbours and second_node != source and second_node != target:
                yield (source, first_node, second_node, target)
        if first_node in target_neighbours:
            yield (source, first_node, target)


def edge_flows(
    walks: Sequence[Walk], source: int, target: int, alpha: float, theta: float
) -> dict[tuple[int, int], float]:
    """Return the flow along each edge of some paths.

    An edge is (node, next node). The flow follows the rule of `PairPaths`. A flow of 1 starts at
    the source and goes at most three edges far. The target passes nothing on.
    """
    next_nodes: dict[int, set[int]] = {}
    for walk in walks:
        for node, next_node in zip(walk, walk[1:]):
            next_nodes.setdefault(node, set()).add(next_node)
    flows: dict[tuple[int, int], float] = {}

    def pass_on(node: int, amount: float, steps_left: int) -> None:
        for next_node in sorted(next_nodes.get(node, ())):
            edge = (node, next_node)
            flows[edge] = flows.get(edge, 0.0) + amount / len(next_nodes[node])
            if next_node != target and steps_left > 1 and flows[edge] > theta:
                pass_on(next_node, flows[edge] * alpha, steps_left - 1)

    pass_on(source, 1.0, 3)
    return flows


def _path_along(graph, walk: Walk) -> Path:
    """Return the path along some nodes, by the first of parallel edges."""
    return extend_path(graph, Path((walk[0],)), walk, "both")
