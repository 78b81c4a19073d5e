"""PageRank from the question entities, with the restarts of methods on texts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.graph.pagerank.problem import PageRankProblem, pose_problem
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunks_of, edge_weights
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import best_hits, best_names, scores_of
from core.parameters import param
from core.types import Ranking, State
from core.watch import NO_WATCH, Watch

# On graphs with more edges a push finds the best nodes, and the equation is not solved.
MAX_EDGES_SOLVED = 250_000
PUSH_RECALL = 0.97  # share of the best nodes that the push aims at
RESET_CHOICES = ("specificity", "sum", "max", "scores")
RESET_HELP = (
    "specificity: each linked entity by one over the number of its chunks (HippoRAG); sum: the "
    "scores of the linked entities and of the entities found, each scaled to one, added "
    "(FastGraphRAG as the in-depth analysis has it); max: 1 for each linked entity, for each "
    "found its share of their scores, these moved from -1 .. 1 to 0 .. 1 (FastGraphRAG's own "
    "code); scores: those of the entities found, behind names linked their similarity to these "
    "(the in-depth analysis, section 6.1)."
)


@dataclass(frozen=True, repr=False)
class PageRankNodes(Operator):
    """The entities of largest personalised PageRank from the question entities.

    In-depth analysis, node operator PPR: p = damping * P^T p + (1 - damping) * s, along edges in
    both directions, by their weights. `reset` chooses s, for which the analysis has two rules. Its
    section 6.1 restarts by the similarity to the question's entities ("scores" after `LinkNames`,
    the method hipporag-paper). Its code, HippoRAG's paper and HippoRAG's code restart by node
    specificity: 1 / (number of chunks of the entity), or 1 if it has none. This is the default, and
    the methods with HippoRAG's own values use it. FastGraphRAG uses the sum of two normalised
    vectors, or in its own code their maximum.

    Without an entity to start from, all entities are equal (HippoRAG), or with `without` "none" no
    entity is found (FastGraphRAG). The analysis' code always restarts with probability 0.9, which
    is a `damping` of 0.1; the original papers follow an edge with probability 0.5. Its code also
    lists the best last. On a graph of more than `MAX_EDGES_SOLVED` edges a push finds the best
    `keep`, as a note says.

    With `damping` 0 only the reset is left. In the example Scrooge has three chunks and Fred one,
    so the scores are 1/4 and 3/4.

    >>> line = "NamesInQuestion() >> LinkNames() >> PageRankNodes(damping=0.0)"
    >>> found = retrieve(line, graph=story, question="Fred and Scrooge", models=scores({})).nodes
    >>> story.names(found.items), found.scores
    (['Fred', 'Scrooge'], (0.75, 0.25))
    """

    stage = "retrieve"
    title = "entities by PageRank"
    plain = "spreads their weight over the graph"
    writes = ("nodes",)

    reset: str = param("specificity", "Restart at", RESET_HELP, choices=RESET_CHOICES)
    damping: float = param(
        0.5,
        "Damping",
        "Probability of following an edge; the rest jumps back to the start.",
        low=0.0,
        high=0.999,
    )
    keep: int = param(
        1000,
        "Entities at most",
        "Those of largest PageRank; of score 0 none.",
        low=1,
        high=1_000_000,
    )
    least: float = param(
        0.0,
        "Least score",
        "Entities of less are left out (0.005 in FastGraphRAG's code).",
        low=0.0,
        high=1.0,
    )
    without: str = param(
        "all",
        "Without a start",
        "all: every entity counts alike; none: none is found.",
        choices=("all", "none"),
    )
    weighted: bool = param(
        True, "By weight", "Edges are followed by their weights, where they have some."
    )

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return {
            "specificity": ("linked",),
            "sum": ("linked", "nodes"),
            "max": ("linked", "nodes"),
            "scores": ("nodes",),
        }[self.reset]

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        ctx.watch.report("PageRank from the question's entities")
        if not ctx.graph.n_nodes:
            return state.replace(nodes=Ranking("node", (), ()))
        shares = restart_weights(self.reset, state, ctx.graph)
        if not shares.any():
            instead = "all count alike" if self.without == "all" else "none is found"
            recorder.notes.append(
                "The question's names were linked to no entity, and there is no other to start "
                f"from; {instead}."
            )
            n = ctx.graph.n_nodes if self.without == "all" else 0
            even = (1.0 / n,) * n if n else ()
            return state.replace(nodes=Ranking("node", tuple(range(n)), even))
        nodes, scores = _nodes_by_pagerank(
            self, ctx.graph, shares / shares.sum(), ctx.watch, recorder
        )
        is_hit = scores > 0 if self.least == 0 else scores >= self.least
        hits = best_hits("node", nodes[is_hit], scores[is_hit], self.keep)
        recorder.notes.append(f"The best: {best_names(ctx.graph, hits)}.")
        return state.replace(nodes=hits)

    def words(self) -> str:
        return "entities by PageRank"


def _nodes_by_pagerank(
    operator: PageRankNodes,
    graph: KnowledgeGraph,
    shares: np.ndarray,
    watch: Watch,
    recorder: Recorder,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes with their PageRank.

    On a graph of more than `MAX_EDGES_SOLVED` edges only the best that a push finds are returned.
    """
    settings = (graph, shares, operator.damping, operator.weighted, watch)
    if graph.n_edges <= MAX_EDGES_SOLVED:
        return np.arange(graph.n_nodes), weighted_pagerank(*settings)
    from core.graph.pagerank.local.push import local_push  # loads numba

    push = local_push(pagerank_problem(*settings, operator.keep))
    recorder.notes.append(
        f"{push.note} Such a push is asked for {PUSH_RECALL:.2f} of the best {operator.keep:,}."
    )
    return push.nodes, push.scores


