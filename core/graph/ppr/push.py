"""Local forward push whose bar falls until the best nodes are found.

A first-in first-out push (Andersen, Chung, Lang 2006) leaves to each node an estimate, which is certain, and a residual that
has yet to flow. Three things make few pushes enough to rank by. What stays of a residual where it lies counts already:
estimate + restart x residual. The rest of all residuals will arrive somewhere: after a few steps a walk is near the
stationary distribution, so each node is given its share by the number of steps that lead to it. And the nodes about the last
place are decided by the equation itself: each is computed once more from its neighbours.
"""

from __future__ import annotations

import numpy as np

from core.graph.order import steady, top_k
from core.graph.ppr.problem import Found, Problem
from core.graph.ppr.pushing import DONE, SPENT, add_far, enqueue, known_scores, pull, push
from core.graph.ppr.table import COUNT, ESTIMATE, RESIDUAL, STEPS, Table, Work, borrowed, put

FIRST, TIGHTER, FINEST = 0.1, 3.0, 1e-16  # the first bar for each node to keep, its divisor from one to the next, the last bar
CHANGED = 1.2  # of the share of best nodes that may be missed, what may have changed from one bar to the next
LOW, HIGH, SMALL = 0.7, 1.5, 64  # scores about the last one that are computed once more, at nodes of so many steps at most
NOTHING = 1e-12  # the residual that counts as none
BUDGET = 20_000_000  # edges


def local_push(problem: Problem, budget: int = BUDGET) -> Found:
    """The best nodes once no more of them change from one bar to the next than `recall` leaves room for; with a recall of 1,
    once nothing is left to push.

    Where the bar has fallen so often that `budget` edges are walked, the best so far, not settled. Seeds are pushed whatever
    their degree. Scores are scaled to what mass was not dropped at nodes without steps.
    """
    keep, before, settled, why = problem.keep, None, False, ""
    with borrowed() as work:
        for seed, share in zip(problem.seeds.tolist(), problem.shares.tolist()):
            put(work.table, seed, share)
        enqueue(work.table, 1.0, True, problem.links)
        drain(work, problem, 1.0, np.iinfo(np.int64).max)
        bar = FIRST / max(1, keep)
        while True:
            problem.check()
            enqueue(work.table, bar, False, problem.links)
            spent = not drain(work, problem, bar, budget)
            scores, left = known_scores(work.table, 1.0 - problem.damping)
            settled = left < NOTHING or bar <= FINEST
            if spent or settled or len(scores) >= keep:
                nodes, scores = _rank(work.table, problem, scores, left)
                best = top_k(nodes, scores, keep)[0]
                if before is not None and not settled:
                    missing = 1.0 - np.isin(best, before).mean()
                    settled = problem.recall < 1.0 and missing <= CHANGED * (1.0 - problem.recall)
                before = best
            if spent or settled:
                break
            bar /= TIGHTER
        edges, total = int(work.table.state[STEPS]), float(_held(work.table))
        nodes, scores = problem.ranked(nodes, scores)
    if settled:
        why = "nothing was left to push" if left < NOTHING else f"the best {len(nodes):,} had settled"
        return Found(nodes, scores / total, edges, True, f"Push ended when {why}, after {edges:,} edges.")
    return Found(nodes, scores / total, edges, False, f"Push gave up after {edges:,} edges; the last of the best may differ.")


def drain(work: Work, problem: Problem, bar: float, budget: int) -> bool:
    """Pushes until the queue is empty, in larger arrays where they are needed; False where the budget was spent before."""
    while True:
        code = push(work.table, problem.damping, bar, budget, problem.links)
        if code == DONE or code == SPENT:
            return code == DONE
        work.grow(code)


def _rank(table: Table, problem: Problem, scores: np.ndarray, left: float) -> tuple[np.ndarray, np.ndarray]:
    """(nodes, scores) of all slots, what is still to arrive counted in and the scores about the last place made better."""
    keep, nodes = problem.keep, table.nodes[: len(scores)].copy()
    far = problem.damping * left / max(1.0, problem.flow)
    add_far(table, scores, far, problem.links)
    if 0 < keep < len(scores):
        last = np.partition(scores, len(scores) - keep)[len(scores) - keep]
        band = np.flatnonzero((scores >= LOW * last) & (scores <= HIGH * last))
        band = band[band >= len(problem.seeds)]  # a seed's score is not only what its neighbours hand on
        scores[band], walked = pull(table, band, scores, problem.damping, far, SMALL, problem.links)
        table.state[STEPS] += walked
    return nodes, steady(scores)


def _held(table: Table) -> float:
    """The mass that was not dropped."""
    cells = table.cells[: table.state[COUNT]]
    return cells[:, ESTIMATE].sum() + cells[:, RESIDUAL].sum()
