"""Recomputation of scores around the last score, from the scores of the neighbours.

The last score is the `keep`-th best one, which decides what nodes are among the best. Next to a
hub, thousands of nodes receive the same mass and have scores around the last score. They differ by
the mass that comes back from their own small neighbours, those with few steps. Nodes around the
last score are recomputed from their neighbours. For those that are then close to the last score,
their small neighbours are computed first.
"""

from __future__ import annotations

import numpy as np

from core.graph.degrees import DEGREE_BYTE_CAP
from core.graph.pagerank.local.disk import DiskReadAhead
from core.graph.pagerank.local.extrapolate import (
    compute_far_mass,
    compute_returned_mass,
    compute_staying_share,
    find_last_score,
)
from core.graph.pagerank.local.refine_loops import recompute_scores
from core.graph.pagerank.local.table import EDGES_WALKED, SlotTable
from core.graph.pagerank.problem import PageRankProblem

# Bounds of the scores that are around the last score, as multiples of it. They are recomputed.
BAND_LOW_FACTOR, BAND_HIGH_FACTOR = 0.75, 1.35
# Largest number of steps of a node that is recomputed; one byte cannot hold larger degrees.
MAX_RECOMPUTED_STEPS = DEGREE_BYTE_CAP - 1
# If at least this multiple of `keep` nodes have scores around the last score, it is crowded.
CROWD_FACTOR = 2
# Largest number of steps of a small neighbour.
SMALL_NEIGHBOUR_STEPS = 4
# Largest relative difference from the last score that counts as close to it.
LAST_SCORE_TOLERANCE = 0.008
# Close scores are recomputed first. If the standard deviation of their relative changes is at most
# this share of the median change, the other scores are multiplied by the median and not recomputed.
MAX_CHANGE_DEVIATION = 0.005


class ScoreRefinement:
    """The recomputations of one search.

    Each of them reuses the scores of the previous one.
    """

    def __init__(self, problem: PageRankProblem, disk: DiskReadAhead):
        self.problem, self.disk = problem, disk
        # Slots, scores and last score of the previous recomputation.
        self._slots, self._scores, self._last = np.empty(0, np.int64), np.empty(0), 0.0

    def count_around_last(self, scores: np.ndarray, last: float) -> int:
        """Return the number of nodes with scores around the last score."""
        return len(self._band(scores, last))

    def refine(
        self, table: SlotTable, scores: np.ndarray, residual_sum: float, last: float, crowded: bool
    ) -> int:
        """Recompute the scores around the last score in place.

        `scores` has one for each slot, and `last` is the last score. If it is `crowded`, small
        neighbours of close nodes are computed, too. `residual_sum` is the sum of all residuals.
        Returns the number of edges walked.
        """
        band, start_edges = self._band(scores, last), int(table.state[EDGES_WALKED])
        if not crowded:
            self._pull(table, scores, residual_sum, band, 0)
            return int(table.state[EDGES_WALKED]) - start_edges
        is_close = np.abs(self._scores - self._last) <= LAST_SCORE_TOLERANCE * self._last
        close_slots, other_slots = self._slots[is_close], self._slots[~is_close]
        self._pull(table, scores, residual_sum, close_slots, SMALL_NEIGHBOUR_STEPS)
        self._recompute(table, scores, residual_sum, np.setdiff1d(band, self._slots))
        if len(other_slots):
            change = np.zeros(1)
            if len(close_slots):
                change = scores[close_slots] / self._scores[is_close]
            # If all close scores changed by about the same factor, so did the others.
            if np.std(change) <= MAX_CHANGE_DEVIATION * np.median(change):
                scores[other_slots] = self._scores[~is_close] * np.median(change)
            else:
                self._recompute(table, scores, residual_sum, other_slots)
        self._slots = np.union1d(band, self._slots)
        self._last = find_last_score(scores, self.problem.keep)
        self._scores = scores[self._slots]
        return int(table.state[EDGES_WALKED]) - start_edges

    def _recompute(
        self, table: SlotTable, scores: np.ndarray, residual_sum: float, slots: np.ndarray
    ) -> None:
        """Recompute the scores of some slots from their neighbours.

        Scores close to the last score are recomputed once more, with small neighbours computed
        first. The others are multiplied by the median change of the close ones.
        """
        self._pull(table, scores, residual_sum, slots, 0)
        last = find_last_score(scores, self.problem.keep)
        is_close = np.abs(scores[slots] - last) <= LAST_SCORE_TOLERANCE * last
        old_scores = scores[slots]
        if is_close.any():
            self._pull(table, scores, residual_sum, slots[is_close], SMALL_NEIGHBOUR_STEPS)
            scores[slots[~is_close]] *= np.median(scores[slots[is_close]] / old_scores[is_close])

    def _band(self, scores: np.ndarray, last: float) -> np.ndarray:
        """Return the slots with scores around the last score, ascending.

        Seeds, which have the first slots, are left out: their score does not come from their
        neighbours alone.
        """
        if last <= 0.0 or self.problem.keep == len(scores):
            return np.empty(0, np.int64)
        band = np.flatnonzero(
            (scores >= BAND_LOW_FACTOR * last) & (scores <= BAND_HIGH_FACTOR * last)
        )
        return band[band >= len(self.problem.seeds)]

    def _pull(
        self, table: SlotTable, scores: np.ndarray, residual_sum: float, band: np.ndarray, few: int
    ) -> None:
        """Recompute the scores of the slots in `band` in place.

        Neighbours of at most `few` steps are computed first; with 0, none are.
        """
        problem = self.problem
        if self.disk.has_waited():
            self.disk.read_neighbourhoods(table.nodes[band], MAX_RECOMPUTED_STEPS, few)
        arguments = (
            problem.damping,
            compute_staying_share(problem),
            compute_far_mass(problem, residual_sum),
            MAX_RECOMPUTED_STEPS,
            compute_returned_mass(problem),
            few,
            len(problem.seeds),
        )
        scores[band], edges = recompute_scores(table, band, scores, *arguments, problem.links)
        table.state[EDGES_WALKED] += edges
