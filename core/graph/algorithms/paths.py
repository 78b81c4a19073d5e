"""Paths from one node inside a subgraph: the shortest to every other node, or all that repeat no node."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from core.graph.algorithms.local import Local
from core.types import Path
from core.watch import NO_WATCH, Watch

CHECK_EVERY = 4096
Step = tuple[int, int, bool]  # local neighbour, edge, forward
# node -> each node one less deep that leads to it -> the parallel steps
Before = dict[int, dict[int, list[Step]]]


def shortest_paths(
    local: Local,
    source: int,
    hops: int,
    every: bool = False,
    parallel: bool = True,
    cap: int | None = None,
    watch: Watch = NO_WATCH,
) -> tuple[list[Path], bool]:
    """The shortest paths of at most `hops` steps from `source` (a node of the graph) to the other nodes of the subgraph.

    Along one sequence of nodes to each target, that of the last but one node found first, as igraph's `get_shortest_paths`
    has one (LEGO-GraphRAG SBR-SPR); with `every`, along all of them. With `parallel`, each edge between two nodes of a sequence
    makes a path of its own, else the first alone. Ordered by (length, end, nodes, edges), in the graph's ids. At most `cap`
    paths, the first in that order; the second value says whether there were more. The path of no steps is left out; a source
    outside has no paths.

    >>> from core.graph.algorithms.local import Local
    >>> from core.graph.algorithms.paths import shortest_paths
    >>> from core.types import Subgraph
    >>> paths, more = shortest_paths(Local(toy, Subgraph(np.arange(5), np.arange(7)), "out"), 1, 2)
    >>> toy.texts(paths)
    ['B -> r2 -> C', 'B -> r2 -> C -> r3 -> A', 'B -> r2 -> C -> r4 -> D']
    """
    start = local.place(source)
    if start < 0:
        return [], False
    depth, before = _search(local, start, hops, every, parallel, watch)
    return _capped(
        _to_each(local, start, sorted(before, key=lambda node: (depth[node], node)), before, watch),
        cap,
        watch,
    )


def simple_paths(
    local: Local, source: int, hops: int, cap: int | None, watch: Watch = NO_WATCH
) -> tuple[list[Path], bool]:
    """All paths of 1 to `hops` steps from `source` that repeat no node (LEGO-GraphRAG EPR), shortest first.

    Within a length, by the place of the path that is extended, then (edge, forward first). At most `cap` paths, so that
    a cap keeps the shortest and bounds the memory; the second value says whether there were more. In the graph's ids.

    >>> from core.graph.algorithms.local import Local
    >>> from core.graph.algorithms.paths import simple_paths
    >>> from core.types import Subgraph
    >>> paths, more = simple_paths(Local(toy, Subgraph(np.arange(5), np.arange(7)), "out"), 4, 2, 2)
    >>> toy.texts(paths), more  # E>A>C is over the cap
    (['E -> r5 -> A', 'E -> r5 -> A -> r0 -> B'], True)
    """
    start = local.place(source)
    return ([], False) if start < 0 else _capped(_breadth(local, start, hops), cap, watch)


def _capped(
    found: Iterator[Path], cap: int | None, watch: Watch = NO_WATCH
) -> tuple[list[Path], bool]:
    paths: list[Path] = []
    for path in found:
        if cap is not None and len(paths) >= cap:
            return paths, True
        paths.append(path)
        if len(paths) % CHECK_EVERY == 0:
            watch.check()
    return paths, False


def _search(
    local: Local,
    start: int,
    hops: int,
    every: bool,
    parallel: bool,
    watch: Watch = NO_WATCH,
) -> tuple[dict[int, int], Before]:
    """Breadth-first: the depth of each reached node, and what leads to each but the start."""
    depth, level = {start: 0}, [start]
    before: Before = {}
    for hop in range(1, hops + 1):
        watch.check()
        fresh = []
        for node in level:
            for step in local.lists[node]:
                near = step[0]
                if near not in depth:
                    depth[near], before[near] = hop, {node: [step]}
                    fresh.append(near)
                elif depth[near] == hop:
                    known = before[near]
                    if node not in known and every:
                        known[node] = [step]
                    elif node in known and parallel:
                        known[node].append(step)
        level = fresh
    return depth, before


def _to_each(
    local: Local, start: int, targets: list[int], before: Before, watch: Watch = NO_WATCH
) -> Iterator[Path]:
    """The paths that `before` holds, target by target, each by (nodes, edges); nothing is held but the path in hand."""
    names = local.nodes.tolist()
    for count, target in enumerate(targets):
        if count % 256 == 0:
            watch.check()
        back = _only_way(start, target, before)
        if back:
            yield from _along(names, back, before)
            continue
        onward: dict[int, list[int]] = {}  # node -> the next nodes on a way to the target
        stack = [target]
        while stack:
            near = stack.pop()
            for node in before.get(near, ()):
                if node not in onward:
                    onward[node] = []
                    stack.append(node)
                onward[node].append(near)
        yield from _between(
            names, start, target, {node: sorted(ahead) for node, ahead in onward.items()}, before
        )


def _only_way(start: int, target: int, before: Before) -> list[int]:
    """The nodes from start to target where one sequence of them alone leads there, as to most targets; else none."""
    back = [target]
    while back[-1] != start:
        ways = before.get(back[-1], {})
        if len(ways) != 1:
            return []
        back += ways
    return back[::-1] if len(back) > 1 else []


def _between(
    names: list[int], start: int, target: int, onward: dict[int, list[int]], before: Before
) -> Iterator[Path]:
    """The paths from start to target along `onward`, by nodes, then edges: depth first without recursion."""
    trail, ahead = [start], [iter(onward[start])]
    while trail:
        node = next(ahead[-1], None)
        if node is None:
            trail.pop()
            ahead.pop()
        elif node == target:
            yield from _along(names, [*trail, target], before)
        else:
            trail.append(node)
            ahead.append(iter(onward[node]))


def _along(names: list[int], places: list[int], before: Before) -> Iterator[Path]:
    """The paths along a sequence of nodes, one for each choice of parallel steps."""
    nodes = tuple([names[place] for place in places])
    for steps in product(*[before[b][a] for a, b in zip(places, places[1:])]):
        yield Path(nodes, tuple([step[1] for step in steps]), tuple([step[2] for step in steps]))


def _breadth(local: Local, start: int, hops: int) -> Iterator[Path]:
    """Simple paths by length; holds the paths of one length, which were all handed out before."""
    names = local.nodes.tolist()
    level: list[tuple[tuple[int, ...], Path]] = [((start,), Path((names[start],)))]
    for hop in range(hops):
        longer: list[tuple[tuple[int, ...], Path]] = []
        for places, path in level:
            for near, edge, forward in local.lists[places[-1]]:
                if near not in places:
                    extended = path.extended(names[near], edge, forward)
                    if hop + 1 < hops:
                        longer.append((places + (near,), extended))
                    yield extended
        level = longer
