"""Relation chains (relation paths) from seeds, and the ends of their walks.

A step is coded as one number: `2 * relation` from head to tail, `2 * relation + 1` from tail to
head. The code of the reverse step is therefore `code ^ 1`. A chain is a tuple of step codes. All
walks along a chain are followed together, as a `WalkFront`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.graph.algorithms.neighbourhood import seed_array
from core.graph.protocol import KnowledgeGraph
from core.types import Path
from core.watch import NO_WATCH, Watch

Chain = tuple[int, ...]
# Largest number of pairs of a front from which `best_chains` extends a chain.
BEST_CHAIN_PAIRS = 2_000
# Largest number of edges that `chains_from` follows for one step of a chain, if it samples and the
# graph has more than `MAX_FRONT_STEPS` steps.
SAMPLED_CHAIN_STEPS = 10_000
# Largest number of pairs of a front, and of edges that are followed from it. No question of the
# shipped question sets comes near these bounds.
MAX_FRONT_PAIRS = 1_000_000
MAX_FRONT_STEPS = 4_000_000


def chain_of(graph: KnowledgeGraph, path: Path) -> Chain:
    """Return the chain of relations along a path.

    Parameters
    ----------
    path : a path of the graph.

    Returns
    -------
    One step code for each step.

    Examples
    --------
    >>> from core.graph.algorithms.chains import chain_of
    >>> from core.types import Path
    >>> chain_of(toy, Path((0, 2, 1), (1, 2), (True, False)))  # along r1, against r2
    (2, 5)
    """
    relations = graph.triples(np.array(path.edges, np.int64))[1].tolist()
    return tuple(2 * relation + (not forward) for relation, forward in zip(relations, path.forward))


def chain_groups(graph: KnowledgeGraph, paths: Sequence[Path]) -> np.ndarray:
    """Number the paths by chain and start node.

    Paths with the same chain and start have the same number.

    Parameters
    ----------
    paths : paths of the graph, n.

    Returns
    -------
    int64 [n]. Numbers begin at 0, in no particular order.

    Examples
    --------
    >>> from core.graph.algorithms.chains import chain_groups
    >>> from core.types import Path
    >>> out = Path((0, 2), (1,), (True,))  # along r1
    >>> back = Path((2, 0), (1,), (False,))  # against r1
    >>> chain_groups(toy, [out, back, out]).tolist()
    [1, 0, 1]
    """
    lengths = np.array([len(path) for path in paths], np.int64)
    inside = np.arange(lengths.max(initial=0)) < lengths[:, None]
    edges = np.fromiter((edge for path in paths for edge in path.edges), np.int64)
    forward = np.fromiter((is_forward for path in paths for is_forward in path.forward), bool)
    rows = np.full((len(paths), inside.shape[1] + 1), -1, np.int64)
    rows[:, 0] = [-1 - path.start for path in paths]
    rows[:, 1:][inside] = 2 * graph.triples(edges)[1] + ~forward
    return np.unique(rows, axis=0, return_inverse=True)[1].ravel()


def chain_name(graph: KnowledgeGraph, chain: Chain) -> str:
    """Return a chain as relation names, such as `directed_by_reverse -> has_genre`.

    A step from tail to head has the suffix `_reverse`, as in path texts.

    Parameters
    ----------
    chain : step codes.

    Returns
    -------
    The relation names, joined by arrows.

    Examples
    --------
    >>> from core.graph.algorithms.chains import chain_name
    >>> chain_name(toy, (2, 5))
    'r1 -> r2_reverse'
    """
    return " -> ".join(
        graph.relation_names[code >> 1] + ("_reverse" if code & 1 else "") for code in chain
    )


@dataclass(frozen=True, eq=False)
class WalkFront:
    """Ends of all walks along a chain.

    They are stored as distinct pairs of the last two nodes. The pairs (`previous_nodes`, `nodes`)
    are in ascending order. Before the first step, the previous node is -1. `walk_counts` is the
    number of walks that end with each pair. `previous_front` is the front before the last step,
    None before the first step. Of the walks to a pair, one is kept, the first: `origin_rows` is the
    position of its previous pair in `previous_front`, and `edges` is the edge that it took. `code`
    is the code of the last step.
    """

    previous_nodes: np.ndarray  # int64 [n]
    nodes: np.ndarray  # int64 [n]
    walk_counts: np.ndarray  # float64 [n]
    origin_rows: np.ndarray  # int64 [n]
    edges: np.ndarray  # int64 [n]
    previous_front: WalkFront | None = None
    code: int = -1
    is_cut: bool = False  # True if not all walks were followed

    def __len__(self) -> int:
        return len(self.nodes)

    def ends(self, seeds: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return the end nodes and the number of walks to each.

        The end nodes are ascending and without the seeds.
        """
        nodes, inverse = np.unique(self.nodes, return_inverse=True)
        walks = np.bincount(inverse, self.walk_counts, minlength=len(nodes))
        retained = ~np.isin(nodes, np.fromiter(seeds, np.int64))
        return nodes[retained], walks[retained]

    def paths(self, end_nodes: Sequence[int] | np.ndarray) -> list[Path]:
        """Return the first walk to each of these nodes.

        They must be ends of the front.
        """
        nodes, first = np.unique(self.nodes, return_index=True)
        return [
            self._walk_to(int(index))
            for index in first[np.searchsorted(nodes, np.asarray(end_nodes, np.int64))]
        ]

    def _walk_to(self, index: int) -> Path:
        """Return the first walk to the pair at a position."""
        nodes, edges, forward, front = [int(self.nodes[index])], [], [], self
        while front.previous_front is not None:
            nodes.append(int(front.previous_nodes[index]))
            edges.append(int(front.edges[index]))
            forward.append(not front.code & 1)
            index, front = int(front.origin_rows[index]), front.previous_front
        return Path(tuple(reversed(nodes)), tuple(reversed(edges)), tuple(reversed(forward)))


