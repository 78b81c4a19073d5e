"""Paths between the linked entities: DALK's path evidence."""

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
    path that is part of another one is merged with it. With `reading` "code", DALK's own, a path
    goes on from its end to the nearest entity that is left, as one chain, until none is in reach.

    An entity that is joined with none gives no path. Of equally near entities the better linked one
    comes first. The analysis' code always searches 5 hops and prints no path at all; here paths are
    returned.

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
        waiting = list(state.linked.items if state.linked else ())
        chains: list[Path] = []
        while waiting:
            chain = self._grow_chain(Path((waiting[0],)), waiting[1:], ctx)
            waiting = [node for node in waiting if node not in chain.nodes]
            if len(chain):
                chains.append(chain)
        paths = chains if self.reading == "code" else drop_contained_paths(chains)
        recorder.notes.append(f"{len(paths)} chains join {len(state.linked or ())} entities.")
        return state.replace(paths=Ranking("path", tuple(paths)))

    def _grow_chain(self, chain: Path, waiting: list[int], ctx: Context) -> Path:
        """Return the path from its start to the nearest waiting entity.

        In DALK's reading it goes on from one entity to the next.
        """
        while waiting:
            paths = connecting_paths(
                ctx.graph, (chain.end,), waiting, self.hops, self.direction, ctx.watch
            )
            if not paths:
                break
            nearness = {node: (len(paths[node]), waiting.index(node)) for node in paths}
            end = min(paths, key=nearness.__getitem__)
            chain = _extend_chain(ctx.graph, chain, paths[end], self.direction)
            waiting = [node for node in waiting if node not in chain.nodes]
            if self.reading == "paper":
                break
        return chain

    def words(self) -> str:
        return f"chains of the entities, {self.hops} hops"


def drop_contained_paths(paths: Sequence[Path]) -> list[Path]:
    """Return the paths that are no part of another one, in either direction.

    >>> from core.operators.texts.khop import drop_contained_paths
    >>> from core.types import Path
    >>> one, two = Path((1, 2, 3), (0, 1), (True, True)), Path((1, 2, 3, 4), (0, 1, 2), (True,) * 3)
    >>> drop_contained_paths([one, two]) == [two]
    True
    """
    return [
        path
        for index, path in enumerate(paths)
        if not any(
            _is_subpath(path.nodes, other.nodes) and (len(other) > len(path) or other_index < index)
            for other_index, other in enumerate(paths)
            if other_index != index
        )
    ]


def _is_subpath(part: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Return whether one path runs along another, forwards or backwards."""
    runs = [whole[start : start + len(part)] for start in range(len(whole) - len(part) + 1)]
    return part in runs or part[::-1] in runs


def _extend_chain(graph: KnowledgeGraph, chain: Path, nodes: list[int], direction: str) -> Path:
    """Return the chain extended through these nodes.

    The first of them is the end of the chain. Of parallel edges the first is taken.
    """
    for node, target in zip(nodes, nodes[1:]):
        neighbours, edges, forward = graph.steps(node, direction)
        index = next(i for i, one in enumerate(neighbours.tolist()) if one == target)
        chain = chain.extended(target, int(edges[index]), bool(forward[index]))
    return chain
