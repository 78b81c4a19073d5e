"""Path retrieval by structure: shortest or simple paths inside the subgraph."""

from __future__ import annotations

from dataclasses import dataclass

from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.algorithms.paths import shortest_paths, simple_paths
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.parameters import param
from core.types import Path, Ranking, State

CAP_HELP = (
    "At most so many paths are kept, the shortest first; the trace says when the cap was reached."
)


def paths_from_seeds(
    search, state: State, ctx: Context, direction: str, cap: int, recorder: Recorder
) -> Ranking:
    """Return the paths from all seeds, without repeats, by (length, seed, nodes, edges).

    Parameters
    ----------
    search : `search(local, seed, cap)` returns at most `cap` paths from one seed in the subgraph
        `local`, and True if there are more.
    direction : the direction in which edges are followed.
    cap : the largest number of paths, from one seed and from all.
    """
    assert state.subgraph is not None
    local = LocalAdjacency(ctx.graph, state.subgraph, direction)
    seed_paths: list[tuple[int, Path]] = []  # each with the position of its seed
    n_dropped = 0  # paths found beyond the cap
    for seed_index, seed in enumerate(dict.fromkeys(state.seeds)):
        ctx.watch.check()
        if seed not in state.subgraph:
            continue
        paths, capped = search(local, seed, cap)
        seed_paths += [(seed_index, path) for path in paths]
        if capped:
            recorder.notes.append(
                f"Stopped at {cap:,} paths from “{ctx.graph.node_name(seed)}”; there are more."
            )
        # cut after each seed, so that no more than 2 * cap paths are in memory
        seed_paths.sort(key=_path_order)
        n_dropped += len(seed_paths[cap:])
        del seed_paths[cap:]
    if n_dropped:
        recorder.notes.append(
            f"Of {cap + n_dropped:,} paths from all entities the first {cap:,} were kept, the "
            "shortest first."
        )
    return Ranking("path", tuple(path for _, path in seed_paths))


def _path_order(pair: tuple[int, Path]) -> tuple:
    """Return the sort key of a path: (length, index of its seed, nodes, edges, forward)."""
    seed_index, path = pair
    return len(path), seed_index, path.nodes, path.edges, path.forward


@dataclass(frozen=True, repr=False)
class ShortestPaths(Operator):
    """Shortest paths from each seed to every subgraph node within `hops` steps.

    By default one sequence of entities leads to each node, as in LEGO-GraphRAG's code (SBR-SPR;
    igraph gives one). With `every` all sequences of the same length are returned, as in its paper
    v1 (section 4.1: "all shortest paths"; `lego-v1-16-paper`).

    A path is a sequence of triples (LEGO-GraphRAG v1, definition 2.3). With `parallel`, each
    relation that joins two of its entities therefore makes a separate path. The papers' code has
    only the path with the edge that igraph's “get_eid” returns. Paths are ordered by (length, seed,
    nodes, edges) and not ranked. The path of length zero to the seed itself, which the papers' code
    also prints, is left out.

    >>> answers("EgoNetwork(direction='out') >> ShortestPaths(direction='out')", "A")
    ['A -> r0 -> B', 'A -> r1 -> C', 'A -> r1 -> C -> r4 -> D']
    """

    stage = "retrieve"
    title = "shortest paths"
    plain = "finds the shortest paths"
    reads, writes = ("seeds", "subgraph"), ("paths",)

    hops: int = param(4, "Hops", "Longest path.", low=1, high=8)
    every: bool = param(False, "All shortest", "Keep all that tie instead of one a target.")
    parallel: bool = param(
        True,
        "Parallel relations",
        "Each relation that joins two entities of a path gives a path; else only the first.",
    )
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)
    cap: int = param(100_000, "Cap", CAP_HELP, low=1, high=1_000_000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.watch.report("Shortest paths")

        def search(local, seed, cap):
            return shortest_paths(local, seed, self.hops, self.every, self.parallel, cap, ctx.watch)

        return state.replace(
            paths=paths_from_seeds(search, state, ctx, self.direction, self.cap, recorder)
        )

    def words(self) -> str:
        return "all shortest paths" if self.every else "shortest paths"


@dataclass(frozen=True, repr=False)
class SimplePaths(Operator):
    """All paths of at most `hops` steps from each seed without repeated nodes.

    These are the "complete paths" of LEGO-GraphRAG v1.

    >>> answers("EgoNetwork() >> SimplePaths(hops=2, direction='out')", "B")
    ['B -> r2 -> C', 'B -> r2 -> C -> r3 -> A', 'B -> r2 -> C -> r4 -> D']
    """

    stage = "retrieve"
    title = "complete paths"
    plain = "finds all paths up to {hops} hops"
    reads, writes = ("seeds", "subgraph"), ("paths",)

    hops: int = param(3, "Hops", "Longest path.", low=1, high=8)
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)
    cap: int = param(10_000, "Cap", CAP_HELP, low=1, high=1_000_000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.watch.report("Complete paths")

        def search(local, seed, cap):
            return simple_paths(local, seed, self.hops, cap, watch=ctx.watch)

        return state.replace(
            paths=paths_from_seeds(search, state, ctx, self.direction, self.cap, recorder)
        )

    def words(self) -> str:
        return f"complete paths up to {self.hops} hops"