def start_front(graph: KnowledgeGraph, seeds: Iterable[int]) -> WalkFront:
    """Return the front of the walks without steps, which end at their start nodes.

    Parameters
    ----------
    seeds : ids of the start nodes; repetitions count once.

    Returns
    -------
    One pair for each start node, ascending.

    Raises
    ------
    BadInput : there is no start node, or one is not in the graph.

    Examples
    --------
    >>> from core.graph.algorithms.chains import start_front
    >>> start_front(toy, [2, 0]).nodes.tolist()
    [0, 2]
    """
    nodes = np.unique(seed_array(graph, seeds))
    missing = np.full(len(nodes), -1, np.int64)
    return WalkFront(missing, nodes, np.ones(len(nodes)), missing, missing)


def next_fronts(
    graph: KnowledgeGraph,
    front: WalkFront,
    direction: str,
    only: Iterable[int] | None = None,
    limit: int = 0,
) -> Iterator[tuple[int, WalkFront]]:
    """Yield each possible step code, ascending, and the front after it.

    A walk never goes straight back: after a step along a relation, it may take the reverse step,
    but not to the node that it came from.

    Parameters
    ----------
    front : the ends of the walks so far.
    direction : direction of the steps: out, in, both or graph.
    only : step codes that are allowed; None for all.
    limit : largest number of steps that are followed; 0 for `MAX_FRONT_STEPS`. The steps of the
        nodes with the fewest steps are followed, and the fronts are marked by `is_cut`.

    Yields
    ------
    A step code, and the front after it.

    Examples
    --------
    >>> from core.graph.algorithms.chains import next_fronts, start_front
    >>> steps = next_fronts(toy, start_front(toy, [1]), "both")  # against r0 to A, along r2 to C
    >>> [(code, front.nodes.tolist()) for code, front in steps]
    [(1, [0]), (4, [2])]
    """
    steps, is_cut = _possible_steps(graph, front, direction, only, limit or MAX_FRONT_STEPS)
    steps = steps.take(np.lexsort((steps.ends, steps.nodes, steps.codes)))  # stable: edges ascend
    for start, stop in _equal_runs(steps.codes):
        yield int(steps.codes[start]), _merge_steps(front, steps.take(slice(start, stop)), is_cut)


