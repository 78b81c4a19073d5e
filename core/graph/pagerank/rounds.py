"""Forward push in rounds, then random walks drawn in advance, for PAFO and Delta-Push.

In a round all nodes above a threshold are pushed at the same time. A round needs only the mass that
each node passed on in the round before, so threads or worker processes can divide it among them.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit

from core.graph.kernels import _gather
from core.graph.pagerank.fora import FORA_EPSILON, walk_rate
from core.graph.pagerank.pieces import PieceSource, hold_workers, piece_source, run_pieces
from core.graph.pagerank.problem import PageRankProblem, PageRankResult
from core.graph.pagerank.walk_loops import FIXED_ONE, draw_ends, sum_ends

# Largest number of steps in a piece of a round, so that a cancellation is noticed soon.
CHECK_STEPS = 4_000_000
# A round that walks fewer than this part of the graph's steps runs in this process, node by node.
FEW_STEPS_DIVISOR = 4
# Seed of the walks. It is fixed, because walks are drawn once for a graph, direction and damping.
DRAWN_WALKS_SEED = 0


def rank_by_rounds(
    problem: PageRankProblem, name: str, per_step: float | None = None
) -> PageRankResult:
    """Return the best nodes by a push in rounds and drawn walks.

    The result has FORA's guarantee. With delta = 1/n and probability at least 1 - 1/n, each node
    with a PageRank of at least delta has an estimate within the relative error `FORA_EPSILON`. This
    takes omega walks per unit of residual, where omega is the `walk_rate`. From each node,
    `per_step` walks are drawn for each of its steps. The push ends once each residual is at most
    per_step x degree / omega, because the drawn walks then suffice.

    Parameters
    ----------
    name : name of the method, for the note.
    per_step : number of walks drawn in advance, divided by the number of steps of the graph. By
        default, pushing and walking cost about the same, as in FORA.
    """
    n_nodes = problem.graph.n_nodes
    rate = walk_rate(FORA_EPSILON, 1.0 / n_nodes, n_nodes)
    if per_step is None:
        per_step = float(np.sqrt(rate / max(1, problem.n_steps)))
    with hold_workers(problem) as n_pieces:
        push = RoundPush(problem, n_pieces)
        push.run(per_step / rate)
        scores = push.add_walks(rate, per_step)
    nodes = np.flatnonzero(scores)
    best, values = problem.rank_nodes(nodes, scores[nodes])
    values = values / max(scores.sum(), values.sum())
    return PageRankResult(
        best,
        values,
        push.steps,
        bool(values[-1] * n_nodes >= 1.0 + FORA_EPSILON) or len(best) < problem.keep,
        f"{name} took {push.rounds:,} rounds and {push.steps:,} edges; scores from 1/n on are "
        f"within {FORA_EPSILON:.0%} of their values with probability 1 - 1/n.",
    )


class RoundPush:
    """A forward push from the seeds of a problem, in rounds.

    A push of a node moves (1 - damping) of its residual to its estimate and shares the rest among
    its steps. Mass at a node without steps is dropped, which only scales the scores. Each thread or
    worker computes ranges of nodes. Sums are added in the same order for any number of workers.

    Attributes
    ----------
    estimate, residual : float64 [n].
    rounds, steps : number of rounds, and of steps walked.
    """

    def __init__(self, problem: PageRankProblem, n_pieces: int):
        self.problem = problem
        self.source = piece_source(problem)
        n_nodes = problem.graph.n_nodes
        self.degree = problem.graph.degrees(np.arange(n_nodes), problem.direction)
        self.ranges = split_nodes(self.degree, n_pieces)
        self.estimate = np.zeros(n_nodes)
        self.residual = np.zeros(n_nodes)
        self.residual[problem.seeds] = problem.shares
        self.rounds = 0
        self.steps = 0

    def run(self, threshold: float) -> None:
        """Push until each residual is at most `threshold` x degree."""
        limits = threshold * self.degree
        while len(active := np.flatnonzero(self.residual > limits)):
            self.problem.watch.check()
            self._run_round(active)

    def _run_round(self, active: np.ndarray) -> None:
        """Push the active nodes."""
        damping, degree = self.problem.damping, self.degree[active]
        mass, n_steps = self.residual[active], int(degree.sum())
        self.residual[active] = 0.0
        self.estimate[active] += (1.0 - damping) * mass
        gains = damping * mass / np.maximum(degree, 1)
        if n_steps * FEW_STEPS_DIVISOR < self.problem.n_steps:
            steps = self.problem.graph.steps_from(active, self.problem.direction)
            np.add.at(self.residual, steps.nodes, gains[steps.rows])
        else:
            passed = np.zeros(len(self.residual))
            passed[active] = gains
            gather = partial(_gather_piece, self.source, passed)
            for (start, end), arrived in run_pieces(self.problem, gather, self.ranges):
                self.residual[start:end] += arrived
        self.rounds += 1
        self.steps += n_steps

    def add_walks(self, rate: float, per_step: float) -> np.ndarray:
        """Return the estimates plus the residuals, moved to their walks' ends.

        The result is float64 [n]. `rate` is the number of walks per unit of residual.
        """
        sums = np.zeros(len(self.residual), np.int64)
        walk = partial(_walk_piece, self.source, self.residual, rate, per_step)
        for _, range_sums in run_pieces(self.problem, walk, self.ranges):
            sums += range_sums
        return self.estimate + sums / FIXED_ONE


def split_nodes(degree: np.ndarray, n_pieces: int) -> list[tuple[int, int]]:
    """Divide nodes into ranges with about equal numbers of steps.

    There are `n_pieces` ranges (start, end), end exclusive. There are more if a range would have
    over `CHECK_STEPS` steps, and fewer on graphs with few nodes.
    """
    work = np.cumsum(degree + 1)
    n_pieces = max(n_pieces, -(-int(work[-1]) // CHECK_STEPS))
    ends = np.searchsorted(work, work[-1] * np.arange(1, n_pieces) / n_pieces)
    bounds = np.unique([0, *ends.tolist(), len(work)]).tolist()
    return list(zip(bounds, bounds[1:]))


def _gather_piece(source: PieceSource, passed: np.ndarray, bounds: tuple[int, int]) -> np.ndarray:
    """Return the mass that arrives at each node of a range.

    `passed` is what each node sends.
    """
    return _gather_range(passed, *bounds, source.links())


def _walk_piece(
    source: PieceSource, residual: np.ndarray, rate: float, per_step: float, bounds: tuple[int, int]
) -> np.ndarray:
    """Return the `sum_ends` of the walks from a range of nodes, int64 [n]."""
    node_range = {"start": bounds[0], "end": bounds[1], "links": source.links()}
    ends = source.get_or_make(
        f"walks from {bounds}",  # a name per range: values of one name are computed one by one
        per_step,
        lambda: draw_ends(source.damping, per_step, DRAWN_WALKS_SEED, **node_range),
    )
    return sum_ends(residual, rate, ends, per_step, **node_range)


@njit(cache=True, nogil=True)
def _gather_range(passed, start, end, links):
    """Return the mass that arrives at each node from `start` to below `end`."""
    mask, out_indptr, tails, in_indptr, in_heads = links[:5]
    arrived = np.empty(end - start)
    for node in range(start, end):
        arrived[node - start] = _gather(node, passed, mask, out_indptr, tails, in_indptr, in_heads)
    return arrived
