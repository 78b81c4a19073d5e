"""Local forward push, with a bar that falls until the best nodes are found.

A first-in first-out push (Andersen, Chung, Lang 2006) gives each node an estimate, which is
certain, and a residual, which has not flowed on yet. The module `extrapolate` predicts where the
residuals will arrive, so that few pushes suffice for the ranking. The module `refine` recomputes
the scores around the last place from those of the neighbours.
"""

from __future__ import annotations

import numpy as np

from core.graph.order import round_scores, top_k
from core.graph.pagerank.local.disk import DiskReadAhead
from core.graph.pagerank.local.extrapolate import expected_scores
from core.graph.pagerank.local.push_loops import BUDGET_SPENT, QUEUE_EMPTY, enqueue, push_queue
from core.graph.pagerank.local.refine import CROWD_FACTOR, ScoreRefinement
from core.graph.pagerank.local.table import (
    EDGES_WALKED,
    ESTIMATE,
    QUEUE_HEAD,
    QUEUE_SIZE,
    RESIDUAL,
    SLOT_COUNT,
    SlotTable,
    WorkArrays,
    add_residual,
    borrow_work,
)
from core.graph.pagerank.problem import PageRankProblem, PageRankResult

# First bar times the number of nodes to keep, divisor from one bar to the next, and last bar.
FIRST_PUSH_BAR, PUSH_BAR_DIVISOR, MIN_PUSH_BAR = (0.1, 2.0, 1e-16)
# Factor by which the bar must be below the last score if at least `keep` nodes have scores around
# it.
BAR_BELOW_LAST_FACTOR = 2.0
# Residual that counts as none.
RESIDUAL_TOLERANCE = 1e-12
# Number of nodes that are read ahead from the disk, and a number of steps per node that covers all.
READ_AHEAD_NODES, ALL_STEPS = 512, 1 << 31
# Number of edges before the first check whether the search waits for the disk, which then doubles,
# and the largest number.
FIRST_WAIT_CHECK_EDGES, MAX_WAIT_CHECK_EDGES = (32, 2000)
# Edges per node to keep, divided by the share of nodes that may be missed, and smallest budget in
# edges.
PUSH_EDGES_PER_NODE, MIN_PUSH_EDGES = (15, 200_000)


def local_push(problem: PageRankProblem, budget: int | None = None) -> PageRankResult:
    """Return the best nodes by a push whose bar falls until they are stable.

    The push ends once the best nodes change from one bar to the next by no more than `recall`
    allows. With a recall of 1 it ends once nothing is left to push. Bars are compared only if they
    lie below the last of the best scores, since coarser ones agree without any meaning. The result
    is not settled if `budget` edges are walked before the end, or if too few are left for another
    comparison. The edges of the seeds do not count, and the default budget is that of
    `push_budget`. Seeds are pushed whatever their degree. Mass at nodes without steps is dropped,
    and scores are scaled to the rest.

    >>> from core.graph.pagerank.local.push import local_push
    >>> from core.graph.pagerank.problem import pose_problem
    >>> toy.names(local_push(pose_problem(toy, [0], 2, 0.5, "out")).nodes)  # in truth A 16/29, C 6/29
    ['A', 'C']
    """
    keep, before, settled, disk = problem.keep, None, False, DiskReadAhead(problem.links)
    with borrow_work() as work:
        for seed, share in zip(problem.seeds.tolist(), problem.shares.tolist()):
            add_residual(work.table, seed, share)
        _push_seeds(work, problem, disk)
        most = int(work.table.state[EDGES_WALKED]) + (
            push_budget(problem) if budget is None else budget
        )
        looks, bar = ScoreRefinement(problem, disk), FIRST_PUSH_BAR / max(1, keep)
        while True:
            problem.watch.check()
            enqueue(work.table, bar, int(work.table.state[SLOT_COUNT]))
            spent = not drain_queue(work, problem, bar, most, disk)
            scores, residual_sum, last = expected_scores(work.table, problem, disk)
            settled = residual_sum < RESIDUAL_TOLERANCE or bar <= MIN_PUSH_BAR
            n_around_last = looks.about(scores, last)
            if (
                spent
                or settled
                or bar * (BAR_BELOW_LAST_FACTOR if n_around_last >= keep else 1.0) <= last
            ):
                crowded = n_around_last >= CROWD_FACTOR * keep
                # This gives all of the seeds' neighbours the mass that the seeds have received
                # since.
                if crowded:
                    _push_seeds(work, problem, disk)
                    scores, residual_sum, last = expected_scores(work.table, problem, disk)
                walked = looks.ask(work.table, scores, residual_sum, last, crowded)
                nodes = work.table.nodes[: len(scores)].copy()
                best, least = top_k(nodes, round_scores(scores), keep)
                if before is not None and not (settled or spent) and problem.recall < 1.0:
                    settled = 1.0 - np.isin(best, before).mean() <= 1.0 - problem.recall
                before, spent = best, spent or int(work.table.state[EDGES_WALKED]) + walked > most
            if spent or settled:
                break
            bar = bar / PUSH_BAR_DIVISOR if last <= 0.0 else min(bar / PUSH_BAR_DIVISOR, last)
        edges, total = int(work.table.state[EDGES_WALKED]), float(_held_mass(work.table))
        full = len(best) == keep and keep > 0 and least[-1] > 0.0
        nodes, scores = (best, least) if full else problem.ranked(nodes, scores)
    if settled:
        reason = (
            "nothing was left to push"
            if residual_sum < RESIDUAL_TOLERANCE
            else f"the best {len(nodes):,} had settled"
        )
        return PageRankResult(
            nodes, scores / total, edges, True, f"Push ended when {reason}, after {edges:,} edges."
        )
    return PageRankResult(
        nodes,
        scores / total,
        edges,
        False,
        f"Push gave up after {edges:,} edges; the last of the best may differ.",
    )


