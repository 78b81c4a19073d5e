"""Chains of the question's entities: DALK's path evidence."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.algorithms.expansion import joins
from core.graph.protocol import KnowledgeGraph
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.parameters import param
from core.types import Path, Ranking, State


@dataclass(frozen=True, repr=False)
class KhopPaths(Operator):
    """Paths that lead from a linked entity to the nearest other one, from there to the nearest that is left, and so on.

    DALK (in-depth analysis, subgraph operator KhopPath): each step along a shortest path of at most `hops` edges; where
    none is in reach a new chain begins with the next entity, and an entity that is joined with none is no path. Of equally near entities
    the one linked better comes first. The analysis' code searches 5 hops whatever is set and prints no path at all; here paths are paths.

    >>> line = "NamesInQuestion() >> LinkNames() >> KhopPaths()"
    >>> story.texts(retrieve(line, graph=story, question="Tim and Scrooge", models=scores({})).paths.items)
    ['Scrooge -> works for_reverse -> Cratchit -> son of_reverse -> Tim']
    """

    stage = "retrieve"
    title = "chains of the entities"
    plain = "finds chains of the entities up to {hops} hops"
    reads, writes = ("linked",), ("paths",)

    hops: int = param(5, "Hops", "The longest path between two entities.", low=1, high=8)
    direction: str = param("both", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.progress("Paths between the question's entities", None)
        waiting, chains = list(state.linked.items if state.linked else ()), []
        while waiting:
            chain = Path((waiting.pop(0),))
            while waiting:
                found = joins(
                    ctx.graph, (chain.end,), waiting, self.hops, self.direction, ctx.check
                )
                if not found:
                    break
                end = min(found, key=lambda node: (len(found[node]), waiting.index(node)))
                chain = _along(ctx.graph, chain, found[end], self.direction)
                waiting.remove(end)
            chains.append(chain)
        joined = tuple(chain for chain in chains if len(chain))
        recorder.notes.append(f"{len(joined)} chains join {len(state.linked or ())} entities.")
        return state.replace(paths=Ranking("path", joined))

    def words(self) -> str:
        return f"chains of the entities, {self.hops} hops"


def _along(graph: KnowledgeGraph, chain: Path, nodes: list[int], direction: str) -> Path:
    """The chain with the steps through these nodes, of which its end is the first; of parallel edges the first."""
    for node, target in zip(nodes, nodes[1:]):
        near, edges, forward = graph.steps(node, direction)
        place = next(i for i, one in enumerate(near.tolist()) if one == target)
        chain = chain.extended(target, int(edges[place]), bool(forward[place]))
    return chain
