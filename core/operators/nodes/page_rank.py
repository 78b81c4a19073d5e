"""HippoRAG 2 on a corpus graph: personalised PageRank from nodes similar to the question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.indexes.vectors import vector_index
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.facts import ends_of_facts
from core.operators.texts.hits import best_hits, best_names
from core.operators.texts.pagerank import MAX_EDGES_SOLVED, pagerank_problem, weighted_pagerank
from core.parameters import param
from core.types import Ranking, State


@dataclass(frozen=True, repr=False)
class SimilarPageRank(Operator):
    """The nodes of largest personalised PageRank, restarting at the nodes similar to the question.

    HippoRAG 2 adapted to corpus graphs, which have no facts; FastInsight's authors do not say how
    they adapted it. The restart weight of a node is `everywhere` times its cosine with the
    question, scaled to 0 .. 1 over all nodes. The `seeds` nodes nearest to the question have their
    cosine in addition. Edges are followed in both directions, by their weights.

    HippoRAG 2 lets a language model choose which of the five facts nearest to the question help,
    and restarts at their ends. `RankHits` with a language model is that filter. With `at`
    "relations" the walk restarts at the ends of the retrieved relations, as in `PassagesOfFacts`,
    and with "nodes" at the retrieved nodes, for a corpus graph without facts. If there are none,
    the nodes nearest to the question are returned without a walk, as in HippoRAG 2.

    On a graph of more than 250,000 edges with weights PageRank is approximated by a push, as a note
    says. With `damping` 0 and `everywhere` 0 only the seeds are left.

    >>> line = "EmbedQuery() >> SimilarPageRank(seeds=1, everywhere=0.0, damping=0.0)"
    >>> found = retrieve(line, graph=story, question="a lame son", models=scores({})).nodes
    >>> story.names(found.items), found.scores
    (['Tim'], (1.0,))
    """

    stage = "retrieve"
    title = "PageRank from what is alike"
    plain = "spreads the weight of similar nodes over the graph"
    writes = ("nodes",)

    at: str = param(
        "nearest",
        "Restart at",
        "The nodes nearest to the question, or what was found before.",
        choices=("nearest", "nodes", "relations"),
    )
    seeds: int = param(
        5, "Seeds", "How many nodes the walk restarts at, the best of them.", low=1, high=1000
    )
    everywhere: float = param(
        0.05,
        "Everywhere",
        "The weight of the other nodes' likeness; 0.05 in HippoRAG 2.",
        low=0,
        high=1,
    )
    damping: float = param(
        0.5,
        "Damping",
        "Probability of following an edge; the rest jumps back to the start.",
        low=0.0,
        high=0.999,
    )
    keep: int = param(100, "Nodes at most", "Those of largest PageRank.", low=1, high=1_000_000)
    encoder: str = param(
        "encoder", "Encoder", "The sentence encoder; the one that read the question.", model=True
    )

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("vector",) if self.at == "nearest" else ("vector", self.at)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.vector is not None
        if not ctx.graph.n_nodes:
            return state.replace(nodes=Ranking("node", (), ()))
        index = vector_index(ctx.graph, ctx.models.encoder(self.encoder), "nodes", ctx.watch)
        index.check_dimension(state.vector)
        vectors = index.vectors_of(np.arange(len(index))).astype(np.float64)
        cosines = np.round(vectors @ state.vector.astype(np.float64), 6)
        seeds = self._choose_seeds(state, ctx, cosines, recorder)
        if not len(seeds):
            recorder.notes.append(
                "Nothing is left to start from; the nodes are those nearest to the question."
            )
            nearest = best_hits("node", np.arange(len(cosines)), cosines, self.keep)
            return state.replace(nodes=nearest)
        if self.at != "nearest":
            recorder.notes.append(f"Restarted at: {best_names(ctx.graph, seeds)}.")
        shares = node_shares(cosines, seeds, self.everywhere)
        if not shares.any():
            recorder.notes.append("No node is like the question; all count alike.")
            shares[:] = 1.0
        ctx.watch.report("PageRank from what is alike")
        scores = self._pagerank_scores(ctx, shares / shares.sum(), recorder)
        nodes = np.flatnonzero(scores > 0)
        ranking = best_hits("node", nodes, scores[nodes], self.keep)
        recorder.notes.append(f"The best: {best_names(ctx.graph, ranking)}.")
        return state.replace(nodes=ranking)

    def _choose_seeds(
        self, state: State, ctx: Context, cosines: np.ndarray, recorder: Recorder
    ) -> Ranking:
        """Return the best `seeds` nodes to restart at, scored by their restart weights."""
        if self.at == "relations":
            assert state.relations is not None and state.vector is not None
            return ends_of_facts(
                ctx, state.relations, state.vector, self.encoder, self.seeds, recorder
            )
        candidates = np.arange(len(cosines))
        if self.at == "nodes":
            assert state.nodes is not None
            candidates = np.array(state.nodes.items, np.int64)
        return best_hits("node", candidates, cosines[candidates], self.seeds)

    def _pagerank_scores(self, ctx: Context, shares: np.ndarray, recorder: Recorder) -> np.ndarray:
        """Return the PageRank of every node, float64 [n].

        On a graph of more than `MAX_EDGES_SOLVED` edges with weights it is only as exact as the
        best `keep` nodes need.
        """
        graph = ctx.graph
        if graph.n_edges <= MAX_EDGES_SOLVED:
            return weighted_pagerank(graph, shares, self.damping, weighted=True, watch=ctx.watch)
        from core.graph.pagerank.many_restarts import push_everywhere  # loads numba

        problem = pagerank_problem(graph, shares, self.damping, weighted=True, watch=ctx.watch)
        links = problem.links
        # the push needs weights
        if not len(links.strength):
            return weighted_pagerank(graph, shares, self.damping, weighted=True, watch=ctx.watch)
        nodes = np.arange(graph.n_nodes)
        even = np.full(len(nodes), 1 / len(nodes))
        start_state = graph.derived.get_or_make(
            "PageRank from everywhere",
            self.damping,
            lambda: weighted_pagerank(graph, even, self.damping, weighted=True, watch=ctx.watch),
        )
        result = push_everywhere(
            links, shares, nodes, start_state, self.damping, slice(None), self.keep, ctx.watch
        )
        recorder.notes.append(result.describe_end(f"{self.keep:,} nodes"))
        return result.scores

    def words(self) -> str:
        return self.title if self.at == "nearest" else f"PageRank from the {self.at} found"


def node_shares(cosines: np.ndarray, seeds: Ranking, everywhere: float) -> np.ndarray:
    """Return the restart weights of all nodes.

    They are float64 [n], not yet scaled to a sum of 1. A weight is `everywhere` times the cosine
    scaled to 0 .. 1, plus the score of a seed. If all cosines are equal, they are scaled to 1, as
    in the published code.

    >>> from core.operators.nodes.page_rank import node_shares
    >>> from core.types import Ranking
    >>> node_shares(np.array([0.5, 0.1, 0.3]), Ranking("node", (0,), (0.5,)), 0.1).round(2).tolist()
    [0.6, 0.0, 0.05]
    """
    spread = float(np.ptp(cosines))
    weights = (cosines - cosines.min()) / spread if spread else np.ones(len(cosines))
    shares = everywhere * weights
    shares[list(seeds.items)] += np.maximum(seeds.scores or (), 0.0)
    return shares