def push_budget(problem: PageRankProblem) -> int:
    """Largest number of edges that a push may walk."""
    return max(
        MIN_PUSH_EDGES, int(PUSH_EDGES_PER_NODE * problem.keep / max(1.0 - problem.recall, 1e-4))
    )


def _push_seeds(work: WorkArrays, problem: PageRankProblem, disk: DiskReadAhead) -> None:
    """Push the seeds alone, whatever their residual."""
    work.table.state[QUEUE_SIZE] = 0
    enqueue(work.table, 0.0, len(problem.seeds))
    drain_queue(work, problem, np.inf, np.iinfo(np.int64).max, disk)


def drain_queue(
    work: WorkArrays,
    problem: PageRankProblem,
    bar: float,
    budget: int,
    disk: DiskReadAhead | None = None,
) -> bool:
    """Push until the queue is empty, and grow the work arrays where necessary.

    Returns False if the budget was spent before.
    """
    disk = disk or DiskReadAhead(problem.links)
    while True:
        part = budget
        if disk.mapped:
            steps = int(work.table.state[EDGES_WALKED])
            part = min(
                budget,
                steps
                + (
                    READ_AHEAD_NODES + disk.rows(_next_nodes(work.table), ALL_STEPS)
                    if disk.waits()
                    else min(MAX_WAIT_CHECK_EDGES, steps + FIRST_WAIT_CHECK_EDGES)
                ),
            )
        code = push_queue(work.table, problem.damping, bar, part, problem.links)
        if code == QUEUE_EMPTY or (code == BUDGET_SPENT and part == budget):
            return code == QUEUE_EMPTY
        if code != BUDGET_SPENT:
            work.grow(code)


def _next_nodes(table: SlotTable) -> np.ndarray:
    """Return the nodes that are pushed next."""
    ring = len(table.queue) - 1
    head = int(table.state[QUEUE_HEAD])
    size = int(table.state[QUEUE_SIZE])
    return table.nodes[table.queue[(head + np.arange(min(size, READ_AHEAD_NODES))) & ring]]


def _held_mass(table: SlotTable) -> float:
    """Return the mass that was not dropped."""
    cells = table.cells[: table.state[SLOT_COUNT]]
    return cells[:, ESTIMATE].sum() + cells[:, RESIDUAL].sum()
