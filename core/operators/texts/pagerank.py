"""Personalised PageRank from the question entities: HippoRAG's and FastGraphRAG's operator.

Other operators on documents use its functions.
"""

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
    "specificity: 1 / number of its chunks for each linked entity; sum: scores of the linked "
    "entities plus those of the entities found, each scaled to a sum of 1; max: 1 for each linked "
    "entity, its share of the scores for each other one found; scores: the scores of the entities "
    "found."
)


@dataclass(frozen=True, repr=False)
class PageRankNodes(Operator):
    """The entities of largest personalised PageRank from the question entities.

        p = damping * P^T p + (1 - damping) * s

    p holds the scores of the entities. P holds the probabilities of the steps, along edges in both
    directions. s is the restart distribution. `reset` chooses its values, which are then scaled to
    a sum of 1. The linked entities are those of the question's names. The retrieved entities are
    those that the operators before this one returned.

    - "specificity": for a linked entity 1 / (number of its chunks), or 1 if it has no chunk.
    - "sum": the scores of the linked entities scaled to a sum of 1, plus those of the retrieved
      entities scaled to a sum of 1. Negative scores count as 0.
    - "max": for a linked entity 1. For another retrieved entity its share of the sum of
      (1 + score) / 2 over all retrieved entities.
    - "scores": for a retrieved entity its score. Negative scores count as 0. Directly after
      `LinkNames` these are the similarities of the linked entities to the question's names.

    The other parameters:

    - `damping` is the probability of following an edge. With 0, p is s.
    - `keep` and `least` are the largest number of entities and their least score. Entities of
      score 0 are never returned.
    - `without` is used if all values of s are 0. With "all", all entities of the graph are returned
      with equal scores, and `keep` and `least` do not apply. With "none", no entity is returned.
    - `weighted` chooses steps in proportion to the weights of the edges, if they have any.

    In the example, Scrooge has three chunks and Fred has one. The values of s are thus 1/3 and 1,
    and scaled they are 1/4 and 3/4.

    >>> line = "NamesInQuestion() >> LinkNames() >> PageRankNodes(damping=0.0)"
    >>> found = retrieve(line, graph=story, question="Fred and Scrooge", models=scores({})).nodes
    >>> story.names(found.items), found.scores
    (['Fred', 'Scrooge'], (0.75, 0.25))

    Notes
    -----
    On a graph of more than `MAX_EDGES_SOLVED` edges the equation is not solved. A local push finds
    the best `keep` entities, and the record of the step has a note on it.

    The operator is PPR of the "In-depth Analysis of Graph-based RAG in a Unified Framework". The
    sources differ:

    - HippoRAG, its paper and its code: "specificity" and `without` "all".
    - The code of the in-depth analysis: "specificity". It restarts with probability 0.9 in every
      method, which is a `damping` of 0.1, and it lists the best entity last.
    - Section 6.1 of the in-depth analysis: "scores" after `LinkNames` (method hipporag-paper).
    - FastGraphRAG according to the in-depth analysis: "sum".
    - The code of FastGraphRAG: "max", `least` 0.005 and `without` "none".
    - The papers of the methods follow an edge with probability 0.5.
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
        "Entities of largest PageRank; never those of score 0.",
        low=1,
        high=1_000_000,
    )
    least: float = param(
        0.0,
        "Least score",
        "Entities below it are left out (0.005 in FastGraphRAG's code).",
        low=0.0,
        high=1.0,
    )
    without: str = param(
        "all",
        "Without a start",
        "all: every entity, with equal scores; none: no entity.",
        choices=("all", "none"),
    )
    weighted: bool = param(
        True, "By weight", "Edges are followed in proportion to their weights, if any."
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
        weights = restart_weights(self.reset, state, ctx.graph)
        if not weights.any():
            instead = "all count alike" if self.without == "all" else "none is found"
            recorder.notes.append(
                "The question's names were linked to no entity, and there is no other to start "
                f"from; {instead}."
            )
            n = ctx.graph.n_nodes if self.without == "all" else 0
            even = (1.0 / n,) * n if n else ()
            return state.replace(nodes=Ranking("node", tuple(range(n)), even))
        nodes, scores = _nodes_by_pagerank(
            self, ctx.graph, shares=weights / weights.sum(), watch=ctx.watch, recorder=recorder
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
    """Return nodes and their PageRank, aligned: all nodes, or the best of a large graph.

    On a graph of more than `MAX_EDGES_SOLVED` edges a local push finds the best nodes.
    """
    damping = operator.damping
    weighted = operator.weighted
    if graph.n_edges <= MAX_EDGES_SOLVED:
        scores = weighted_pagerank(graph, shares, damping, weighted, watch=watch)
        return np.arange(graph.n_nodes), scores
    from core.graph.pagerank.local.push import local_push  # imported here because it loads numba

    push = local_push(
        pagerank_problem(graph, shares, damping, weighted, watch=watch, keep=operator.keep)
    )
    recorder.notes.append(
        f"{push.note} Such a push is asked for {PUSH_RECALL:.2f} of the best {operator.keep:,}."
    )
    return push.nodes, push.scores


def restart_weights(reset: str, state: State, graph: KnowledgeGraph) -> np.ndarray:
    """Return the restart weights of the nodes, float64 [n], not yet scaled.

    `PageRankNodes` has the formula for each value of `reset`.

    Parameters
    ----------
    reset : one of `RESET_CHOICES`.
    state : the linked entities, and the retrieved ones (`nodes`).
    graph : the graph, with the numbers of chunks for "specificity".

    Returns
    -------
    Weights of at least 0. All are 0 if there is no entity to start from.
    """
    hit_scores = _scores_by_node(state.nodes, graph)
    if reset == "scores":
        return np.maximum(hit_scores, 0.0)
    if reset == "sum":
        return _scaled_to_one(_scores_by_node(state.linked, graph)) + _scaled_to_one(hit_scores)
    linked = list(state.linked.items if state.linked else ())
    weights = np.zeros(graph.n_nodes)
    if reset == "max":
        hits = list(state.nodes.items if state.nodes else ())
        weights[hits] = (1.0 + hit_scores[hits]) / 2.0
        weights = _scaled_to_one(weights)
        weights[linked] = 1.0
    else:
        weights[linked] = 1.0 / np.maximum(chunks_of(graph, "nodes").counts[linked], 1)
    return weights


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
    watch : raises RunCancelled if the user stops the run.
    """
    from core.graph.pagerank.exact import solve  # imported here because it loads numba

    problem = pagerank_problem(graph, shares, damping, weighted, watch=watch)
    scores = solve(
        problem.links,
        problem.seeds,
        problem.shares,
        damping=damping,
        tolerance=0.5e-8,
        watch=watch,
    )
    scores = np.maximum(scores, 0.0)
    return scores / scores.sum()


