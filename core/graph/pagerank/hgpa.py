"""HGPA: exact PageRank as a sum of precomputed vectors of hub nodes.

Hubs are nodes that separate the graph into parts (`hub_tree`). `part_vectors` computes the vectors.

Guo, Cao, Cong, Lu, Lin, SIGMOD 2017.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from core.errors import BadInput
from core.graph.pagerank.hub_tree import HubPart, make_hub_tree
from core.graph.pagerank.part_vectors import HubReturns, PartVectors, make_skeleton, step_matrix
from core.graph.pagerank.pieces import PieceSource, hold_workers, piece_source, run_pieces
from core.graph.pagerank.problem import PageRankProblem, PageRankResult


@dataclass(frozen=True)
class HgpaDefaults:
    """Settings of HGPA."""

    tolerance: float = 1e-4  # largest error summed over all scores
    leaf_nodes: int = 500  # parts of more nodes are divided, if that is possible
    max_hubs: int = 8_000  # between the largest parts; a matrix of all pairs of them is kept


HGPA = HgpaDefaults()


def hgpa(problem: PageRankProblem) -> PageRankResult:
    """Return the best nodes by HGPA, run by `problem.workers` or in this process.

    The first call for a graph, direction and damping computes the vectors, which are cached. A
    partial vector has the expected visits of a part's nodes by walks from a hub that end when they
    meet a hub. The skeleton has the expected visits of each hub by walks from each hub. A question
    takes two rounds. First, the parts with seeds return the mass that arrives at hubs. The skeleton
    turns it into the visits of the hubs. Second, each part returns the sum of its partial vectors,
    weighted by the visits of their hubs. Each part is divided and solved in the same way, which is
    the paper's hierarchy.

    The smallest entries of partial vectors are left out. The mass that is missing in the end bounds
    the error summed over all scores. The note has this bound, and the result is settled if the
    bound is at most the tolerance.

    Raises
    ------
    BadParameter
        If the edges have weights.
    BadInput
        If there are more than `HGPA.max_hubs` hubs, as in large graphs without separate parts.
    StoreError
        If there are workers and the graph is not stored.

    Notes
    -----
    The tolerance is that of the paper's experiments, here a bound of the summed error. The paper
    divides each part in two by METIS. Here parts are nested Leiden communities, because METIS is
    not a dependency. The paper keeps a skeleton vector of every node, so that a question
    takes one round. Here skeletons are between hubs, and the first round computes those of the
    seeds. The paper gives each machine some of the hubs. Here each worker computes some of the
    parts, so that nothing has to be added up.

    Examples
    --------
    >>> from core.graph.pagerank.hgpa import hgpa
    >>> from core.graph.pagerank.problem import pose_problem
    >>> found = hgpa(pose_problem(toy, [0], 3, 0.5, "out"))
    >>> toy.names(found.nodes), (29 * found.scores).round(3).tolist()
    (['A', 'C', 'B'], [16.0, 6.0, 4.0])
    """
    problem.check_unweighted("hgpa")
    # Most of the work holds Python's lock, so several threads would not help.
    problem = replace(problem, threads=1)
    tree = _hub_tree(problem)
    with hold_workers(problem) as n_pieces:
        visits = _sum_visits(problem, tree, n_pieces)
    degree = problem.graph.degrees(np.arange(problem.graph.n_nodes), problem.direction)
    # Share of a visit that is not passed on; all of it at a node without steps.
    resting_share = np.where(degree > 0, 1.0 - problem.damping, 1.0)
    missing = max(0.0, 1.0 - float(visits @ resting_share))
    nodes = np.flatnonzero(visits > 0.0)
    scores = (1.0 - problem.damping) * visits[nodes]
    # The missing mass is an error, and scaling the scores up adds the same error once more.
    max_error = 2.0 * missing / scores.sum()
    best, values = problem.rank_nodes(nodes, scores)
    return PageRankResult(
        best,
        values / max(scores.sum(), values.sum()),
        settled=max_error <= HGPA.tolerance,
        note=f"HGPA summed the vectors of {len(tree.hubs):,} hubs between {len(tree.children):,} "
        f"parts; scores are off by at most {max_error:.1e} together.",
    )


def _hub_tree(problem: PageRankProblem) -> HubPart:
    """Return the parts of the graph and their hubs, computed once per graph.

    Raises
    ------
    BadInput
        If there are too many hubs.
    """
    tree = problem.graph.derived.get_or_make(
        "hub tree",
        HGPA.leaf_nodes,
        lambda: make_hub_tree(problem.graph, HGPA.leaf_nodes, problem.watch),
    )
    if len(tree.hubs) > HGPA.max_hubs:
        raise BadInput(
            f"The parts of this graph are joined by {len(tree.hubs):,} hubs, and HGPA takes at "
            f"most {HGPA.max_hubs:,}. Choose another method of PageRank."
        )
    return tree


def _sum_visits(problem: PageRankProblem, tree: HubPart, n_pieces: int) -> np.ndarray:
    """Return the expected visits of each node, float64 [n].

    The second round is divided into `n_pieces` groups of parts, which may run in parallel.
    """
    source, parts = piece_source(problem), _outer_parts(tree)
    restarts = np.zeros(problem.graph.n_nodes)
    restarts[problem.seeds] = problem.shares
    by_part = [restarts[part.nodes] for part in parts]

    def make_outer_skeleton() -> np.ndarray:
        prepared = run_pieces(problem, partial(_hub_returns, source, tree), range(len(parts)))
        among_hubs = _matrix(source)[tree.hubs][:, tree.hubs]
        return make_skeleton(among_hubs, (returns for _, returns in prepared))

    skeleton = source.get_or_make("hgpa skeleton", HGPA, make_outer_skeleton)
    seeded = [(number, part) for number, part in enumerate(by_part) if part.any()]
    hub_mass = restarts[tree.hubs]
    for _, mass in run_pieces(problem, partial(_mass_at_hubs, source, tree), seeded):
        hub_mass += mass
    visits = np.empty(problem.graph.n_nodes)
    visits[tree.hubs] = hub_visits = skeleton @ hub_mass
    work = partial(_part_visits, source, tree, hub_visits, by_part)
    groups = [range(first, len(parts), n_pieces) for first in range(n_pieces)]
    for group, group_visits in run_pieces(problem, work, groups):
        for number, part_visits in zip(group, group_visits):
            visits[parts[number].nodes] = part_visits
    return visits


def _outer_parts(tree: HubPart) -> tuple[HubPart, ...]:
    """Return the parts between the outermost hubs.

    This is the whole graph if it has no hubs.
    """
    return tree.children or (tree,)


def _matrix(source: PieceSource) -> csr_array:
    """Return the `step_matrix` of the graph, computed at the first call in a process."""
    settings = source.direction, source.damping
    return source.get_or_make("hgpa matrix", None, lambda: step_matrix(source.graph, *settings))


def _vectors(source: PieceSource, tree: HubPart, number: int) -> PartVectors:
    """Return the vectors of a part, computed at the first call in a process."""
    part = _outer_parts(tree)[number]
    # Visits sum up to 1 / (1 - damping). The 4 leaves room for the mass that nested parts lose.
    max_lost = HGPA.tolerance * (1.0 - source.damping) / 4.0
    return source.get_or_make(
        "hgpa vectors",
        (HGPA, number),
        lambda: PartVectors(part, tree, _matrix(source), max_lost, source.watch),
    )


def _hub_returns(source: PieceSource, tree: HubPart, number: int) -> HubReturns:
    """Compute the vectors of a part.

    The mass that flows from hub to hub through the part is returned.
    """
    return _vectors(source, tree, number).returns


def _mass_at_hubs(source: PieceSource, tree: HubPart, seeded: tuple[int, np.ndarray]) -> np.ndarray:
    """Return the mass that arrives at each hub from the restarts in a part.

    `seeded` is the number of the part and the restarts of its nodes.
    """
    number, restarts = seeded
    vectors = _vectors(source, tree, number)
    return vectors.mass_at_hubs(vectors.solver.solve(restarts), len(tree.hubs))


def _part_visits(
    source: PieceSource,
    tree: HubPart,
    hub_visits: np.ndarray,
    restarts: list[np.ndarray],
    group: range,
) -> list[np.ndarray]:
    """Return the visits of the nodes of each part in `group`.

    They are visits from restarts and from hubs.
    """
    visits = []
    for number in group:
        vectors = _vectors(source, tree, number)
        visits.append(vectors.sum_vectors(hub_visits))
        if restarts[number].any():
            visits[-1] += vectors.solver.solve(restarts[number])
    return visits
