"""Recomputation of scores close to the last of the best.

They are computed from the scores of neighbours. Next to a hub, thousands of neighbours receive the
same mass and have scores close to the last one. They differ by what comes back from their own
neighbours with few steps. For nodes close to the last place, these neighbours are therefore
computed first. A second pass recomputes only the nodes that the first one found close to the last
place.
"""

from __future__ import annotations

import numpy as np

from core.graph.degrees import MANY
from core.graph.pagerank.local.disk import Disk
from core.graph.pagerank.local.extrapolate import far, last_of, returns, stays
from core.graph.pagerank.local.refine_loops import pull
from core.graph.pagerank.local.table import STEPS, Table
from core.graph.pagerank.problem import Problem

# Bounds of the scores that are recomputed, as multiples of the last one.
LOW, HIGH = 0.75, 1.35
# Largest number of steps of a node that is recomputed; larger degrees are not told apart by one
# byte.
SMALL = MANY - 1
# Multiple of the nodes to keep; if more nodes are close to the last place, their small neighbours
# are computed first. Largest number of steps of such a neighbour.
CROWD, FEW = (2, 4)
# Relative distance from the last score that counts as close, and largest standard deviation of
# the relative changes of these scores for which all others are changed alike.
NEAR, STEADY = (0.008, 0.005)


class Looks:
    """The recomputations of one search, each of which may reuse the previous one."""

    def __init__(self, problem: Problem, disk: Disk):
        self.problem, self.disk = problem, disk
        self._slots, self._scores, self._last = np.empty(0, np.int64), np.empty(0), 0.0

    def about(self, scores: np.ndarray, last: float) -> int:
        """Number of nodes with scores around the last one."""
        return len(self._band(scores, last))

    def ask(self, table: Table, scores: np.ndarray, left: float, last: float, crowded: bool) -> int:
        """Recompute the scores around the last one.

        `left` is the sum of all residuals. `scores` is changed. Returns the number of edges walked.
        """
        band, walked = self._band(scores, last), int(table.state[STEPS])
        if not crowded:
            self._pull(table, scores, left, band, 0)
            return int(table.state[STEPS]) - walked
        near = np.abs(self._scores - self._last) <= NEAR * self._last
        asked, known = self._slots[near], self._slots[~near]
        self._pull(table, scores, left, asked, FEW)
        self._closely(table, scores, left, np.setdiff1d(band, self._slots))
        if len(known):
            change = scores[asked] / self._scores[near] if len(asked) else np.zeros(1)
            # The other scores are assumed to have changed in the same way.
            if np.std(change) <= STEADY * np.median(change):
                scores[known] = self._scores[~near] * np.median(change)
            else:
                self._closely(table, scores, left, known)
        self._slots, self._last = np.union1d(band, self._slots), last_of(scores, self.problem.keep)
        self._scores = scores[self._slots]
        return int(table.state[STEPS]) - walked

    def _closely(self, table: Table, scores: np.ndarray, left: float, slots: np.ndarray) -> None:
        """Recompute the scores of some slots from their neighbours.

        Scores close to the last one are also recomputed from the neighbours' neighbours. The others
        are multiplied by the median change of these.
        """
        self._pull(table, scores, left, slots, 0)
        last = last_of(scores, self.problem.keep)
        near = np.abs(scores[slots] - last) <= NEAR * last
        before = scores[slots]
        if near.any():
            self._pull(table, scores, left, slots[near], FEW)
            scores[slots[~near]] *= np.median(scores[slots[near]] / before[near])

    def _band(self, scores: np.ndarray, last: float) -> np.ndarray:
        """Return the slots with scores around the last one.

        Seeds are left out, since their score does not come from their neighbours alone.
        """
        if last <= 0.0 or self.problem.keep == len(scores):
            return np.empty(0, np.int64)
        band = np.flatnonzero((scores >= LOW * last) & (scores <= HIGH * last))
        return band[band >= len(self.problem.seeds)]

    def _pull(
        self, table: Table, scores: np.ndarray, left: float, band: np.ndarray, few: int
    ) -> None:
        problem = self.problem
        if self.disk.waits():
            self.disk.around(table.nodes[band], SMALL, few)
        means = (
            problem.damping,
            stays(problem),
            far(problem, left),
            SMALL,
            returns(problem),
            few,
            len(problem.seeds),
        )
        scores[band], walked = pull(table, band, scores, *means, problem.links)
        table.state[STEPS] += walked
