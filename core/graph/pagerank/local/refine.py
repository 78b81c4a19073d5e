"""The nodes about the last place, decided by the equation itself: each score is computed once more from its neighbours'.

About a hub thousands of neighbours are handed the same and crowd about the last place. What sets them apart is what comes back
from their own neighbours of few steps, so for those near the last place these are computed first; and a second look asks only
those that the first found near.
"""

from __future__ import annotations

import numpy as np

from core.graph.degrees import MANY
from core.graph.pagerank.local.disk import Disk
from core.graph.pagerank.local.extrapolate import far, last_of, returns, stays
from core.graph.pagerank.local.refine_loops import pull
from core.graph.pagerank.local.table import STEPS, Table
from core.graph.pagerank.problem import Problem

LOW, HIGH = 0.75, 1.35  # scores about the last one that are computed once more
SMALL = MANY - 1  # steps in the most of nodes that are; more than one byte tells are not told apart
# so many times those to keep lie there: of those near the last place, neighbours of so many steps are computed first
CROWD, FEW = (2, 4)
# about the last one, scores that count as near it; how far these may change apart from one another
NEAR, STEADY = (0.008, 0.005)


class Looks:
    """The looks of one search, each of which may start from the one before."""

    def __init__(self, problem: Problem, disk: Disk):
        self.problem, self.disk = problem, disk
        self._slots, self._scores, self._last = np.empty(0, np.int64), np.empty(0), 0.0

    def about(self, scores: np.ndarray, last: float) -> int:
        """How many nodes lie about the last place."""
        return len(self._band(scores, last))

    def ask(self, table: Table, scores: np.ndarray, left: float, last: float, crowded: bool) -> int:
        """Computes the scores about the last place once more, where `left` is all residual. Changes `scores`; gives the edges walked."""
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
            # the others will have changed as these have
            if np.std(change) <= STEADY * np.median(change):
                scores[known] = self._scores[~near] * np.median(change)
            else:
                self._closely(table, scores, left, known)
        self._slots, self._last = np.union1d(band, self._slots), last_of(scores, self.problem.keep)
        self._scores = scores[self._slots]
        return int(table.state[STEPS]) - walked

    def _closely(self, table: Table, scores: np.ndarray, left: float, slots: np.ndarray) -> None:
        """Computes the scores of some slots from their neighbours', and those near the last place from their neighbours' neighbours'
        too; the others are taken to change by that as these do."""
        self._pull(table, scores, left, slots, 0)
        last = last_of(scores, self.problem.keep)
        near = np.abs(scores[slots] - last) <= NEAR * last
        before = scores[slots]
        if near.any():
            self._pull(table, scores, left, slots[near], FEW)
            scores[slots[~near]] *= np.median(scores[slots[near]] / before[near])

    def _band(self, scores: np.ndarray, last: float) -> np.ndarray:
        """The slots whose scores lie about the last one; no seeds, whose score is not only what their neighbours hand on."""
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
