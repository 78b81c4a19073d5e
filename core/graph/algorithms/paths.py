"""Paths from one node within a subgraph: shortest paths, or all simple paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.types import Path
from core.watch import NO_WATCH, Watch

# Number of paths after which a cancellation is checked for.
PATHS_PER_CHECK = 4096
LocalStep = tuple[int, int, bool]  # local neighbour, edge, forward
# Maps a node to its predecessors (one level less deep), and each of these to the parallel steps.
Predecessors = dict[int, dict[int, list[LocalStep]]]


def shortest_paths(
    local: LocalAdjacency,
    source: int,
    hops: int,
    every: bool = False,
    parallel: bool = True,
    cap: int | None = None,
    watch: Watch = NO_WATCH,
    ends: Iterable[int] | None = None,
) -> tuple[list[Path], bool]:
    """Return the shortest paths from `source` to the other nodes of the subgraph.

    By default each target has one sequence of nodes, through the predecessor that the breadth-first
    search finds first, as in igraph's “get_shortest_paths” (LEGO-GraphRAG SBR-SPR).

    Parameters
    ----------
    local : the subgraph.
    source : the graph's id of the start node; if it is not in the subgraph, there are no paths.
    hops : largest number of steps.
    every : return all shortest sequences of nodes to each target, not just one.
    parallel : if several edges connect two nodes, return a path for each; else for the first alone.
    cap : largest number of paths, the first in the order of the result; None for all.
    watch : may raise RunCancelled.
    ends : the graph's ids of the nodes to which paths are returned; None for all.

    Returns
    -------
    Paths in the graph's ids, ordered by (length, end, nodes, edges), and True if there were more
    than `cap`.

    >>> from core.graph.algorithms.local_adjacency import LocalAdjacency
    >>> from core.graph.algorithms.paths import shortest_paths
    >>> from core.types import Subgraph
    >>> paths, more = shortest_paths(LocalAdjacency(toy, Subgraph(np.arange(5), np.arange(7)), "out"), 1, 2)
    >>> toy.texts(paths)
    ['B -> r2 -> C', 'B -> r2 -> C -> r3 -> A', 'B -> r2 -> C -> r4 -> D']
    """
    start = local.local_id(source)
    if start < 0:
        return [], False
    depth, previous = _search_breadth_first(local, start, hops, every, parallel, watch)
    reached: Iterable[int] = previous
    if ends is not None:
        reached = previous.keys() & {local.local_id(node) for node in ends}
    targets = sorted(reached, key=lambda node: (depth[node], node))
    return _take_paths(_paths_to_targets(local, start, targets, previous, watch), cap, watch)


def simple_paths(
    local: LocalAdjacency, source: int, hops: int, cap: int | None, watch: Watch = NO_WATCH
) -> tuple[list[Path], bool]:
    """Return the paths from `source` that repeat no node, shortest first.

    Paths of one length are ordered by the path that they extend, then by edge, a forward step
    before a backward one. The longest paths are the ones that `cap` drops.

    Parameters
    ----------
    local : the subgraph.
    source : the graph's id of the start node; if it is not in the subgraph, there are no paths.
    hops : largest number of steps.
    cap : largest number of paths; None for all.
    watch : may raise RunCancelled.

    Returns
    -------
    The paths in the graph's ids, and True if there were more than `cap`.

    Notes
    -----
    This is EPR of LEGO-GraphRAG.

    Examples
    --------
    >>> from core.graph.algorithms.local_adjacency import LocalAdjacency
    >>> from core.graph.algorithms.paths import simple_paths
    >>> from core.types import Subgraph
    >>> paths, more = simple_paths(LocalAdjacency(toy, Subgraph(np.arange(5), np.arange(7)), "out"), 4, 2, 2)
    >>> toy.texts(paths), more  # E>A>C would be the third
    (['E -> r5 -> A', 'E -> r5 -> A -> r0 -> B'], True)
    """
    start = local.local_id(source)
    if start < 0:
        return [], False
    return _take_paths(_paths_by_length(local, start, hops), cap, watch)


def _take_paths(
    candidates: Iterator[Path], cap: int | None, watch: Watch = NO_WATCH
) -> tuple[list[Path], bool]:
    """Return at most `cap` of the paths, and True if there were more."""
    paths: list[Path] = []
    for path in candidates:
        if cap is not None and len(paths) >= cap:
            return paths, True
        paths.append(path)
        if len(paths) % PATHS_PER_CHECK == 0:
            watch.check()
    return paths, False


def _search_breadth_first(
    local: LocalAdjacency, start: int, hops: int, every: bool, parallel: bool, watch: Watch
) -> tuple[dict[int, int], Predecessors]:
    """Search from `start`, and return the depth of each node reached.

    The second result holds the predecessors of the nodes other than `start`.
    """
    depth, level = {start: 0}, [start]
    previous: Predecessors = {}
    for hop in range(1, hops + 1):
        watch.check()
        fresh = []
        for node in level:
            for step in local.step_lists[node]:
                neighbour = step[0]
                if neighbour not in depth:
                    depth[neighbour] = hop
                    previous[neighbour] = {node: [step]}
                    fresh.append(neighbour)
                elif depth[neighbour] == hop:
                    previous_steps = previous[neighbour]
                    if node not in previous_steps and every:
                        previous_steps[node] = [step]
                    elif node in previous_steps and parallel:
                        previous_steps[node].append(step)
        level = fresh
    return depth, previous


def _paths_to_targets(
    local: LocalAdjacency,
    start: int,
    targets: list[int],
    previous: Predecessors,
    watch: Watch = NO_WATCH,
) -> Iterator[Path]:
    """Yield the paths to each target, ordered by (nodes, edges).

    Only one path is in memory at a time.
    """
    names = local.nodes.tolist()
    for count, target in enumerate(targets):
        if count % 256 == 0:
            watch.check()
        node_sequence = _single_path(start, target, previous)
        if node_sequence:
            yield from _paths_along(names, node_sequence, previous)
            continue
        onward: dict[int, list[int]] = {}  # node -> next nodes on a path to the target
        stack = [target]
        while stack:
            neighbour = stack.pop()
            for node in previous.get(neighbour, ()):
                if node not in onward:
                    onward[node] = []
                    stack.append(node)
                onward[node].append(neighbour)
        for next_nodes in onward.values():
            next_nodes.sort()
        yield from _paths_between(names, start, target, onward, previous)


def _single_path(start: int, target: int, previous: Predecessors) -> list[int]:
    """Return the only sequence of nodes from start to target.

    The result is empty if there are several. Most targets have only one, which is found faster than
    by `_paths_between`.
    """
    trail = [target]
    while trail[-1] != start:
        parents = previous.get(trail[-1], {})
        if len(parents) != 1:
            return []
        trail += parents
    return trail[::-1] if len(trail) > 1 else []


def _paths_between(
    names: list[int], start: int, target: int, onward: dict[int, list[int]], previous: Predecessors
) -> Iterator[Path]:
    """Yield the paths from start to target along `onward`, ordered by (nodes, edges).

    `onward` maps each node to its next nodes. The search is depth-first without recursion.
    """
    trail, ahead = [start], [iter(onward[start])]
    while trail:
        node = next(ahead[-1], None)
        if node is None:
            trail.pop()
            ahead.pop()
        elif node == target:
            yield from _paths_along(names, [*trail, target], previous)
        else:
            trail.append(node)
            ahead.append(iter(onward[node]))


def _paths_along(names: list[int], local_ids: list[int], previous: Predecessors) -> Iterator[Path]:
    """Yield the paths along a sequence of nodes.

    There is one path for each choice of parallel steps.
    """
    nodes = tuple([names[local_id] for local_id in local_ids])
    for steps in product(*[previous[b][a] for a, b in zip(local_ids, local_ids[1:])]):
        yield Path(nodes, tuple([step[1] for step in steps]), tuple([step[2] for step in steps]))


def _paths_by_length(local: LocalAdjacency, start: int, hops: int) -> Iterator[Path]:
    """Yield simple paths by length.

    Only the paths of one length are in memory at a time.
    """
    names = local.nodes.tolist()
    level: list[tuple[tuple[int, ...], Path]] = [((start,), Path((names[start],)))]
    for hop in range(hops):
        longer: list[tuple[tuple[int, ...], Path]] = []
        for local_ids, path in level:
            for neighbour, edge, forward in local.step_lists[local_ids[-1]]:
                if neighbour not in local_ids:
                    new_path = path.extended(names[neighbour], edge, forward)
                    if hop + 1 < hops:
                        longer.append((local_ids + (neighbour,), new_path))
                    yield new_path
        level = longer
