"""What a push leaves behind is expected where: what stays of each residual, what comes back of it, what arrives from afar.

What stays of a residual where it lies counts already: what restarts there at once, and after it came back from a neighbour. The
rest of all residuals will arrive somewhere: after a few steps a walk is near the stationary distribution, so each node is given
its share by the number of steps that lead to it.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from core.graph.degrees import MANY
from core.graph.pagerank.local.disk import Disk
from core.graph.pagerank.local.push_loops import add_far, known_scores
from core.graph.pagerank.local.table import DEGREE, Table
from core.graph.pagerank.problem import Problem


def expected(table: Table, problem: Problem, disk: Disk) -> tuple[np.ndarray, float, float]:
    """(the score of each slot with what is still to arrive, all that is, the last of the best scores, 0 where there are too few)."""
    scores, left = known_scores(table, stays(problem))
    if disk.waits():
        disk.offsets(table.nodes[: len(scores)][table.cells[: len(scores), DEGREE] < 0.0])
    add_far(table, scores, far(problem, left), problem.links)
    return scores, left, last_of(scores, problem.keep)


def last_of(scores: np.ndarray, keep: int) -> float:
    """The last of the best scores, 0 where there are too few."""
    short = len(scores) < keep
    return 0.0 if short else float(np.partition(scores, len(scores) - keep)[len(scores) - keep])


def stays(problem: Problem) -> float:
    """The part of a residual that stays where it lies: what restarts there, at once and each time that it came back."""
    return (1.0 - problem.damping) / (1.0 - _comes_back(problem))


def far(problem: Problem, left: float) -> float:
    """What is expected to arrive along each step from afar, where `left` is all residual."""
    return (1.0 - stays(problem)) * left / max(1.0, problem.flow)


def returns(problem: Problem) -> np.ndarray:
    """What a neighbour hands back along a step, over damping squared, by its degree up to `MANY`; 0 for `MANY` and more."""
    degrees = np.arange(MANY + 1.0)
    back = 1.0 / np.maximum(1.0, degrees - _comes_back(problem) * (degrees - 1.0))
    back[[0, MANY]] = 0.0
    return back


def _comes_back(problem: Problem) -> float:
    """The part of what is handed on along a step that comes back along it, where loops are few and all nodes are of the degree
    that a step meets on average (1 over the mean of 1 / degree, so steps / nodes).

    With b that part, a node of degree k hands back damping^2 / k at once, and again b of what it hands on to the k - 1 others:
    b = damping^2 / (k - b (k - 1)), the root below 1. Zero in one direction or with weights, where that is not known.
    """
    share = 0.0
    if len(problem.links.degree_bytes):
        share = min(1.0, problem.graph.n_nodes / max(1, problem.steps))
    once = problem.damping**2 * share
    return 2.0 * once / (1.0 + sqrt(1.0 - 4.0 * once * (1.0 - share)))
