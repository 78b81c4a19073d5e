"""Delta-Push: few rounds of a push over worker processes, then walks that were drawn before.

Hou, Chen, Wang, Wei, PVLDB 14(9), 2021.
"""

from __future__ import annotations

from core.graph.pagerank.problem import PageRankProblem, PageRankResult
from core.graph.pagerank.rounds import rank_by_rounds

# Walks drawn for each step of the graph, so that all workers together keep one for each.
WALKS_PER_STEP = 1.0


def delta_push(problem: PageRankProblem) -> PageRankResult:
    """Return the best nodes by Delta-Push, over `problem.workers` or in this process.

    All workers together keep as many drawn walks as the graph has steps. The push ends as soon as
    these suffice for the residuals, and one more round adds them. The number of rounds therefore
    grows with the logarithm of omega / steps, with omega as in `rank_by_rounds`, which has the
    guarantee. In a round each worker receives the masses that all nodes pass on, and returns what
    arrives at its range of nodes. The result has the same bytes for any number of workers.

    Raises
    ------
    BadParameter
        If there are weights.
    StoreError
        If there are workers and the graph is not stored.

    Notes
    -----
    The settings are FORA's: epsilon 0.5, delta and the failure probability 1/n. The paper sends a
    message along each edge, and bounds those of a worker by edges / workers in a round. Here a
    worker receives a number for each node, and a round with few steps runs in this process. The
    paper's batches of questions and its top-k version are not used. LEGO-GraphRAG's report cites a
    later paper of these authors for this method, which is about changing graphs.

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
