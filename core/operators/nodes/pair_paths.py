"""PathRAG: paths between the retrieved nodes, ranked by a flow along them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from core.graph.algorithms.simple_graph import SimpleGraph, simple_graph
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import best_names
from core.parameters import param
from core.types import Path, Ranking, State

Walk = tuple[int, ...]
Follow = dict[int, list[int]]


@dataclass(frozen=True, repr=False)
class PairPaths(Operator):
    """The nodes on the best paths between the retrieved nodes, then the other nodes.

    PathRAG considers, for each ordered pair of nodes, every simple path of at most 3 edges. The
    first node shares a resource of 1 among its next nodes on these paths. Each further step passes
    on `alpha` of what reached it, shared again, as long as more than `theta` arrived. An edge
    reached twice carries the sum. The weight of a path is the mean over its edges.

    Of paths with the same nodes the best counts once, and `paths` are kept. At most `pairs` of the
    retrieved nodes are paired. The exhaustive search of the original is replaced by one that meets
    in the middle, with the same weights.

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
        nodes, links = state.nodes.items if state.nodes else (), simple_graph(ctx.graph)
        ctx.watch.report("Paths between the nodes found")
        best_walks: dict[frozenset[int], tuple[float, Walk]] = {}
        for source, target in permutations(nodes[: self.pairs], 2):
            ctx.watch.check()
            for weight, walk in weighted_paths(links, source, target, self.alpha, self.theta):
                previous = best_walks.get(frozenset(walk))
                if previous is None or (-weight, walk) < (-previous[0], previous[1]):
                    best_walks[frozenset(walk)] = (weight, walk)
        selected = sorted(best_walks.values(), key=lambda one: (-one[0], one[1]))[: self.paths]
        order = dict.fromkeys([node for _, walk in selected for node in walk] + list(nodes))
        scores = tuple(1.0 / rank for rank in range(1, len(order) + 1))
        node_ranking = Ranking("node", tuple(order), scores)
        recorder.notes.append(
            f"{len(selected)} of {len(best_walks):,} paths; the first nodes: "
            f"{best_names(ctx.graph, node_ranking) or 'none'}."
        )
        paths = tuple(_path_along(ctx.graph, walk) for _, walk in selected)
        return state.replace(
            nodes=node_ranking,
            paths=Ranking("path", paths, tuple(weight for weight, _ in selected)),
        )

    def words(self) -> str:
        return f"{self.paths} paths between them"


def weighted_paths(
    links: SimpleGraph, source: int, target: int, alpha: float, theta: float
) -> list[tuple[float, Walk]]:
    """Return the weighted simple paths of at most 3 edges between two nodes.

    Weights are rounded to six digits.

    >>> from core.graph.algorithms.simple_graph import simple_graph
    >>> from core.operators.nodes.pair_paths import weighted_paths
    >>> # B - C - D and B - A - C - D share the 1 of B; C - D carries 0.32 over A and 0.4
    >>> weighted_paths(simple_graph(toy), 1, 3, 0.8, 0.3)
    [(0.54, (1, 0, 2, 3)), (0.61, (1, 2, 3))]
    """
    walks = list(simple_paths_between(links, source, target))
    weights = edge_flows(walks, source, target, alpha, theta)
    mean = lambda walk: round(
        sum(weights.get(edge, 0.0) for edge in zip(walk, walk[1:])) / (len(walk) - 1), 6
    )
    return [(mean(walk), walk) for walk in walks]


def simple_paths_between(links: SimpleGraph, source: int, target: int) -> Iterator[Walk]:
    """Yield every simple path of at most 3 edges between two nodes, ascending.

    The neighbours of both nodes meet in the middle.
    """
    ahead = links.of(source).tolist()
    behind = set(links.of(target).tolist())
    for first_node in ahead:
        if first_node == target:
            yield (source, target)
            continue
        for second_node in links.of(first_node).tolist():
            if second_node in behind and second_node != source and second_node != target:
                yield (source, first_node, second_node, target)
        if first_node in behind:
            yield (source, first_node, target)


def edge_flows(
    walks: Sequence[Walk], source: int, target: int, alpha: float, theta: float
) -> dict[tuple[int, int], float]:
    """Return the flow along each edge of some paths, up to three steps.

    Nothing flows on from the target.
    """
    follow: Follow = {}
    for walk in walks:
        for node, after in zip(walk, walk[1:]):
            if after not in follow.setdefault(node, []):
                follow[node].append(after)
    flows: dict[tuple[int, int], float] = {}

    def on(node: int, amount: float, steps: int) -> None:
        for after in sorted(follow.get(node, ())):
            edge = (node, after)
            flows[edge] = flows.get(edge, 0.0) + amount / len(follow[node])
            if after != target and steps > 1 and flows[edge] > theta:
                on(after, flows[edge] * alpha, steps - 1)

    on(source, 1.0, 3)
    return flows


def _path_along(graph, walk: Walk) -> Path:
    """Return the path along some nodes; of parallel edges the first is taken."""
    path = Path((walk[0],))
    step: Callable[[int, int], tuple[int, bool]] = lambda node, target: next(
        (int(edge), bool(ahead))
        for neighbour, edge, ahead in zip(*graph.steps(node, "both"))
        if neighbour == target
    )
    for node, target in zip(walk, walk[1:]):
        path = path.extended(target, *step(node, target))
    return path
