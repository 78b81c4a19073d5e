"""PAFO: FORA on several threads of one computer, with random walks drawn in advance.

Wang, Wang, Zhou, VLDB Journal 28(6), 2019.
"""

from __future__ import annotations

from dataclasses import replace

from core.errors import BadParameter
from core.graph.pagerank.problem import PageRankProblem, PageRankResult
from core.graph.pagerank.rounds import rank_by_rounds


def pafo(problem: PageRankProblem) -> PageRankResult:
    """Return the best nodes by FORA on `problem.threads` threads.

    The push runs in rounds. In a round with many steps each thread computes the mass that arrives
    at a range of nodes; a round with few steps runs on one thread. Each thread then adds the walks
    that start in its range. `rank_by_rounds` states the guarantee. The result is the same, bit by
    bit, for any number of threads.

    Raises
    ------
    BadParameter
        If the edges have weights, or there are no threads.

    Notes
    -----
    As in FORA with an index, walks are drawn once for a graph, direction and damping, so
    `problem.random_seed` has no effect. The settings are FORA's: epsilon 0.5, delta and the failure
    probability 1/n, and a threshold that balances pushing and walking. In the paper, threads add to
    one array by atomic operations. Here one thread computes each node, and each thread counts walks
    in its own array, because otherwise the order of additions would change the result.

    Examples
    --------
    >>> from core.graph.pagerank.pafo import pafo
    >>> from core.graph.pagerank.problem import pose_problem
    >>> found = pafo(pose_problem(toy, [0], 3, 0.5, "out"))  # in truth A 16/29, C 6/29, B 4/29
    >>> toy.names(found.nodes)
    ['A', 'C', 'B']
    """
    problem.check_unweighted("pafo")
    if problem.threads < 1:
        raise BadParameter(f"PAFO needs at least one thread, not {problem.threads}.")
    return rank_by_rounds(replace(problem, workers=None), "PAFO")
