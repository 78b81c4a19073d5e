"""Local forward push, with a threshold that falls until the best nodes are stable.

A first-in first-out push (Andersen, Chung, Lang 2006) gives each node an estimate, which is
certain, and a residual, which was not pushed yet. The threshold is the residual per step of a node
from which on the node is pushed (the paper's epsilon). The module `extrapolate` predicts where the
residuals will arrive, so that few pushes suffice for the ranking. The module `refine` recomputes
the scores close to the `keep`-th best from those of the neighbours.

The last score is the `keep`-th best score, 0 if there are fewer than `keep` scores.
"""

from __future__ import annotations

import numpy as np

from core.graph.order import round_scores, top_k
from core.graph.pagerank.local.disk import DiskReadAhead
from core.graph.pagerank.local.extrapolate import predict_scores
from core.graph.pagerank.local.push_loops import BUDGET_SPENT, QUEUE_EMPTY, enqueue, push_queue
from core.graph.pagerank.local.refine import CROWD_FACTOR, ScoreRefinement
from core.graph.pagerank.local.table import (
    EDGES_WALKED,
    ESTIMATE,
    QUEUE_HEAD,
    QUEUE_SIZE,
    RESIDUAL,
    SLOT_COUNT,
    SlotTable,
    WorkArrays,
    add_residual,
    borrow_work,
)
from core.graph.pagerank.problem import PageRankProblem, PageRankResult

# First threshold, times the number of nodes to keep; divisor from one threshold to the next; and
# smallest threshold.
FIRST_PUSH_THRESHOLD, PUSH_THRESHOLD_DIVISOR, MIN_PUSH_THRESHOLD = (0.1, 2.0, 1e-16)
# Factor by which the threshold must be below the last score before the best nodes are compared, if
# at least `keep` nodes have scores around the last score.
THRESHOLD_BELOW_LAST_FACTOR = 2.0
# Sum of all residuals below which nothing counts as left to push.
RESIDUAL_TOLERANCE = 1e-12
# Number of queued nodes whose steps are read ahead from the disk together.
READ_AHEAD_NODES = 512
ALL_STEPS = 1 << 31  # more than any node has
# Numbers of edges between two checks for waits on the disk: at first, doubling from then on, and at
# most.
FIRST_WAIT_CHECK_EDGES, MAX_WAIT_CHECK_EDGES = (32, 2000)
# Budget in edges per node to keep, divided by the share of nodes that may be missed; and the
# smallest budget.
PUSH_EDGES_PER_NODE, MIN_PUSH_EDGES = (15, 200_000)


def local_push(problem: PageRankProblem, budget: int | None = None) -> PageRankResult:
    """Return the best nodes by a push whose threshold falls until they are stable.

    The push ends once the best nodes change from one threshold to the next by no more than
    `problem.recall` allows. With a recall of 1 it ends once nothing is left to push. The best nodes
    are compared only for thresholds below the last score; with higher thresholds, too little is
    pushed for a meaningful comparison. The result is not settled if the budget is spent before the
    end, or if too little of it is left for another comparison. `budget` is a number of edges, by
    default that of `push_budget`; the edges of the seeds do not count. Seeds are always pushed, for
    any degree. Mass at nodes without steps is dropped, and scores are scaled to the remaining mass.

    >>> from core.graph.pagerank.local.push import local_push
    >>> from core.graph.pagerank.problem import pose_problem
    >>> toy.names(local_push(pose_problem(toy, [0], 2, 0.5, "out")).nodes)  # in truth A 16/29, C 6/29
    ['A', 'C']
    """
    if budget is None:
        budget = push_budget(problem)
    disk = DiskReadAhead(problem.links)
    with borrow_work() as work:
        for seed, share in zip(problem.seeds.tolist(), problem.shares.tolist()):
            add_residual(work.table, seed, share)
        search = _FallingThresholdPush(work, problem, disk)
        search.run(budget)
        edges, total = search.edges, float(_remaining_mass(work.table))
        nodes, scores = search.ranked_nodes()
    return PageRankResult(
        nodes,
        scores / total,
        edges,
        settled=bool(search.is_settled),
        note=search.describe_end(len(nodes), edges),
    )