def restart_weights(reset: str, state: State, graph: KnowledgeGraph) -> np.ndarray:
    """Return the restart weights of the nodes, float64 [n], not yet scaled."""
    hit_scores = _scores_by_node(state.nodes, graph)
    if reset == "scores":
        return np.maximum(hit_scores, 0.0)
    if reset == "sum":
        return _scaled_to_one(_scores_by_node(state.linked, graph)) + _scaled_to_one(hit_scores)
    linked = list(state.linked.items if state.linked else ())
    shares = np.zeros(graph.n_nodes)
    if reset == "max":
        hits = list(state.nodes.items if state.nodes else ())
        shares[hits] = (1.0 + hit_scores[hits]) / 2.0
        shares = _scaled_to_one(shares)
        shares[linked] = 1.0
    else:
        shares[linked] = 1.0 / np.maximum(chunks_of(graph, "nodes").counts[linked], 1)
    return shares


def weighted_pagerank(
    graph: KnowledgeGraph,
    shares: np.ndarray,
    damping: float,
    weighted: bool,
    watch: Watch = NO_WATCH,
) -> np.ndarray:
    """Return the personalised PageRank of every node, float64 [n], which sums to 1.

    Edges are followed in both directions. The solution is exact to 1e-8.

    Parameters
    ----------
    shares : restart probabilities of the nodes, which sum to 1.
    damping : probability of following an edge.
    weighted : True to follow edges by their weights, if they have any.
    watch : may raise RunCancelled.
    """
    from core.graph.pagerank.exact import solve  # imported here because it loads numba

    problem = pagerank_problem(graph, shares, damping, weighted, watch)
    scores = np.maximum(
        solve(problem.links, problem.seeds, problem.shares, damping, 0.5e-8, watch), 0.0
    )
    return scores / scores.sum()


def pagerank_problem(
    graph: KnowledgeGraph,
    shares: np.ndarray,
    damping: float,
    weighted: bool,
    watch: Watch = NO_WATCH,
    keep: int = 0,
) -> PageRankProblem:
    """Return the PageRank problem that restarts at the nodes with shares.

    The graph's arrays are arranged once and cached.
    """
    seeds = np.flatnonzero(shares)
    settings: dict = {
        "weights": edge_weights(graph) if weighted else None,
        "watch": watch,
        "recall": PUSH_RECALL,
    }
    problem = replace(
        pose_problem(graph, seeds, keep, damping, "both", **settings),  # type: ignore[arg-type]
        seeds=seeds,
        shares=shares[seeds],
    )
    return replace(
        problem,
        arranged=graph.derived.get_or_make(
            "arranged for PageRank", weighted, lambda: problem.links
        ),
    )


def _scores_by_node(ranking: Ranking | None, graph: KnowledgeGraph) -> np.ndarray:
    return np.zeros(graph.n_nodes) if ranking is None else scores_of(ranking, graph.n_nodes)


def _scaled_to_one(values: np.ndarray) -> np.ndarray:
    """Return the positive values scaled to a sum of one, or zeros."""
    values = np.maximum(values, 0.0)
    return values / values.sum() if values.any() else values
