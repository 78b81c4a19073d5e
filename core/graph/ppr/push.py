"""Local forward push whose bar falls until the best nodes are found.

A first-in first-out push (Andersen, Chung, Lang 2006) leaves to each node an estimate, which is certain, and a residual that
has yet to flow. Three things make few pushes enough to rank by. What stays of a residual where it lies counts already: what
restarts there at once, and after it came back from a neighbour. The rest of all residuals will arrive somewhere: after a few
steps a walk is near the stationary distribution, so each node is given its share by the number of steps that lead to it. And
the nodes about the last place are decided by the equation itself: each is computed once more from its neighbours.
"""

from __future__ import annotations

import numpy as np

from core.graph.order import steady, top_k
from core.graph.ppr.disk import Disk
from core.graph.ppr.problem import Found, Problem
from core.graph.ppr.pushing import DONE, SPENT, add_far, enqueue, known_scores, pull, push
from core.graph.ppr.table import COUNT, DEGREE, ESTIMATE, HEAD, RESIDUAL, SIZE, STEPS, Table, Work, borrowed, put

FIRST, TIGHTER, FINEST = 0.1, 2.0, 1e-16  # the first bar for each node to keep, its divisor from one to the next, the last bar
LOW, HIGH, SMALL = 0.75, 1.35, 256  # scores about the last one that are computed once more, at nodes of so many steps at most
NOTHING = 1e-12  # the residual that counts as none
AHEAD, LOOK, WHOLE = 512, 2000, 1 << 31  # nodes read ahead from the disk, edges between looks whether it is waited for, steps of a node
WORK, LEAST = 15, 200_000  # edges for each node to keep, over the share that may be missed; and at least


def local_push(problem: Problem, budget: int | None = None) -> Found:
    """The best nodes once no more of them change from one bar to the next than `recall` leaves room for; with a recall of 1,
    once nothing is left to push.

    Bars are compared only where they lie below the last of the best scores: coarser ones agree by not looking. Where `budget`
    edges are walked before (those of the seeds not counted; by default `WORK` says how many), the best so far, not settled.
    Seeds are pushed whatever their degree. Scores are scaled to what mass was not dropped at nodes without steps.
    """
    keep, before, settled, disk = problem.keep, None, False, Disk(problem.links)
    with borrowed() as work:
        for seed, share in zip(problem.seeds.tolist(), problem.shares.tolist()):
            put(work.table, seed, share)
        enqueue(work.table, 0.0)
        drain(work, problem, np.inf, np.iinfo(np.int64).max, disk)
        most = int(work.table.state[STEPS]) + (allowed(problem) if budget is None else budget)
        bar = FIRST / max(1, keep)
        while True:
            problem.check()
            enqueue(work.table, bar)
            spent = not drain(work, problem, bar, most, disk)
            scores, left, last = _expected(work.table, problem, disk)
            settled = left < NOTHING or bar <= FINEST
            if spent or settled or bar <= last:
                _ask_equation(work.table, problem, scores, left, last, disk)
                nodes = work.table.nodes[: len(scores)].copy()
                best, least = top_k(nodes, steady(scores), keep)
                if before is not None and not (settled or spent) and problem.recall < 1.0:
                    settled = 1.0 - np.isin(best, before).mean() <= 1.0 - problem.recall
                before = best
            if spent or settled:
                break
            bar = bar / TIGHTER if last <= 0.0 else min(bar / TIGHTER, last)
        edges, total = int(work.table.state[STEPS]), float(_held(work.table))
        full = len(best) == keep and keep > 0 and least[-1] > 0.0
        nodes, scores = (best, least) if full else problem.ranked(nodes, scores)
    if settled:
        why = "nothing was left to push" if left < NOTHING else f"the best {len(nodes):,} had settled"
        return Found(nodes, scores / total, edges, True, f"Push ended when {why}, after {edges:,} edges.")
    return Found(nodes, scores / total, edges, False, f"Push gave up after {edges:,} edges; the last of the best may differ.")


def allowed(problem: Problem) -> int:
    """The edges that a push may walk."""
    return max(LEAST, int(WORK * problem.keep / max(1.0 - problem.recall, 1e-4)))


def drain(work: Work, problem: Problem, bar: float, budget: int, disk: Disk | None = None) -> bool:
    """Pushes until the queue is empty, in larger arrays where they are needed; False where the budget was spent before."""
    disk = disk or Disk(problem.links)
    while True:
        part = budget
        if disk.mapped:
            steps = int(work.table.state[STEPS])
            part = min(budget, steps + (AHEAD + disk.rows(_next(work.table), WHOLE) if disk.waits() else LOOK))
        code = push(work.table, problem.damping, bar, part, problem.links)
        if code == DONE or (code == SPENT and part == budget):
            return code == DONE
        if code != SPENT:
            work.grow(code)


def _next(table: Table) -> np.ndarray:
    """The nodes that are pushed next."""
    ring, head, size = len(table.queue) - 1, int(table.state[HEAD]), int(table.state[SIZE])
    return table.nodes[table.queue[(head + np.arange(min(size, AHEAD))) & ring]]


def _expected(table: Table, problem: Problem, disk: Disk) -> tuple[np.ndarray, float, float]:
    """(the score of each slot with what is still to arrive, all that is, the last of the best scores, 0 where there are too few)."""
    scores, left = known_scores(table, _stays(problem))
    if disk.waits():
        disk.degrees(table.nodes[: len(scores)][table.cells[: len(scores), DEGREE] < 0.0])
    add_far(table, scores, _far(problem, left), problem.links)
    short = len(scores) < problem.keep
    return scores, left, 0.0 if short else float(np.partition(scores, len(scores) - problem.keep)[len(scores) - problem.keep])


def _stays(problem: Problem) -> float:
    """The part of a residual that stays where it lies: what restarts there at once, and after a step forth and back.

    Both ways, a step comes back at the next with 1 / degree of the node it led to: on average over all steps, nodes / steps.
    """
    returns = problem.damping**2 * min(1.0, problem.graph.n_nodes / max(1, problem.steps)) if len(problem.links.degree_bytes) else 0.0
    return (1.0 - problem.damping) / (1.0 - returns)


def _far(problem: Problem, left: float) -> float:
    """What is expected to arrive along each step from afar, where `left` is all residual."""
    return (1.0 - _stays(problem)) * left / max(1.0, problem.flow)


def _ask_equation(table: Table, problem: Problem, scores: np.ndarray, left: float, last: float, disk: Disk) -> None:
    """Computes the scores about the last place once more from their neighbours'. Changes `scores`."""
    band = np.flatnonzero((scores >= LOW * last) & (scores <= HIGH * last))
    band = band[band >= len(problem.seeds)]  # a seed's score is not only what its neighbours hand on
    if last <= 0.0 or problem.keep == len(scores):
        return
    if disk.waits():
        disk.rows(table.nodes[band], SMALL)
    stays, far = _stays(problem), _far(problem, left)
    scores[band], walked = pull(table, band, scores, problem.damping, stays, far, SMALL, problem.links)
    table.state[STEPS] += walked


def _held(table: Table) -> float:
    """The mass that was not dropped."""
    cells = table.cells[: table.state[COUNT]]
    return cells[:, ESTIMATE].sum() + cells[:, RESIDUAL].sum()