class _FallingThresholdPush:
    """A push that ends once the best nodes are stable.

    They are stable if they stay the same from one threshold to the next. `scores` are the predicted
    scores of `nodes`. `residual_sum` is the sum of all residuals. `best_nodes` and `best_scores`
    are those of the previous comparison. `is_spent` is True if the budget is spent.
    """

    def __init__(self, work: WorkArrays, problem: PageRankProblem, disk: DiskReadAhead):
        self.work = work
        self.problem = problem
        self.disk = disk
        self.refinement = ScoreRefinement(problem, disk)
        self.max_edges = 0
        self.is_settled = False
        self.is_spent = False
        self.nodes = np.empty(0, np.int64)
        self.scores = np.empty(0)
        self.residual_sum = 0.0
        self.last_score = 0.0
        self.best_nodes = np.empty(0, np.int64)
        self.best_scores = np.empty(0)
        self._previous_best: np.ndarray | None = None

    @property
    def edges(self) -> int:
        """Number of edges walked."""
        return int(self.work.table.state[EDGES_WALKED])

    def run(self, budget: int) -> None:
        """Push the seeds, and then up to `budget` further edges with a falling threshold."""
        _push_seeds(self.work, self.problem, self.disk)
        self.max_edges = self.edges + budget
        threshold = FIRST_PUSH_THRESHOLD / max(1, self.problem.keep)
        self._push_to_threshold(threshold)
        while not (self.is_spent or self.is_settled):
            threshold /= PUSH_THRESHOLD_DIVISOR
            if self.last_score > 0.0:
                threshold = min(threshold, self.last_score)
            self._push_to_threshold(threshold)

    def ranked_nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the best nodes and their scores.

        If there are fewer than `keep`, the nodes nearest to the seeds follow.
        """
        keep = self.problem.keep
        if len(self.best_nodes) == keep and keep > 0 and self.best_scores[-1] > 0.0:
            return self.best_nodes, self.best_scores
        return self.problem.rank_nodes(self.nodes, self.scores)

    def describe_end(self, n_nodes: int, edges: int) -> str:
        """Return a sentence about the end of the push.

        `n_nodes` is the number of ranked nodes.
        """
        if not self.is_settled:
            return f"Push gave up after {edges:,} edges; the last of the best may differ."
        reason = f"the best {n_nodes:,} had settled"
        if self.residual_sum < RESIDUAL_TOLERANCE:
            reason = "nothing was left to push"
        return f"Push ended when {reason}, after {edges:,} edges."

    def _push_to_threshold(self, threshold: float) -> None:
        """Push all residuals above a threshold.

        The best nodes are compared if the threshold is low enough.
        """
        self.problem.watch.check()
        enqueue(self.work.table, threshold, int(self.work.table.state[SLOT_COUNT]))
        self.is_spent = not drain_queue(
            self.work, self.problem, threshold, budget=self.max_edges, disk=self.disk
        )
        self._predict_scores()
        self.is_settled = self.residual_sum < RESIDUAL_TOLERANCE or threshold <= MIN_PUSH_THRESHOLD
        n_around_last = self.refinement.count_around_last(self.scores, self.last_score)
        factor = THRESHOLD_BELOW_LAST_FACTOR if n_around_last >= self.problem.keep else 1.0
        if self.is_spent or self.is_settled or threshold * factor <= self.last_score:
            self._compare_best(crowded=n_around_last >= CROWD_FACTOR * self.problem.keep)

    def _predict_scores(self) -> None:
        self.scores, self.residual_sum, self.last_score = predict_scores(
            self.work.table, self.problem, self.disk
        )

    def _compare_best(self, crowded: bool) -> None:
        """Refine the scores around the last score, and compare the best nodes.

        They are compared with those before. `crowded` is True if many nodes have scores around the
        last score.
        """
        if crowded:
            # The seeds pass on the mass that they have received since they were pushed.
            _push_seeds(self.work, self.problem, self.disk)
            self._predict_scores()
        refine_edges = self.refinement.refine(
            self.work.table, self.scores, self.residual_sum, last=self.last_score, crowded=crowded
        )
        self.nodes = self.work.table.nodes[: len(self.scores)].copy()
        self.best_nodes, self.best_scores = top_k(
            self.nodes, round_scores(self.scores), self.problem.keep
        )
        if not (self.is_settled or self.is_spent):
            self.is_settled = self._is_best_stable()
        self._previous_best = self.best_nodes
        self.is_spent = self.is_spent or self.edges + refine_edges > self.max_edges

    def _is_best_stable(self) -> bool:
        """Return whether the best nodes changed by no more than the recall allows."""
        recall = self.problem.recall
        if self._previous_best is None or recall >= 1.0:
            return False
        missed_share = 1.0 - np.isin(self.best_nodes, self._previous_best).mean()
        return bool(missed_share <= 1.0 - recall)


def push_budget(problem: PageRankProblem) -> int:
    """Return the largest number of edges that a push may walk."""
    missed_share = max(1.0 - problem.recall, 1e-4)
    return max(MIN_PUSH_EDGES, int(PUSH_EDGES_PER_NODE * problem.keep / missed_share))


def _push_seeds(work: WorkArrays, problem: PageRankProblem, disk: DiskReadAhead) -> None:
    """Push the seeds alone, whatever their residual."""
    work.table.state[QUEUE_SIZE] = 0
    enqueue(work.table, 0.0, len(problem.seeds))
    drain_queue(work, problem, np.inf, np.iinfo(np.int64).max, disk)


def drain_queue(
    work: WorkArrays,
    problem: PageRankProblem,
    threshold: float,
    budget: int,
    disk: DiskReadAhead | None = None,
) -> bool:
    """Push until the queue is empty, and grow the work arrays if necessary.

    Returns False if the queue is not empty after `budget` edges, counted since the arrays were
    borrowed.
    """
    disk = disk or DiskReadAhead(problem.links)
    while True:
        edge_limit = budget
        if disk.is_measured:
            edges = int(work.table.state[EDGES_WALKED])
            if disk.has_waited():
                next_edges = READ_AHEAD_NODES + disk.read_rows(_next_nodes(work.table), ALL_STEPS)
            else:
                next_edges = min(MAX_WAIT_CHECK_EDGES, edges + FIRST_WAIT_CHECK_EDGES)
            edge_limit = min(budget, edges + next_edges)
        code = push_queue(work.table, problem.damping, threshold, edge_limit, problem.links)
        if code == QUEUE_EMPTY or (code == BUDGET_SPENT and edge_limit == budget):
            return code == QUEUE_EMPTY
        if code != BUDGET_SPENT:  # the code is then the number of slots that is needed
            work.grow(code)


def _next_nodes(table: SlotTable) -> np.ndarray:
    """Return the first `READ_AHEAD_NODES` nodes of the queue."""
    ring = len(table.queue) - 1
    head = int(table.state[QUEUE_HEAD])
    size = int(table.state[QUEUE_SIZE])
    return table.nodes[table.queue[(head + np.arange(min(size, READ_AHEAD_NODES))) & ring]]


def _remaining_mass(table: SlotTable) -> float:
    """Return the mass that was not dropped."""
    cells = table.cells[: table.state[SLOT_COUNT]]
    return cells[:, ESTIMATE].sum() + cells[:, RESIDUAL].sum()
