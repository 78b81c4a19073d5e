"""Effects of a parameter on one question, computed without another run.

A target is a known answer or a gold passage. A curve gives, for each value of a parameter, how many
targets would be left after the step. It is read from the order of the candidates before the cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.comparison.lane import MethodComparison, MethodLane
from core.diagnosis.funnel import gold_nodes
from core.diagnosis.losses import best_rank
from core.diagnosis.pagerank_ranks import MAX_RANKED_EDGES, pagerank_ranks
from core.diagnosis.passages import chunk_rows
from core.diagnosis.step_outcomes import targets_of
from core.diagnosis.targets import Target
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.algorithms.neighbourhood import nearest_nodes
from core.graph.algorithms.paths import shortest_paths
from core.graph.texts import chunk_nodes
from core.operators.base import Operator
from core.operators.branch import Branch
from core.operators.extract import EgoNetwork
from core.operators.retrieve.paths import ShortestPaths, SimplePaths
from core.parameters import Parameter, parameters
from core.types import Ranking, State

CURVE_HOPS = range(1, 7)  # values of a parameter `hops` that a curve shows
MAX_CURVE_VALUES = 10
# For each target the smallest value that keeps it; None if no value is known to keep it.
TargetRanks = dict[Target, int | None]


@dataclass(frozen=True)
class Curve:
    """The number of targets left after a step, for each value of its parameter.

    Parameters
    ----------
    parameter : the name of the parameter.
    value : its present value.
    values : ascending values, among them the present one.
    alive : the number of targets left, for each of `values`.
    n_targets : the number of targets.
    next_value : the smallest value that keeps more targets than the present one; None if none does.
    """

    parameter: str
    value: int
    values: tuple[int, ...]
    alive: tuple[int, ...]
    n_targets: int
    next_value: int | None


def curves(comparison: MethodComparison, lane: MethodLane, index: int) -> Mapping[str, Curve]:
    """Return the curves of an operator's parameters by name.

    There may be curves of two parameters: `keep`, from the order before the cut, and `hops`, from
    the distance of the targets. The result is empty if no target is known, the line has branches,
    the operator has not run, or its results are not the first ones of the order.

    Parameters
    ----------
    comparison, lane : the lane and its comparison.
    index : the index of the operator in the lane's line.
    """
    targets = targets_of(comparison)
    line = lane.method.line
    if (
        not targets
        or index >= min(len(lane.states), len(line))
        or any(isinstance(step, Branch) for step in line)
    ):
        return {}
    operator, state = line.operators[index], lane.states[index]
    previous = lane.states[index - 1] if index else None
    ranks_by_name = {
        "keep": _cut_ranks(lane, state, targets),
        "hops": _target_hops(lane, operator, state, previous, targets),
    }
    found_curves: dict[str, Curve] = {}
    for parameter in parameters(type(operator)):
        ranks = ranks_by_name.get(parameter.name)
        if ranks is not None and parameter.type is int:
            value = getattr(operator, parameter.name)
            found_curves[parameter.name] = curve(parameter, value, ranks.values())
    return found_curves


def curve(parameter: Parameter, value: int, target_ranks: Iterable[int | None]) -> Curve:
    """Return the curve of a parameter.

    Parameters
    ----------
    parameter : the parameter, whose bounds the values keep.
    value : its present value.
    target_ranks : for each target the smallest value that keeps it; None if no value is known to.

    >>> from core.diagnosis.curves import curve
    >>> from core.operators import Rank
    >>> from core.parameters import parameters
    >>> of_keep = curve(parameters(Rank)[1], 32, [3, 41, None])
    >>> of_keep.values, of_keep.alive, of_keep.n_targets, of_keep.next_value
    ((1, 2, 4, 8, 16, 32, 41, 64), (0, 0, 1, 1, 1, 1, 2, 2), 3, 41)
    """
    ranks = list(target_ranks)
    known_ranks = sorted(rank for rank in ranks if rank is not None)
    low = int(parameter.low or 0)
    high = int(parameter.high or max([value, *known_ranks]))
    next_rank = next((rank for rank in known_ranks if value < rank <= high), None)
    if parameter.name == "hops":
        grid = set(CURVE_HOPS)
    else:
        grid = _cut_values(value, [rank for rank in known_ranks if rank <= high])
    required = {value} if next_rank is None else {value, next_rank}
    curve_values = sorted({candidate for candidate in grid if low <= candidate <= high} | required)
    _remove_smallest(curve_values, required)
    counts = tuple(sum(rank <= candidate for rank in known_ranks) for candidate in curve_values)
    return Curve(parameter.name, value, tuple(curve_values), counts, len(ranks), next_rank)


def _cut_values(value: int, ranks: Iterable[int]) -> set[int]:
    """Return powers of two as values of a cut.

    They go from 1 to the first one beyond the present value and all ranks.
    """
    last = max([value, *ranks])
    return {1 << power for power in range(last.bit_length() + 1)}


def _remove_smallest(curve_values: list[int], required: set[int]) -> None:
    """Remove the smallest values, which tell least, until a curve can show the others."""
    while len(curve_values) > MAX_CURVE_VALUES:
        curve_values.remove(next(value for value in curve_values if value not in required))


def _cut_ranks(lane: MethodLane, state: State, targets: Sequence[Target]) -> TargetRanks | None:
    """Return the rank of each target in the order that the last operator cut.

    The result is None if there is no such order.
    """
    node_ranks = pagerank_ranks(lane.graph, state)
    if node_ranks is not None:
        return _min_by_target(lane, targets, lambda node: int(node_ranks[node]) or None)
    order = state.trace[-1].before_cut
    if order is None or not _is_head(state, order) or not _is_counted(lane, order, targets):
        return None
    return {target: _target_rank(lane, order, target) for target in targets}


def _is_head(state: State, order: Ranking) -> bool:
    """Return whether the items after the step are the first ones of the order."""
    after = state.ranked.get(order.kind)
    return after is not None and after.items == order.items[: len(after)]


def _is_counted(lane: MethodLane, order: Ranking, targets: Sequence[Target]) -> bool:
    """Return whether the items of an order can hold the targets.

    Passages are chunks, or nodes that are chunks. Answers are nodes, on paths or alone. On a
    corpus, answers are words of texts, which no rank can be given.
    """
    if targets[0].kind == "passage":
        return order.kind == "chunk" or (
            order.kind == "node" and bool(chunk_nodes(lane.graph, order.items))
        )
    return not lane.graph.columns.has_texts and order.kind in ("path", "node")


def _target_rank(lane: MethodLane, order: Ranking, target: Target) -> int | None:
    """Return the rank, from 1, of the first item with a target.

    The result is None if none has one.
    """
    if order.kind == "path":
        return best_rank(order, set(_answer_nodes(lane, target)))
    chunk_of_node: Mapping[Any, int] = (
        chunk_nodes(lane.graph, order.items)
        if target.kind == "passage" and order.kind == "node"
        else {}
    )
    target_items = (
        chunk_rows(lane.graph, target.name)
        if target.kind == "passage"
        else set(_answer_nodes(lane, target))
    )
    items = (chunk_of_node.get(item) for item in order.items) if chunk_of_node else order.items
    return next((rank for rank, item in enumerate(items, 1) if item in target_items), None)


def _answer_nodes(lane: MethodLane, target: Target) -> tuple[int, ...]:
    """Return the nodes with a name of the known answer; empty for a passage."""
    return () if target.kind == "passage" else gold_nodes(lane.graph, *target.names)


def _target_hops(
    lane: MethodLane,
    operator: Operator,
    state: State,
    previous: State | None,
    targets: Sequence[Target],
) -> TargetRanks | None:
    """Return the hops from the seeds to each target.

    They are counted in the graph for a neighbourhood, and in the subgraph for operators that find
    all or the shortest paths. The result is None for other operators, on a large graph, and if the
    step has a note, as after a limit on nodes or paths. `previous` is the state before the step.
    """
    if state.trace[-1].notes or any(target.kind == "passage" for target in targets):
        return None
    if isinstance(operator, EgoNetwork) and lane.graph.n_edges <= MAX_RANKED_EDGES:
        nodes, hops = nearest_nodes(
            lane.graph, state.seeds, CURVE_HOPS[-1], operator.direction, operator.keep
        )
        hops_by_node = dict(zip(nodes.tolist(), hops.tolist()))
    elif (
        isinstance(operator, ShortestPaths | SimplePaths)
        and previous is not None
        and previous.subgraph is not None
    ):
        local = LocalAdjacency(lane.graph, previous.subgraph, operator.direction)
        hops_by_node = {}
        for seed in dict.fromkeys(state.seeds):
            if seed not in previous.subgraph:
                continue
            for path in shortest_paths(local, seed, CURVE_HOPS[-1], parallel=False)[0]:
                hops_by_node[path.end] = min(len(path), hops_by_node.get(path.end, len(path)))
                hops_by_node.setdefault(seed, 1)  # the seed lies on every path
    else:
        return None
    return _min_by_target(lane, targets, hops_by_node.get)


def _min_by_target(
    lane: MethodLane, targets: Sequence[Target], value_of: Callable[[int], int | None]
) -> TargetRanks:
    """Return the smallest value among each target's nodes; None if no node has one."""
    smallest: TargetRanks = {}
    for target in targets:
        values = map(value_of, _answer_nodes(lane, target))
        smallest[target] = min((value for value in values if value is not None), default=None)
    return smallest
