"""Paths between the linked entities: DALK's path evidence.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.graph.algorithms.expansion import connecting_paths
from core.graph.protocol import KnowledgeGraph
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.parameters import param
from core.types import Path, Ranking, State


@dataclass(frozen=True, repr=False)
class KhopPaths(Operator):
    """Shortest paths between linked entities, each from an entity to the nearest other one.

    A path has at most `hops` edges. In-depth analysis, section 6.1, subgraph operator KhopPath:
    once a path is found, its entities are removed, and the next one is sought among the rest. A
    path that is part of another one is left out. With `reading` "code", DALK's own, a path goes on
    from its end to the nearest remaining entity, as one chain, until none is within `hops`.

    An entity that is near no other one gives no path. Of equally near entities the one with the
    better link to the question's names is taken. The analysis' code always searches 5 hops and
    prints no path; this operator returns the paths.

    >>> line = "NamesInQuestion() >> LinkNames() >> KhopPaths()"
    >>> story.texts(
    ...     retrieve(line, graph=story, question="Tim and Scrooge", models=scores({})).paths.items
    ... )
    ['Scrooge -> works for_reverse -> Cratchit -> son of_reverse -> Tim']
    """

    stage = "retrieve"
    title = "chains of the entities"
    plain = "finds chains of the entities up to {hops} hops"
    reads, writes = ("linked",), ("paths",)

    hops: int = param(5, "Hops", "The longest path between two entities.", low=1, high=8)
    direction: str = param("both", "Direction", DIRECTION_HELP, choices=DIRECTIONS)
    reading: str = param(
        "paper",
        "Reading",
        "paper: a path between two entities; code: it goes on to the next one, as in DALK's.",
        choices=("paper", "code"),
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.watch.report("Paths between the question's entities")
        remaining = list(state.linked.items if state.linked else ())
        chains: list[Path] = []
        while remaining:
            chain = self._grow_chain(Path((remaining[0],)), remaining[1:], ctx)
            remaining = [node for node in remaining if node not in chain.nodes]
            if len(chain):
                chains.append(chain)
        paths = chains if self.reading == "code" else drop_contained_paths(chains)
        recorder.notes.append(f"{len(paths)} chains join {len(state.linked or ())} entities.")
        return state.replace(paths=Ranking("path", tuple(paths)))

    def _grow_chain(self, chain: Path, remaining: list[int], ctx: Context) -> Path:
        """Return the chain extended to the nearest remaining entity.

        With `reading` "code" it is extended further, from one entity to the next, until none is
        within `hops`. A chain that cannot be extended is returned unchanged.
        """
        while remaining:
            paths = connecting_paths(
                ctx.graph, (chain.end,), remaining, self.hops, self.direction, ctx.watch
            )
            if not paths:
                break
            # of equally near entities the better linked one, which comes first in `remaining`
            end = min(paths, key=lambda node: (len(paths[node]), remaining.index(node)))
            chain = extend_path(ctx.graph, chain, paths[end], self.direction)
            remaining = [node for node in remaining if node not in chain.nodes]
            if self.reading == "paper":
                break
        return chain

    def words(self) -> str:
        return f"chains of the entities, {self.hops} hops"


def drop_contained_paths(paths: Sequence[Path]) -> list[Path]:
    """Return the paths whose nodes are no part of another path, in either direction.

    Of paths with the same nodes only the first is returned.

    >>> from core.operators.texts.khop import drop_contained_paths
    >>> from core.types import Path
    >>> short = Path((1, 2, 3), (0, 1), (True, True))
    >>> long = Path((1, 2, 3, 4), (0, 1, 2), (True,) * 3)
    >>> drop_contained_paths([short, long]) == [long]
    True
    """
    remaining = []
    for index, path in enumerate(paths):
        others = [other for i, other in enumerate(paths) if i < index or len(other) > len(path)]
        if not any(_is_subpath(path.nodes, other.nodes) for other in others):
            remaining.append(path)
    return remaining


def _is_subpath(part: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Return whether the nodes `part` are a section of `whole`, forwards or backwards."""
    starts = range(len(whole) - len(part) + 1)
    return any(whole[i : i + len(part)] in (part, part[::-1]) for i in starts)


def extend_path(graph: KnowledgeGraph, path: Path, nodes: Sequence[int], direction: str) -> Path:
    """Return the path extended along `nodes`, by the first of parallel edges.

    `nodes` begins with the end of the path.
    """
    for node, next_node in zip(nodes, nodes[1:]):
        neighbours, edges, forward = graph.steps(node, direction)
        index = neighbours.tolist().index(next_node)
        path = path.extended(next_node, int(edges[index]), bool(forward[index]))
    return path