def next_nodes(
    graph: KnowledgeGraph, front: WalkFront, direction: str, limit: int
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each possible step code, ascending, with the nodes that it reaches.

    The nodes are those of the fronts of `next_fronts`, found at a lower cost.

    Parameters
    ----------
    front : the ends of the walks so far.
    direction : direction of the steps: out, in, both or graph.
    limit : largest number of steps that are followed, those of the nodes with the fewest steps.

    Yields
    ------
    A step code, and the node ids after it, int64 ascending.

    Examples
    --------
    >>> from core.graph.algorithms.chains import next_nodes, start_front
    >>> steps = next_nodes(toy, start_front(toy, [2]), "out", 100)  # C>A by r3, C>D by r4
    >>> [(code, nodes.tolist()) for code, nodes in steps]
    [(6, [0]), (8, [3])]
    """
    steps, _ = _possible_steps(graph, front, direction, None, limit)
    order = np.lexsort((steps.ends, steps.codes))
    codes, nodes = steps.codes[order], steps.ends[order]
    is_first = np.ones(len(codes), bool)
    is_first[1:] = (codes[1:] != codes[:-1]) | (nodes[1:] != nodes[:-1])
    codes, nodes = codes[is_first], nodes[is_first]
    for start, stop in _equal_runs(codes):
        yield int(codes[start]), nodes[start:stop]


def _equal_runs(ascending: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the runs of equal values in a sorted array.

    Each run is (start, end), end exclusive.
    """
    if len(ascending):
        cuts = [0, *(np.flatnonzero(np.diff(ascending)) + 1).tolist(), len(ascending)]
        yield from zip(cuts, cuts[1:])


class _CodedSteps(NamedTuple):
    """Steps that may be taken from a front, as aligned arrays."""

    codes: np.ndarray  # int64, step codes
    nodes: np.ndarray  # int64, nodes before the steps
    ends: np.ndarray  # int64, nodes after the steps
    walks: np.ndarray  # float64, number of walks that take each step
    rows: np.ndarray  # int64, position in the front of the first of these walks
    edges: np.ndarray  # int64

    def take(self, index: np.ndarray | slice) -> _CodedSteps:
        return _CodedSteps(*(column[index] for column in self))


def _possible_steps(
    graph: KnowledgeGraph, front: WalkFront, direction: str, only: Iterable[int] | None, limit: int
) -> tuple[_CodedSteps, bool]:
    """Return the steps that may be taken from a front.

    The second result is True if `limit` left some out. The steps of each node are read once, also
    if several pairs end there.
    """
    pairs = np.argsort(front.nodes, kind="stable")  # positions in the front, node by node
    end_nodes = front.nodes[pairs]
    starts = np.flatnonzero(np.concatenate([[True], end_nodes[1:] != end_nodes[:-1]]))
    nodes = end_nodes[starts]
    sizes = np.diff(starts, append=len(end_nodes))  # number of pairs that end at each node
    walks = np.add.reduceat(front.walk_counts[pairs], starts)
    retained = np.arange(len(nodes))
    if 2 * graph.n_edges > MAX_FRONT_STEPS:
        degrees = graph.degrees(nodes, direction)
        by_degree = np.argsort(degrees, kind="stable")
        n_within = int(np.searchsorted(np.cumsum(degrees[by_degree]), limit, "right"))
        retained = np.sort(by_degree[: max(1, n_within)])
    rows, ends, edges, relations, forward = graph.steps_from(nodes[retained], direction)
    rows = retained[rows]
    codes, step_walks, first = 2 * relations + ~forward, walks[rows], pairs[starts][rows]
    is_allowed = np.ones(len(codes), bool)
    if only is not None:
        is_allowed = np.isin(codes, np.fromiter(only, np.int64))
    if front.code >= 0:
        # A walk does not go straight back: the walks that came from `end` to `node` do not take the
        # step from `node` to `end`. If all walks at `node` came from `end`, no walk takes the step.
        # If the first walk at `node` came from `end`, the second pair has the first walk of the
        # step.
        reverse = np.flatnonzero(is_allowed & (codes == front.code ^ 1))
        origins = _find_pairs(front, nodes[rows[reverse]], ends[reverse])
        reverse, origins = reverse[origins >= 0], origins[origins >= 0]
        step_walks[reverse] -= front.walk_counts[origins]
        is_allowed[reverse[sizes[rows[reverse]] == 1]] = False
        second = pairs[np.minimum(starts[rows[reverse]] + 1, len(pairs) - 1)]
        first[reverse] = np.where(first[reverse] == origins, second, first[reverse])
    steps = _CodedSteps(codes, nodes[rows], ends, step_walks, first, edges)
    return steps.take(is_allowed), len(retained) < len(nodes)


def _find_pairs(front: WalkFront, nodes: np.ndarray, previous: np.ndarray) -> np.ndarray:
    """Return the positions of the pairs (previous, node) in a front.

    The position of a missing pair is -1. The front is ordered by (previous, node).
    """
    span = max(int(front.nodes.max()), int(nodes.max(initial=0))) + 1
    keys, targets = front.previous_nodes * span + front.nodes, previous * span + nodes
    index = np.minimum(np.searchsorted(keys, targets), len(keys) - 1)
    return np.where(keys[index] == targets, index, -1)


def _merge_steps(front: WalkFront, steps: _CodedSteps, is_cut: bool) -> WalkFront:
    """Merge the steps of one code into the front after them.

    The steps are ordered by (node, end, edge). Each pair (node, end) gets its first step and the
    number of all its walks.
    """
    nodes, ends = steps.nodes, steps.ends
    starts_pair = np.ones(len(nodes), bool)
    starts_pair[1:] = (nodes[1:] != nodes[:-1]) | (ends[1:] != ends[:-1])
    starts = np.flatnonzero(starts_pair)
    first = starts[:MAX_FRONT_PAIRS]
    return WalkFront(
        previous_nodes=nodes[first],
        nodes=ends[first],
        walk_counts=np.add.reduceat(steps.walks, starts)[:MAX_FRONT_PAIRS],
        origin_rows=steps.rows[first],
        edges=steps.edges[first],
        previous_front=front,
        code=int(steps.codes[0]),
        is_cut=is_cut or front.is_cut or len(starts) > MAX_FRONT_PAIRS,
    )


def chains_from(
    graph: KnowledgeGraph,
    seeds: Sequence[int],
    steps: int,
    direction: str = "graph",
    sample: int | None = None,
    accept: Callable[[Chain], bool] | None = None,
    watch: Watch = NO_WATCH,
) -> Iterator[tuple[Chain, np.ndarray]]:
    """Yield the chains from some seeds, with their end nodes.

    The seeds are left out of the end nodes, and chains that only lead to seeds are left out.
    Chains are ordered by (length, codes).

    Parameters
    ----------
    seeds : ids of the start nodes.
    steps : largest number of steps of a chain.
    direction : direction of the steps: out, in, both or graph.
    sample : largest number of pairs of a front from which a chain is extended, spread evenly; None
        for all. A sample bounds the cost of hubs. Chains and end nodes may then be missed, but
        every yielded chain exists.
    accept : returns False for a chain that is left out, with all its extensions.
    watch : may raise RunCancelled between steps.

    Yields
    ------
    A chain, and its end nodes int64 ascending.

    Examples
    --------
    >>> from core.graph.algorithms.chains import chain_name, chains_from
    >>> chains = chains_from(toy, [4], 2, "out")  # E>A, then A>B and A>C
    >>> [(chain_name(toy, chain), toy.names(ends)) for chain, ends in chains]
    [('r5', ['A']), ('r5 -> r0', ['B']), ('r5 -> r1', ['C'])]
    """
    limit = MAX_FRONT_STEPS if sample is None else SAMPLED_CHAIN_STEPS
    level: list[tuple[Chain, WalkFront]] = [((), start_front(graph, seeds))]
    for step in range(1, steps + 1):
        longer: list[tuple[Chain, WalkFront]] = []
        for chain, front in level:
            watch.check()
            sampled_front = sample_front(front, sample)
            extensions: Iterator[tuple[int, WalkFront | np.ndarray]]
            if step < steps:
                extensions = next_fronts(graph, sampled_front, direction, limit=limit)
            else:  # after the last step, only the nodes are needed
                extensions = next_nodes(graph, sampled_front, direction, limit)
            for code, after in extensions:
                new_chain = (*chain, code)
                if accept is not None and not accept(new_chain):
                    continue
                if isinstance(after, WalkFront):
                    longer.append((new_chain, after))
                    after = np.unique(after.nodes)
                end_nodes = after[~np.isin(after, seeds)]
                if len(end_nodes):
                    yield new_chain, end_nodes
        level = longer


def sample_front(front: WalkFront, limit: int | None) -> WalkFront:
    """Reduce a front to a sample of its pairs, spread evenly.

    Parameters
    ----------
    front : ends of walks.
    limit : largest number of pairs; None keeps all.

    Returns
    -------
    The front itself if it is small enough, else one that is marked as cut.
    """
    if limit is None or len(front) <= limit:
        return front
    rows = np.linspace(0, len(front) - 1, limit).astype(np.int64)
    return WalkFront(
        previous_nodes=front.previous_nodes[rows],
        nodes=front.nodes[rows],
        walk_counts=front.walk_counts[rows],
        origin_rows=front.origin_rows[rows],
        edges=front.edges[rows],
        previous_front=front.previous_front,
        code=front.code,
        is_cut=True,
    )


def walk_chain(
    graph: KnowledgeGraph,
    seeds: Iterable[int],
    chain: Chain,
    direction: str = "graph",
    watch: Watch = NO_WATCH,
) -> WalkFront | None:
    """Return the front at the end of all walks along a chain.

    Parameters
    ----------
    seeds : ids of the start nodes.
    chain : step codes.
    direction : direction of the steps: out, in, both or graph.
    watch : checked before each step; may raise RunCancelled.

    Returns
    -------
    The front; None if no walk along the chain exists.

    Raises
    ------
    BadInput : there is no start node, or one is not in the graph.

    Examples
    --------
    >>> from core.graph.algorithms.chains import ranked_ends, walk_chain
    >>> front = walk_chain(toy, [0], (2, 6))  # A>C by r1, C>A by r3
    >>> ranked_ends(front, [4]).tolist()
    [0]
    """
    front = start_front(graph, seeds)
    for code in chain:
        watch.check()
        after = next((after for _, after in next_fronts(graph, front, direction, (code,))), None)
        if after is None:
            return None
        front = after
    return front


def ranked_ends(front: WalkFront, seeds: Iterable[int]) -> np.ndarray:
    """Return the end nodes except the seeds, ordered by (-number of walks, id).

    Parameters
    ----------
    front : ends of walks.
    seeds : node ids that are left out.

    Returns
    -------
    Node ids, int64.

    Examples
    --------
    >>> from core.graph.algorithms.chains import ranked_ends, walk_chain
    >>> toy.names(ranked_ends(walk_chain(toy, [0], (0, 4)), [0]))  # A>B>C
    ['C']
    """
    nodes, walks = front.ends(seeds)
    return nodes[np.lexsort((nodes, -walks))]


def best_chains(
    graph: KnowledgeGraph,
    seeds: Sequence[int],
    answers: Iterable[int],
    steps: int,
    direction: str = "graph",
    watch: Watch = NO_WATCH,
) -> tuple[tuple[Chain, ...], float]:
    """Return the shortest chains whose ends have the best F1.

    The F1 compares the ends with the answers, and is returned too. The chains are ordered by codes.
    There are several if they have the same length and F1, for example if a film's director also
    wrote it. If no answer is reached, there are none and the F1 is 0.

    Parameters
    ----------
    seeds : ids of the start nodes.
    answers : ids of the correct answers.
    steps : largest number of steps of a chain.
    direction : direction of the steps: out, in, both or graph.
    watch : may raise RunCancelled between steps.

    Returns
    -------
    The chains, and the F1 of their ends against the answers, 0 to 1.

    Raises
    ------
    BadInput : there is no start node, or one is not in the graph.

    Examples
    --------
    >>> from core.graph.algorithms.chains import best_chains, chain_name
    >>> chains, f1 = best_chains(toy, [4], [1], 2, "out")  # from E to B: by r5 to A, by r0 to B
    >>> [chain_name(toy, chain) for chain in chains], f1
    (['r5 -> r0'], 1.0)
    """
    answer_nodes = np.unique(np.fromiter(answers, np.int64))
    best, best_f1 = [], 0.0
    for chain, nodes in chains_from(graph, seeds, steps, direction, BEST_CHAIN_PAIRS, watch=watch):
        shared = int(np.isin(nodes, answer_nodes, assume_unique=True).sum())
        f1 = 2 * shared / (len(nodes) + len(answer_nodes))
        if f1 > best_f1 + 1e-12:
            best, best_f1 = [chain], f1
        elif best and f1 > best_f1 - 1e-12 and len(chain) == len(best[0]):
            best.append(chain)
    return tuple(best), best_f1
