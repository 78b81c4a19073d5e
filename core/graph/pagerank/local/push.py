"""Local forward push, with a bar that falls until the best nodes are found.

A first-in first-out push (Andersen, Chung, Lang 2006) gives each node an estimate, which is
certain, and a residual, which has not flowed on yet. The module `extrapolate` predicts where the
residuals will arrive, so that few pushes suffice for the ranking. The module `refine` recomputes
the scores around the last place from those of the neighbours.
"""

from __future__ import annotations

import numpy as np

from core.graph.order import steady, top_k
from core.graph.pagerank.local.disk import Disk
from core.graph.pagerank.local.extrapolate import expected
from core.graph.pagerank.local.push_loops import DONE, SPENT, enqueue, push
from core.graph.pagerank.local.refine import CROWD, Looks
from core.graph.pagerank.local.table import (
    COUNT,
    ESTIMATE,
    HEAD,
    RESIDUAL,
    SIZE,
    STEPS,
    Table,
    Work,
    borrowed,
    put,
)
from core.graph.pagerank.problem import Found, Problem

# First bar times the number of nodes to keep, divisor from one bar to the next, and last bar.
FIRST, TIGHTER, FINEST = (0.1, 2.0, 1e-16)
# Factor by which the bar must be below the last score if at least `keep` nodes have scores around
# it.
FINER = 2.0
# Residual that counts as none.
NOTHING = 1e-12
# Number of nodes that are read ahead from the disk, and a number of steps per node that covers all.
AHEAD, WHOLE = 512, 1 << 31
# Number of edges before the first check whether the search waits for the disk, which then doubles,
# and the largest number.
SOON, LOOK = (32, 2000)
# Edges per node to keep, divided by the share of nodes that may be missed, and smallest budget in
# edges.
WORK, LEAST = (15, 200_000)


def local_push(problem: Problem, budget: int | None = None) -> Found:
    """Return the best nodes by a push whose bar falls until they are stable.

    The push ends once the best nodes change from one bar to the next by no more than `recall`
    allows. With a recall of 1 it ends once nothing is left to push. Bars are compared only if they
    lie below the last of the best scores, since coarser ones agree without any meaning. The result
    is not settled if `budget` edges are walked before the end, or if too few are left for another
    comparison. The edges of the seeds do not count, and the default budget is that of `allowed`.
    Seeds are pushed whatever their degree. Mass at nodes without steps is dropped, and scores are
    scaled to the rest.

    >>> from core.graph.pagerank.local.push import local_push
    >>> from core.graph.pagerank.problem import pose
    >>> toy.names(local_push(pose(toy, [0], 2, 0.5, "out")).nodes)  # in truth A 16/29, C 6/29
    ['A', 'C']
    """
    keep, before, settled, disk = problem.keep, None, False, Disk(problem.links)
    with borrowed() as work:
        for seed, share in zip(problem.seeds.tolist(), problem.shares.tolist()):
            put(work.table, seed, share)
        _push_seeds(work, problem, disk)
        most = int(work.table.state[STEPS]) + (allowed(problem) if budget is None else budget)
        looks, bar = Looks(problem, disk), FIRST / max(1, keep)
        while True:
            problem.watch.check()
            enqueue(work.table, bar, int(work.table.state[COUNT]))
            spent = not drain(work, problem, bar, most, disk)
            scores, left, last = expected(work.table, problem, disk)
            settled = left < NOTHING or bar <= FINEST
            about = looks.about(scores, last)
            if spent or settled or bar * (FINER if about >= keep else 1.0) <= last:
                crowded = about >= CROWD * keep
                # This gives all of the seeds' neighbours the mass that the seeds have received
                # since.
                if crowded:
                    _push_seeds(work, problem, disk)
                    scores, left, last = expected(work.table, problem, disk)
                walked = looks.ask(work.table, scores, left, last, crowded)
                nodes = work.table.nodes[: len(scores)].copy()
                best, least = top_k(nodes, steady(scores), keep)
                if before is not None and not (settled or spent) and problem.recall < 1.0:
                    settled = 1.0 - np.isin(best, before).mean() <= 1.0 - problem.recall
                before, spent = best, spent or int(work.table.state[STEPS]) + walked > most
            if spent or settled:
                break
            bar = bar / TIGHTER if last <= 0.0 else min(bar / TIGHTER, last)
        edges, total = int(work.table.state[STEPS]), float(_held(work.table))
        full = len(best) == keep and keep > 0 and least[-1] > 0.0
        nodes, scores = (best, least) if full else problem.ranked(nodes, scores)
    if settled:
        why = (
            "nothing was left to push" if left < NOTHING else f"the best {len(nodes):,} had settled"
        )
        return Found(
            nodes, scores / total, edges, True, f"Push ended when {why}, after {edges:,} edges."
        )
    return Found(
        nodes,
        scores / total,
        edges,
        False,
        f"Push gave up after {edges:,} edges; the last of the best may differ.",
    )


def allowed(problem: Problem) -> int:
    """Largest number of edges that a push may walk."""
    return max(LEAST, int(WORK * problem.keep / max(1.0 - problem.recall, 1e-4)))


def _push_seeds(work: Work, problem: Problem, disk: Disk) -> None:
    """Push the seeds alone, whatever their residual."""
    work.table.state[SIZE] = 0
    enqueue(work.table, 0.0, len(problem.seeds))
    drain(work, problem, np.inf, np.iinfo(np.int64).max, disk)


def drain(work: Work, problem: Problem, bar: float, budget: int, disk: Disk | None = None) -> bool:
    """Push until the queue is empty, and grow the work arrays where necessary.

    Returns False if the budget was spent before.
    """
    disk = disk or Disk(problem.links)
    while True:
        part = budget
        if disk.mapped:
            steps = int(work.table.state[STEPS])
            part = min(
                budget,
                steps
                + (
                    AHEAD + disk.rows(_next(work.table), WHOLE)
                    if disk.waits()
                    else min(LOOK, steps + SOON)
                ),
            )
        code = push(work.table, problem.damping, bar, part, problem.links)
        if code == DONE or (code == SPENT and part == budget):
            return code == DONE
        if code != SPENT:
            work.grow(code)


def _next(table: Table) -> np.ndarray:
    """Return the nodes that are pushed next."""
    ring, head, size = len(table.queue) - 1, int(table.state[HEAD]), int(table.state[SIZE])
    return table.nodes[table.queue[(head + np.arange(min(size, AHEAD))) & ring]]


def _held(table: Table) -> float:
    """Return the mass that was not dropped."""
    cells = table.cells[: table.state[COUNT]]
    return cells[:, ESTIMATE].sum() + cells[:, RESIDUAL].sum()
