"""GAR: reranking that alternates between retrieved nodes and neighbours of good ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.graph.texts import edge_weights
from core.operators.base import Context, Operator, Recorder
from core.operators.nodes.hidden_states import STATES_MODEL_HELP, read_hidden_states, state_rows
from core.operators.texts.hits import HIT_SCORE_DIGITS, best_names
from core.parameters import param
from core.types import Frame, Ranking, State

ScoreNodes = Callable[[Sequence[int]], Sequence[float]]


@dataclass(frozen=True, repr=False)
class AdaptiveRerank(Operator):
    """The retrieved nodes and neighbours of good ones, re-ranked until `budget` are read.

    GAR (MacAvaney et al., CIKM 2022): batches are taken in turn from the retrieved nodes and from
    the frontier, the unread neighbours of read nodes. A node of the frontier has the best score of
    the read nodes that it is linked to. A node's neighbours join the frontier if that is smaller
    than the rest of the budget, or if the node's score is at least that of the worst in the
    frontier. Of equal scores those that joined first are read first, neighbours in the order of the
    corpus graph: by the weight of their link, then by name. With `backfill`, retrieved nodes that
    were not read follow after the others.

    >>> line = "SparseNodes(keep=1) >> AdaptiveRerank(budget=3, batch=1)"
    >>> table = {
    ...     "Scrooge: person: A rich and lonely man.": 0.9,
    ...     "Fred: person: Scrooge's cheerful nephew.": 0.5,
    ... }
    >>> # Marley, his neighbour Scrooge, then one of his
    >>> state = retrieve(line, graph=story, question="Marley", models=scores(table))
    >>> story.names(state.nodes.items), state.nodes.scores
    (['Scrooge', 'Cratchit', 'Marley'], (0.9, 0.0, 0.0))
    """

    stage = "refine"
    title = "adaptively re-ranked"
    plain = "re-ranks {budget:,}, in turn with the neighbours of good ones"
    reads, writes = ("nodes",), ("nodes", "hidden")

    model: str = param("cross-encoder", "Re-ranker", STATES_MODEL_HELP, model=True)
    budget: int = param(
        100,
        "Nodes read",
        "How many nodes the re-ranker reads in all; 1,000 in the library.",
        low=1,
        high=100_000,
    )
    batch: int = param(
        10, "Batch", "How many it reads at a time; 16 in the library.", low=1, high=10_000
    )
    backfill: bool = param(
        True, "Backfill", "Nodes found first that were not read stay, behind those read."
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        pool = state.nodes or Ranking("node", (), ())
        first_scores = dict(
            zip(pool.items, pool.scores or [-float(rank) for rank in range(len(pool))])
        )
        if not first_scores:
            return state.replace(nodes=Ranking("node", (), ()))

        def scored(nodes: Sequence[int]) -> list[float]:
            nonlocal state
            ctx.watch.check()
            ctx.watch.report("Re-ranking adaptively")
            state = state.replace(
                hidden=read_hidden_states(state, nodes, self.model, ctx, recorder)
            )
            assert state.hidden is not None
            return np.round(
                state.hidden.head(state.hidden.vectors[state_rows(state.hidden, nodes)]),
                HIT_SCORE_DIGITS,
            ).tolist()

        reranking = rerank_adaptively(
            first_scores, neighbour_lookup(ctx.graph), scored, self.budget, self.batch
        )
        for number, (source, batch_nodes) in enumerate(reranking.batches):
            title = f"Batch {number + 1}: {'found first' if source == 'first' else 'neighbours'}"
            best_nodes = tuple(sorted(batch_nodes, key=lambda node: -reranking.scores[node]))
            recorder.frames.append(
                Frame(
                    title,
                    Ranking(
                        "node", best_nodes, tuple(reranking.scores[node] for node in best_nodes)
                    ),
                    len(batch_nodes),
                )
            )
        order = reranking.order(first_scores if self.backfill else {})
        recorder.notes.append(
            f"{len(reranking.scores):,} read; the best: {best_names(ctx.graph, order)}."
        )
        return state.replace(nodes=order)

    def words(self) -> str:
        return f"re-ranked adaptively, {self.budget:,} read"


@dataclass(frozen=True)
class AdaptiveRanking:
    """Result of adaptive reranking.

    Attributes
    ----------
    scores : score of each node that was read.
    batches : for each batch its source, `first` or `frontier`, and its nodes.
    """

    scores: Mapping[int, float]
    batches: tuple[tuple[str, tuple[int, ...]], ...]

    def order(self, first_scores: Mapping[int, float]) -> Ranking:
        """Return the nodes by score, then the unread nodes of `first_scores`.

        Of equal scores those of a later batch come first, as the library sorts them.
        """
        turn = {node: number for number, (_, part) in enumerate(self.batches) for node in part}
        nodes = sorted(self.scores, key=lambda node: (-self.scores[node], -turn[node]))
        not_read = sorted(
            (node for node in first_scores if node not in self.scores),
            key=lambda node: -first_scores[node],
        )
        last = min(self.scores.values(), default=0.0)
        scores = [self.scores[node] for node in nodes] + [
            last - 1.0 - rank for rank in range(len(not_read))
        ]
        return Ranking("node", (*nodes, *not_read), tuple(scores))


def neighbour_lookup(graph: KnowledgeGraph) -> Callable[[int], list[int]]:
    """Return a function that lists a node's neighbours by weight, then by name.

    Each node is listed once, without the node itself.

    >>> from core.operators.nodes.adaptive_reranking import neighbour_lookup
    >>> neighbour_lookup(toy)(0)  # without weights by name: B, C and E
    [1, 2, 4]
    """
    weights = edge_weights(graph)
    weights_or_ones = weights if weights is not None else np.ones(graph.n_edges)

    def near(node: int) -> list[int]:
        others, edges, _ = graph.steps(node, "both")
        best_weights: dict[int, float] = {}
        for other, weight in zip(others.tolist(), weights_or_ones[edges].tolist()):
            best_weights[other] = max(weight, best_weights.get(other, weight))
        return sorted(best_weights.keys() - {node}, key=lambda other: (-best_weights[other], other))

    return near


def rerank_adaptively(
    first_scores: Mapping[int, float],
    neighbours: Callable[[int], Iterable[int]],
    score: ScoreNodes,
    budget: int,
    batch: int,
) -> AdaptiveRanking:
    """Run GAR and return the scores and batches.

    Of equal scores the node found first comes first, by the order of `first_scores` and of
    `neighbours`.

    Parameters
    ----------
    first_scores : scores of the retrieved nodes.
    neighbours : returns the neighbours of a node.
    score : returns the scores of a batch of nodes.
    budget : number of nodes to read.
    batch : number of nodes in a batch.

    Examples
    --------
    >>> from core.operators.nodes.adaptive_reranking import rerank_adaptively
    >>> near = {0: [2], 1: [], 2: []}.__getitem__
    >>> score = lambda nodes: [float(node) for node in nodes]
    >>> found = rerank_adaptively({0: 2.0, 1: 1.0}, near, score, 3, 1)
    >>> found.batches, found.scores
    ((('first', (0,)), ('frontier', (2,)), ('first', (1,))), {0: 0.0, 2: 2.0, 1: 1.0})
    """
    pools: dict[str, dict[int, float]] = {"first": dict(first_scores), "frontier": {}}
    scores: dict[int, float] = {}
    batches: list[tuple[str, tuple[int, ...]]] = []
    frontier, turn = pools["frontier"], 0
    while len(scores) < budget and any(pools.values()):
        source = ("first", "frontier")[turn % 2]
        turn += 1
        if not pools[source]:
            continue
        size = min(batch, budget - len(scores))
        batch_nodes = sorted(pools[source], key=lambda node: -pools[source][node])[:size]
        for pool in pools.values():
            for node in batch_nodes:
                pool.pop(node, None)
        fresh = dict(zip(batch_nodes, score(batch_nodes)))
        scores |= fresh
        batches.append((source, tuple(batch_nodes)))
        for node in sorted(fresh, key=lambda node: (fresh[node], node), reverse=True):
            if len(frontier) < budget - len(scores) or fresh[node] >= min(
                frontier.values(), default=fresh[node]
            ):
                for other in neighbours(node):
                    if other not in scores:
                        frontier[other] = max(frontier.get(other, -np.inf), fresh[node])
    return AdaptiveRanking(scores, tuple(batches))