def pagerank_problem(
    graph: KnowledgeGraph,
    shares: np.ndarray,
    damping: float,
    weighted: bool,
    watch: Watch = NO_WATCH,
    keep: int = 0,
) -> PageRankProblem:
    """Return the PageRank problem that restarts at the nodes with shares above 0.

    Edges are followed in both directions.

    Parameters
    ----------
    shares : restart probabilities of the nodes, which sum to 1.
    damping : probability of following an edge.
    weighted : True to follow edges by their weights, if they have any.
    watch : raises RunCancelled if the user stops the run.
    keep : number of best nodes that a push finds; not used by `solve`.
    """
    seeds = np.flatnonzero(shares)
    problem = pose_problem(
        graph,  # type: ignore[arg-type]
        seeds,
        keep=keep,
        damping=damping,
        direction="both",
        weights=edge_weights(graph) if weighted else None,
        watch=watch,
        recall=PUSH_RECALL,
    )
    problem = replace(problem, seeds=seeds, shares=shares[seeds])
    # The adjacency depends on the graph and the weights alone, so it is made once for all questions.
    links = graph.derived.get_or_make("arranged for PageRank", weighted, lambda: problem.links)
    return replace(problem, prepared_links=links)


def _scores_by_node(ranking: Ranking | None, graph: KnowledgeGraph) -> np.ndarray:
    return np.zeros(graph.n_nodes) if ranking is None else scores_of(ranking, graph.n_nodes)


def _scaled_to_one(values: np.ndarray) -> np.ndarray:
    """Return values scaled to a sum of 1.

    Negative values become 0 before. The result is zeros if all values are 0.
    """
    values = np.maximum(values, 0.0)
    return values / values.sum() if values.any() else values
