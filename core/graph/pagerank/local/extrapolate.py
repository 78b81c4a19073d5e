"""Prediction of scores from the estimates and residuals of a push.

A part of each residual stays at its node: the mass that restarts there immediately, or after it
came back from a neighbour. The rest of all residuals will arrive at other nodes. After a few steps
a walk is close to the stationary distribution, so this rest is distributed over the nodes by the
number of steps that lead to them.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from core.graph.degrees import DEGREE_BYTE_CAP
from core.graph.pagerank.local.disk import DiskReadAhead
from core.graph.pagerank.local.push_loops import add_far_mass, known_scores
from core.graph.pagerank.local.table import CELL_DEGREE, SlotTable
from core.graph.pagerank.problem import PageRankProblem


def expected_scores(
    table: SlotTable, problem: PageRankProblem, disk: DiskReadAhead
) -> tuple[np.ndarray, float, float]:
    """Return the expected score of each slot.

    Returns
    -------
    The scores, the sum of all residuals, and the last of the best scores (0 if there are too few).
    """
    scores, residual_sum = known_scores(table, staying_share(problem))
    if disk.has_waited():
        disk.read_offsets(table.nodes[: len(scores)][table.cells[: len(scores), CELL_DEGREE] < 0.0])
    add_far_mass(table, scores, far_mass(problem, residual_sum), problem.links)
    return scores, residual_sum, last_score(scores, problem.keep)


def last_score(scores: np.ndarray, keep: int) -> float:
    """Return the last of the best `keep` scores, 0 if there are too few."""
    if len(scores) < keep:
        return 0.0
    return float(np.partition(scores, len(scores) - keep)[len(scores) - keep])


def staying_share(problem: PageRankProblem) -> float:
    """Return the share of a residual that stays at its node, now or when it comes back."""
    return (1.0 - problem.damping) / (1.0 - _return_share(problem))


def far_mass(problem: PageRankProblem, residual_sum: float) -> float:
    """Return the mass expected to arrive along each step, given the sum of all residuals."""
    return (1.0 - staying_share(problem)) * residual_sum / max(1.0, problem.total_weight)


def returned_mass(problem: PageRankProblem) -> np.ndarray:
    """Return the mass that a neighbour returns along a step, divided by damping squared.

    It is indexed by the neighbour's degree; for `DEGREE_BYTE_CAP`, which means this degree or a
    larger one, it is 0.
    """
    degrees = np.arange(DEGREE_BYTE_CAP + 1.0)
    mass = 1.0 / np.maximum(1.0, degrees - _return_share(problem) * (degrees - 1.0))
    mass[[0, DEGREE_BYTE_CAP]] = 0.0
    return mass


def _return_share(problem: PageRankProblem) -> float:
    """Return the share of pushed mass that comes back along the same step.

    It assumes that there are few loops, and that all nodes have the mean degree at the end of a
    step (1 over the mean of 1 / degree, which is steps / nodes). Let b be this share. A node of
    degree k returns damping^2 / k directly, and the share b of the mass that it passes to the k - 1
    others: b = damping^2 / (k - b (k - 1)). The root below 1 is the solution. The result is zero in
    one direction or with weights, because the share is not known there.
    """
    share = 0.0
    if len(problem.links.degree_bytes):
        share = min(1.0, problem.graph.n_nodes / max(1, problem.n_steps))
    direct_share = problem.damping**2 * share
    return 2.0 * direct_share / (1.0 + sqrt(1.0 - 4.0 * direct_share * (1.0 - share)))
