"""Prediction of PageRank scores from an unfinished local push.

A local push (Andersen, Chung, Lang 2006) finds the best nodes by personalised PageRank without
visiting the whole graph. All mass, 1 in total, begins at the seeds. Each visited node v has two
numbers: `estimate[v]`, the part of its score that is certain, and `residual[v]`, the mass that has
arrived at v and was not pushed yet. A push of v does the following:

    estimate[v] += (1 - damping) * residual[v]
    residual[w] += damping * residual[v] / degree(v)     for each step from v to w
    residual[v] = 0

Once no residual is left, the estimates are the scores. This module predicts the scores earlier:

    score[v] = estimate[v] + staying_share * residual[v] + far_mass * in_steps(v)

Terms
-----
step : an edge in a direction in which it may be followed. If both directions are allowed, an edge
    between two nodes is two steps. The degree of v is the number of steps from v, and in_steps(v)
    is the number of steps that lead to v. With edge weights, sums of weights replace numbers of
    steps.
slot : the row of a visited node in the arrays of a `SlotTable`. Slots are numbered in the order of
    the first visit.
mass : a part of the total of 1.
return share : the part of a pushed residual that comes back to its node. It is b below.
staying share : the part of a residual that is added to the estimate of its own node, either in the
    first push or after it came back, once or several times:
    (1 - damping) * (1 + b + b^2 + ...) = (1 - damping) / (1 - b).
far mass : the part of all residuals that does not stay, divided by the number of steps. A walk is
    close to the stationary distribution after a few steps. If both directions are allowed, that
    distribution is proportional to the number of steps to a node. This part is therefore divided
    equally among all steps of the graph.
returned mass : the part of the mass passed along a step that comes back along the same step.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from core.graph.degrees import DEGREE_BYTE_CAP
from core.graph.pagerank.local.disk import DiskReadAhead
from core.graph.pagerank.local.push_loops import add_far_mass, known_scores
from core.graph.pagerank.local.table import CELL_DEGREE, SlotTable
from core.graph.pagerank.problem import PageRankProblem


def predict_scores(
    table: SlotTable, problem: PageRankProblem, disk: DiskReadAhead
) -> tuple[np.ndarray, float, float]:
    """Predict the scores of the visited nodes, and find the `keep`-th best.

    Parameters
    ----------
    table : the estimates and residuals.
    problem : the graph, the damping and the number of nodes to keep.
    disk : reads the degrees ahead if the search has waited for the disk.

    Returns
    -------
    The score of each slot, the sum of all residuals, and the `keep`-th best score (0 if there are
    fewer).
    """
    scores, residual_sum = known_scores(table, compute_staying_share(problem))
    if disk.has_waited():
        # A degree below 0 was not looked up yet. `add_far_mass` will compute it from the offsets.
        disk.read_offsets(table.nodes[: len(scores)][table.cells[: len(scores), CELL_DEGREE] < 0.0])
    add_far_mass(table, scores, compute_far_mass(problem, residual_sum), problem.links)
    return scores, residual_sum, find_last_score(scores, problem.keep)


def find_last_score(scores: np.ndarray, keep: int) -> float:
    """Return the `keep`-th best score, 0 if there are fewer."""
    if len(scores) < keep:
        return 0.0
    return float(np.partition(scores, len(scores) - keep)[len(scores) - keep])


def compute_staying_share(problem: PageRankProblem) -> float:
    """Return the staying share, as defined in the docstring of the module."""
    return (1.0 - problem.damping) / (1.0 - _compute_return_share(problem))


def compute_far_mass(problem: PageRankProblem, residual_sum: float) -> float:
    """Return the far mass of one step, or of one unit of weight.

    `residual_sum` is the sum of all residuals.
    """
    return (1.0 - compute_staying_share(problem)) * residual_sum / max(1.0, problem.total_weight)


def compute_returned_mass(problem: PageRankProblem) -> np.ndarray:
    """Return the returned mass of a step by its end's degree.

    The mass is divided by damping squared. The result is float64 [`DEGREE_BYTE_CAP` + 1]. The loops
    in `core.graph.pagerank.local.refine_loops` add it up over the steps from a node, and multiply
    the sum by damping squared once. At `DEGREE_BYTE_CAP`, which stands for all larger degrees, too,
    the mass is 0.
    """
    degrees = np.arange(DEGREE_BYTE_CAP + 1.0)
    mass = 1.0 / np.maximum(1.0, degrees - _compute_return_share(problem) * (degrees - 1.0))
    mass[[0, DEGREE_BYTE_CAP]] = 0.0
    return mass


def _compute_return_share(problem: PageRankProblem) -> float:
    """Return the return share b.

    It is 0 in one direction or with weights, for which there is no such estimate.

    Notes
    -----
    Let w be the end of a step from v, and k the degree of w. Of the mass on this step, w returns
    damping^2 / k directly. w passes the same part to each of its k - 1 other neighbours, and each
    of them returns the share b of it to w. In a graph with few cycles, there is no other way back
    to v:

        b = damping^2 / (k - b (k - 1))

    k is taken to be the mean degree at the end of a step. The harmonic mean over all steps is
    steps / nodes. The result is the root below 1 of the quadratic equation.
    """
    inverse_degree = 0.0
    if len(problem.links.degree_bytes):
        inverse_degree = min(1.0, problem.graph.n_nodes / max(1, problem.n_steps))
    direct_share = problem.damping**2 * inverse_degree
    return 2.0 * direct_share / (1.0 + sqrt(1.0 - 4.0 * direct_share * (1.0 - inverse_degree)))
