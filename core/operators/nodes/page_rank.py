"""HippoRAG 2 on a corpus graph: PageRank that restarts at what is like the question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.indexes.vectors import vector_index
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.facts import ends_of_facts
from core.operators.texts.hits import best_names, ranked
from core.operators.texts.pagerank import SOLVED_UP_TO, posed, weighted_pagerank
from core.parameters import param
from core.types import Ranking, State


@dataclass(frozen=True, repr=False)
class SimilarPageRank(Operator):
    """The nodes of largest personalised PageRank where it restarts at the nodes like the question.

    HippoRAG 2 as adapted to corpus graphs, where there are no facts to choose from (how FastInsight's authors did it is not
    told): the restart is the cosine of the `seeds` nodes nearest to the question, plus `everywhere` times the cosine of every node scaled
    to 0 .. 1 between the least and the best. Both ways along the edges, by their weights.

    HippoRAG 2 lets a language model say which of the five facts nearest to the question help, and begins at their ends. With `at` that is
    so here: the walk restarts at the relations found, at their ends as `PassagesOfFacts` has it, or, where a corpus graph has no facts, at
    the nodes found. `RankHits` with a language model before it is that filter. Where none is left there is no walk, and the nodes are those
    nearest to the question, as in HippoRAG 2. On a graph of more than 250,000 edges with weights PageRank is pushed, as a note says.

    With `damping` 0 and nothing everywhere what is left are the seeds.

    >>> line = "EmbedQuery() >> SimilarPageRank(seeds=1, everywhere=0.0, damping=0.0)"
    >>> found = retrieve(line, graph=story, question="a lame son", models=scores({})).nodes
    >>> story.names(found.items), found.scores
    (['Tim'], (1.0,))
    """

    stage = "retrieve"
    title = "PageRank from what is alike"
    plain = "spreads the weight of what is alike over the graph"
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
        assert state.vector is not None  # a line is refused where nothing wrote what is read
        if not ctx.graph.n_nodes:
            return state.replace(nodes=Ranking("node", (), ()))
        index = vector_index(ctx.graph, ctx.models.encoder(self.encoder), "nodes", ctx.watch)
        index.fits(state.vector)
        cosines = np.round(
            index.of(np.arange(len(index))).astype(np.float64) @ state.vector.astype(np.float64), 6
        )
        seeds = self._seeds(state, ctx, cosines, recorder)
        if not len(seeds):
            recorder.notes.append(
                "Nothing is left to start from; the nodes are those nearest to the question."
            )
            return state.replace(nodes=ranked("node", np.arange(len(cosines)), cosines, self.keep))
        if self.at != "nearest":
            recorder.notes.append(f"Restarted at: {best_names(ctx.graph, seeds)}.")
        shares = restart(cosines, seeds, self.everywhere)
        if not shares.any():
            recorder.notes.append("No node is like the question; all count alike.")
            shares[:] = 1.0
        ctx.watch.report("PageRank from what is alike")
        scores = self._scored(ctx, shares / shares.sum(), recorder)
        nodes = np.flatnonzero(scores > 0)
        found = ranked("node", nodes, scores[nodes], self.keep)
        recorder.notes.append(f"The best: {best_names(ctx.graph, found)}.")
        return state.replace(nodes=found)

    def _seeds(
        self, state: State, ctx: Context, cosines: np.ndarray, recorder: Recorder
    ) -> Ranking:
        """The nodes that the walk restarts at, the best `seeds` of them, each with what it restarts there by."""
        if self.at == "relations":
            assert state.relations is not None and state.vector is not None
            return ends_of_facts(
                ctx, state.relations, state.vector, self.encoder, self.seeds, recorder
            )
        among = np.arange(len(cosines))
        if self.at == "nodes":
            assert state.nodes is not None
            among = np.array(state.nodes.items, np.int64)
        return ranked("node", among, cosines[among], self.seeds)

    def _scored(self, ctx: Context, shares: np.ndarray, recorder: Recorder) -> np.ndarray:
        """The PageRank of every node; of a graph of more than `SOLVED_UP_TO` edges as exact as the best `keep` need."""
        graph, solve = ctx.graph, weighted_pagerank
        if graph.n_edges <= SOLVED_UP_TO:
            return solve(graph, shares, self.damping, True, ctx.watch)
        from core.graph.pagerank.everywhere import pushed_everywhere  # brings numba

        links = posed(graph, shares, self.damping, True, ctx.watch).links
        if not len(links.strength):
            return solve(graph, shares, self.damping, True, ctx.watch)
        nodes = np.arange(graph.n_nodes)
        even = np.full(len(nodes), 1 / len(nodes))
        known = graph.derived.once(
            "PageRank from everywhere",
            self.damping,
            lambda: solve(graph, even, self.damping, True, ctx.watch),
        )
        found = pushed_everywhere(
            links, shares, nodes, known, self.damping, slice(None), self.keep, ctx.watch
        )
        recorder.notes.append(found.note(f"{self.keep:,} nodes"))
        return found.scores

    def words(self) -> str:
        return self.title if self.at == "nearest" else f"PageRank from the {self.at} found"


def restart(cosines: np.ndarray, seeds: Ranking, everywhere: float) -> np.ndarray:
    """Where the walk restarts, float64 [n]; where all cosines are the same every node is scaled to 1, as in the published code.

    >>> from core.operators.nodes.page_rank import restart
    >>> from core.types import Ranking
    >>> restart(np.array([0.5, 0.1, 0.3]), Ranking("node", (0,), (0.5,)), 0.1).round(2).tolist()
    [0.6, 0.0, 0.05]
    """
    spread = float(np.ptp(cosines))
    scaled = (cosines - cosines.min()) / spread if spread else np.ones(len(cosines))
    shares = everywhere * scaled
    shares[list(seeds.items)] += np.maximum(seeds.scores or (), 0.0)
    return shares
