"""Extraction by structure: operators that cut a subgraph around the question entities.

They are personalised and global PageRank, random walks, and the neighbourhood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.environment import Environment
from core.graph.algorithms.igraph_library import community_mark, community_notes
from core.graph.algorithms.neighbourhood import induced_edges, nearest_nodes, seed_array
from core.graph.algorithms.walks import random_walks
from core.graph.pagerank.top_nodes import (
    PAGERANK_METHODS,
    PARALLEL_METHODS,
    PageRankReport,
    top_pagerank,
)
from core.indexes.communities import pagerank_clusters
from core.models.threads import thread_count
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.parameters import param
from core.runtime.cluster import cluster_workers
from core.types import State, Subgraph

METHOD_HELP = (
    "auto: the fastest for the graph that ranks like the exact one (relaxation, the equation or a "
    "local push; the trace says which); exact: solved for the whole graph; fora, topppr, rbs: "
    "other approximations; partition: exact inside the entities' clusters, which are found once; "
    "pafo, hgpa, delta-push: on threads or over workers, prepared once."
)
RANDOM_METHODS = ("fora", "topppr", "rbs")  # methods that draw for each question
COMMUNITY_METHODS = ("partition", "hgpa")  # methods inside communities
NAMED_METHODS = (*RANDOM_METHODS, "partition", *PARALLEL_METHODS)  # in the words of a line
DIRECTION_HELP = "Which way edges are followed; “graph” leaves it to the graph."


def subgraph_on(graph, nodes: np.ndarray, scores: np.ndarray | None = None) -> Subgraph:
    """Return the subgraph induced on `nodes`, with their scores.

    Parameters
    ----------
    nodes : node ids in any order, without repeats.
    scores : a score for each of these nodes; None if they have none.
    """
    order = np.argsort(nodes, kind="stable")
    nodes = np.asarray(nodes, np.int64)[order]
    return Subgraph(
        nodes,
        induced_edges(graph, nodes),
        None if scores is None else np.asarray(scores, float)[order],
    )


@dataclass(frozen=True, repr=False)
class PersonalizedPageRank(Operator):
    """The nodes closest to the question's entities (personalised PageRank), with their edges.

    p = damping * P^T p + (1 - damping) * s, with s uniform on the seeds. The mass of nodes without
    edges returns to s. Nodes that the walk never reaches are left out, while the papers' code adds
    some of them up to `keep`.

    LEGO-GraphRAG, technical report, Table 1 (keep is max_ent 1000). Its code passes "restart_prob
    0.8" to igraph as damping, so 0.8 is the probability of following an edge. In the printed
    formula it is the probability of a restart.

    `method` is one of core/graph/pagerank/top_nodes.py; `push` is a former name of `auto`. A note
    in the trace names the method that ran. The report's table 5 has RBS, FORA and TopPPR, its table
    6 Leiden clusters. The distributed methods of table 5 are HGPA, PAFO and Delta-Push. Their
    printed speed-ups over standard PageRank are 3.4 to 4.1, 58.7 and 123 to 162 times; their times
    in Hopscope are in docs/scale.md. PAFO uses the threads of this process. The other two use the
    Ray cluster that the variable RAY_ADDRESS names, or this process if it names none.

    >>> part = retrieve("PersonalizedPageRank(keep=2, damping=0.5, direction='out')", "A").subgraph
    >>> # p(A) = 1/2 + p(C) / 4 and p(C) = 3/8 p(A), so 16/29 and 6/29
    >>> toy.names(part.nodes), (29 * part.scores).round(2)
    (['A', 'C'], array([16.,  6.]))
    """

    stage = "extract"
    title = "PageRank"
    plain = "looks at {keep:,} nodes near the entities"
    reads, writes = ("seeds",), ("subgraph",)

    keep: int = param(
        1000,
        "Nodes to keep",
        "How many nodes of the largest PageRank make the subgraph.",
        low=1,
        high=1_000_000,
    )
    damping: float = param(
        0.8,
        "Damping",
        "Probability of following an edge; the rest jumps back to the seeds.",
        low=0.01,
        high=0.999,
    )
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)
    method: str = param("auto", "Method", METHOD_HELP, choices=PAGERANK_METHODS)
    recall: float = param(
        0.97,
        "Recall",
        "The share of the exact best nodes that auto and topppr aim at.",
        low=0.5,
        high=1.0,
    )

    def __post_init__(self) -> None:
        if self.method == "push":  # in lines that were saved by older versions
            object.__setattr__(self, "method", "auto")
        super().__post_init__()

    @property
    def is_random(self) -> bool:  # type: ignore[override]
        return self.method in RANDOM_METHODS

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.watch.report("PageRank from the question's entities")
        report = PageRankReport()
        random_seed = 0
        if self.method in RANDOM_METHODS:
            random_seed = int(ctx.rng(state.question.text, self).integers(1 << 31))
        nodes, scores = top_pagerank(
            ctx.graph,
            state.seeds,
            self.keep,
            self.damping,
            self.direction,
            self.method,
            self.recall,
            random=random_seed,
            report=report,
            watch=ctx.watch,
            clusters=pagerank_clusters,
            threads=thread_count() if self.method in PARALLEL_METHODS else 1,
            workers=cluster_workers(),
        )
        recorder.notes.append(report.note)  # names the method that ran
        if self.method in COMMUNITY_METHODS:
            recorder.notes += community_notes()
        return state.replace(subgraph=subgraph_on(ctx.graph, nodes, scores))

    def stamp(self, graph: Any, environment: Environment) -> str:
        return community_mark() if self.method in COMMUNITY_METHODS else ""

    def words(self) -> str:
        suffix = f" by {self.method}" if self.method in NAMED_METHODS else ""
        return f"PageRank {self.keep:,}{suffix}"


@dataclass(frozen=True, repr=False)
class PageRank(Operator):
    """The question's entities and the nodes of the largest global PageRank, with their edges.

    p = damping * P^T p + (1 - damping) / n, computed once for a graph. The nodes are the same for
    every question. The question entities are added, because paths start there.

    LEGO-GraphRAG v1, Table 2, lists PageRank without personalisation next to PPR and gives no
    details.

    >>> part = retrieve("PageRank(keep=2, damping=0.5, direction='out')", "A").subgraph
    >>> toy.names(part.nodes), (29 * part.scores).round(1)  # D and C are the best; A is the seed
    (['A', 'C', 'D'], array([6. , 6.6, 9.1]))
    """

    stage = "extract"
    title = "PageRank of all nodes"
    plain = "takes the {keep:,} best connected nodes of the graph"
    reads, writes = ("seeds",), ("subgraph",)

    keep: int = param(
        1000,
        "Nodes to keep",
        "How many nodes of the largest PageRank make the subgraph, the entities aside.",
        low=1,
        high=1_000_000,
    )
    damping: float = param(
        0.8,
        "Damping",
        "Probability of following an edge; the rest jumps to any node.",
        low=0.01,
        high=0.999,
    )
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.watch.report("PageRank of the whole graph")
        graph = ctx.graph
        seeds = seed_array(graph, state.seeds)
        # All nodes are ranked, so that the result serves every `keep`. Restarting at all nodes
        # alike is PageRank without personalisation.
        settings = (graph.n_nodes, self.damping, self.direction, "exact")
        nodes, scores = graph.derived.get_or_make(
            "pagerank of all nodes",
            settings,
            lambda: top_pagerank(graph, range(graph.n_nodes), *settings, watch=ctx.watch),
        )
        mask = (np.arange(len(nodes)) < self.keep) | np.isin(nodes, seeds)
        return state.replace(subgraph=subgraph_on(graph, nodes[mask], scores[mask]))

    def words(self) -> str:
        return f"PageRank of all nodes, {self.keep:,}"


@dataclass(frozen=True, repr=False)
class RandomWalks(Operator):
    """All nodes that random walks from the question's entities visit, with their edges.

    The walks have a fixed length. Scores are visit counts. LEGO-GraphRAG v1, method 1, has 64
    walks of 4 steps, without restart in its code. Its code walks inside the subgraph that PageRank
    extracted before (`inside`), while the paper walks in the whole graph.

    >>> part = retrieve("RandomWalks(walks=5, steps=1, direction='out')", "B").subgraph
    >>> toy.names(part.nodes), part.scores  # the only step from B leads to C
    (['B', 'C'], array([5., 5.]))
    """

    stage = "extract"
    title = "random walks"
    plain = "takes the nodes of {walks:,} random walks from the entities"
    writes = ("subgraph",)
    is_random = True

    walks: int = param(
        64, "Walks a seed", "How many walks start at each seed.", low=1, high=100_000
    )
    steps: int = param(4, "Steps", "Length of a walk.", low=1, high=64)
    restart: float = param(
        0.0,
        "Restart",
        "Probability of jumping back to the seed before each step.",
        low=0.0,
        high=0.99,
    )
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)
    inside: bool = param(
        False,
        "Inside the subgraph",
        "Walk only in the subgraph extracted before, instead of the whole graph.",
    )

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("seeds", "subgraph") if self.inside else ("seeds",)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.watch.report("Random walks from the question's entities")
        rng = ctx.rng(state.question.text, self)
        nodes, visits = random_walks(
            ctx.graph,
            state.seeds,
            self.walks,
            self.steps,
            self.restart,
            self.direction,
            rng,
            state.subgraph if self.inside else None,
        )
        return state.replace(subgraph=subgraph_on(ctx.graph, nodes, visits))

    def words(self) -> str:
        return f"{self.walks:,} random walks of {self.steps}"


@dataclass(frozen=True, repr=False)
class EgoNetwork(Operator):
    """All nodes within `hops` hops of the question's entities, with their edges.

    At most `keep` nodes are taken, the nearest first. This is LEGO-GraphRAG's k-hop neighbourhood
    (KSE, Ego).

    >>> part = retrieve("EgoNetwork(hops=1, direction='out')", "C").subgraph
    >>> toy.names(part.nodes), toy.triple_texts(part.edges)
    (['A', 'C', 'D'], ['A -> r1 -> C', 'C -> r3 -> A', 'C -> r4 -> D', 'D -> r6 -> D'])
    """

    stage = "extract"
    title = "neighbourhood"
    plain = "takes the nodes within {hops} hops of the entities"
    reads, writes = ("seeds",), ("subgraph",)

    hops: int = param(2, "Hops", "How far from the seeds nodes may lie.", low=0, high=8)
    keep: int = param(
        20_000,
        "Nodes at most",
        "The nearest nodes are kept where there are more.",
        low=1,
        high=1_000_000,
    )
    direction: str = param("graph", "Direction", DIRECTION_HELP, choices=DIRECTIONS)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.watch.report(f"Nodes within {self.hops} hops")
        # one node more than is kept, to find out if there are more
        nodes, _ = nearest_nodes(
            ctx.graph, state.seeds, self.hops, self.direction, self.keep + 1, ctx.watch
        )
        if len(nodes) > self.keep:
            nodes = nodes[: self.keep]
            recorder.notes.append(
                f"More than {self.keep:,} nodes lie within {self.hops} hops; the nearest were kept."
            )
        return state.replace(subgraph=subgraph_on(ctx.graph, nodes))

    def words(self) -> str:
        return f"{self.hops}-hop neighbourhood"
