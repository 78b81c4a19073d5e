"""PageRank inside the Leiden clusters that contain the seeds.

This is how LEGO-GraphRAG uses clusters that were computed in advance (technical report, table 6).
"""

from __future__ import annotations

import numpy as np

from core.errors import BadInput
from core.graph.algorithms.leiden import clustering_refusal
from core.graph.algorithms.neighbourhood import induced_edges
from core.graph.columns import row_offsets
from core.graph.pagerank.exact import EXACT_TOLERANCE, solve
from core.graph.pagerank.problem import NO_WEIGHTS, Adjacency, PageRankProblem, PageRankResult


def partition(problem: PageRankProblem) -> PageRankResult:
    """Return the best nodes by exact PageRank on the clusters of the seeds.

    The clusters are those of Leiden for modularity, as `problem.clusters` returns them. Detecting
    them takes minutes on a graph of a million nodes. If the seeds are in several clusters, the
    subgraph induced by the union of these clusters is used. Nodes outside have no score. If the
    clusters have fewer than `problem.keep` nodes, the nodes nearest to the seeds follow.

    Raises
    ------
    BadInput
        If the graph is too large to be clustered in the free memory.

    >>> from core.graph.algorithms.leiden import NodeCommunities
    >>> from core.graph.pagerank.partition import partition
    >>> from core.graph.pagerank.problem import pose_problem
    >>> two = lambda *_: NodeCommunities(np.array([0, 0, 0, 1, 1], np.int32))  # A, B and C; D and E
    >>> toy.names(partition(pose_problem(toy, [0], 3, 0.5, "out", clusters=two)).nodes)
    ['A', 'C', 'B']
    """
    if refusal := clustering_refusal(problem.graph):
        raise BadInput(f"{refusal} Choose another method of PageRank.")
    communities = problem.clusters(problem.graph, problem.watch)
    labels = np.unique(communities.community_of[problem.seeds]).tolist()
    nodes = np.sort(np.concatenate([communities.members(label) for label in labels]))
    edges = induced_edges(problem.graph, nodes)
    links = _subgraph_links(problem, nodes, edges)
    scores = solve(
        links,
        np.searchsorted(nodes, problem.seeds),
        problem.shares,
        problem.damping,
        EXACT_TOLERANCE,
        problem.watch,
    )
    total = float(scores[scores > 0.0].sum())
    best, values = problem.rank_nodes(nodes, np.maximum(scores, 0.0))
    note = f"The clusters of the seeds hold {len(nodes):,} nodes and {len(edges):,} edges."
    return PageRankResult(best, values / total, len(edges), True, note)


def _subgraph_links(problem: PageRankProblem, nodes: np.ndarray, edges: np.ndarray) -> Adjacency:
    """Return the adjacency of a subgraph; its nodes are numbered by positions in `nodes`."""
    heads, _, tails = problem.graph.triples(edges)
    heads, tails = np.searchsorted(nodes, heads), np.searchsorted(nodes, tails)
    outward, inward = np.argsort(heads, kind="stable"), np.argsort(tails, kind="stable")
    mask = problem.links.mask
    arrays = (
        mask,
        row_offsets(np.bincount(heads, minlength=len(nodes))),
        tails[outward].astype(np.int32),
        row_offsets(np.bincount(tails, minlength=len(nodes))),
        heads[inward].astype(np.int32),
    )
    if problem.weights is None:
        return Adjacency(*arrays, NO_WEIGHTS, NO_WEIGHTS, NO_WEIGHTS)
    weights = problem.links.out_weights[edges]
    out = np.bincount(heads, weights, len(nodes)) if mask & 1 else 0.0
    into = np.bincount(tails, weights, len(nodes)) if mask & 2 else 0.0
    return Adjacency(*arrays, weights[outward], weights[inward], np.asarray(out + into))
