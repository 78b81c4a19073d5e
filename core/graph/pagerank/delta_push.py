"""Delta-Push: a push in few rounds over worker processes, then random walks drawn in advance.

Hou, Chen, Wang, Wei, PVLDB 14(9), 2021.
"""

from __future__ import annotations

from core.graph.pagerank.problem import PageRankProblem, PageRankResult
from core.graph.pagerank.rounds import rank_by_rounds

# Number of walks that all workers together keep, divided by the number of steps of the graph.
WALKS_PER_STEP = 1.0


def delta_push(problem: PageRankProblem) -> PageRankResult:
    """Return the best nodes by Delta-Push, run by `problem.workers` or in this process.

    All workers together keep as many drawn walks as the graph has steps. The push ends as soon as
    these walks suffice for the residuals, and one more round adds the ends of the walks. The number
    of rounds therefore grows with the logarithm of omega / steps. `rank_by_rounds` defines omega
    and states the guarantee. In a round each worker receives the mass that each node passes on, and
    returns the mass that arrives at its range of nodes. The result is the same, bit by bit, for any
    number of workers.

    Raises
    ------
    BadParameter
        If the edges have weights.
    StoreError
        If there are workers and the graph is not stored.

    Notes
    -----
    The settings are FORA's: epsilon 0.5, delta and the failure probability 1/n. The paper sends a
    message along each edge, and bounds the messages of a worker in a round by edges / workers. Here
    a worker receives a number for each node, and a round with few steps runs in this process. The
    paper's batches of questions and its top-k version are not used. For this method,
    LEGO-GraphRAG's report cites a later paper of the authors, which is about dynamic graphs.

    Examples
    --------
    >>> from core.graph.pagerank.delta_push import delta_push
    >>> from core.graph.pagerank.problem import pose_problem
    >>> found = delta_push(pose_problem(toy, [0], 3, 0.5, "out"))  # A 16/29, C 6/29, B 4/29
    >>> toy.names(found.nodes)
    ['A', 'C', 'B']
    """
    problem.check_unweighted("delta-push")
    return rank_by_rounds(problem, "Delta-Push", WALKS_PER_STEP)
