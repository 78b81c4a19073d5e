"""GAR (graph-based adaptive reranking): retrieved nodes and neighbours of good ones in turn."""

from __future__ import annotations

import itertools
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

ScoreNodes = Callable[[Sequence[int]], Sequence[float]]  # the scores of nodes, aligned


@dataclass(frozen=True, repr=False)
class AdaptiveRerank(Operator):
    """Reranking of retrieved nodes and neighbours of high-scoring nodes, within a reading budget.

    GAR (MacAvaney et al., CIKM 2022): batches are taken in turn from the retrieved nodes and from
    the frontier, the unread neighbours of read nodes. A node of the frontier has the best score of
    the read nodes that it is linked to. A node's neighbours join the frontier if the frontier is
    smaller than the rest of the budget, or if the node's score is at least that of the worst in the
    frontier. Of equal scores the nodes that joined first are read first, neighbours in the order of
    the corpus graph: by the weight of their link, then by name. With `backfill`, retrieved nodes
    that were not read follow the others.

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
        "How many nodes the re-ranker reads in all; 1,000 in the authors' library.",
        low=1,
        high=100_000,
    )
    batch: int = param(
        10, "Batch", "How many it reads at a time; 16 in the authors' library.", low=1, high=10_000
    )
    backfill: bool = param(
        True, "Backfill", "Retrieved nodes that were not read stay, behind those read."
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        retrieved = state.nodes or Ranking("node", (), ())
        retrieved_scores = dict(
            zip(retrieved.items, retrieved.scores or [-float(i) for i in range(len(retrieved))])
        )
        if not retrieved_scores:
            return state.replace(nodes=Ranking("node", (), ()))
        scorer = _BatchScorer(state, self.model, ctx, recorder)
        reranking = rerank_adaptively(
            retrieved_scores,
            neighbour_lookup(ctx.graph),
            scorer.score,
            budget=self.budget,
            batch=self.batch,
        )
        for number, (source, nodes) in enumerate(reranking.batches, 1):
            title = f"Batch {number}: {'retrieved' if source == 'retrieved' else 'neighbours'}"
            items = tuple(sorted(nodes, key=lambda node: -reranking.scores[node]))
            scores = tuple(reranking.scores[node] for node in items)
            recorder.frames.append(Frame(title, Ranking("node", items, scores), len(nodes)))
        order = reranking.rank_nodes(retrieved_scores if self.backfill else {})
        recorder.notes.append(
            f"{len(reranking.scores):,} read; the best: {best_names(ctx.graph, order)}."
        )
        return scorer.state.replace(nodes=order)

    def words(self) -> str:
        return f"re-ranked adaptively, {self.budget:,} read"


@dataclass
class _BatchScorer:
    """Scorer of batches of nodes.

    Its `state` collects the hidden states of all nodes read.
    """

    state: State
    model: str
    ctx: Context
    recorder: Recorder

    def score(self, nodes: Sequence[int]) -> list[float]:
        """Return the re-ranker's scores of a batch of nodes, aligned."""
        self.ctx.watch.check()
        self.ctx.watch.report("Re-ranking adaptively")
        hidden = read_hidden_states(self.state, nodes, self.model, self.ctx, self.recorder)
        self.state = self.state.replace(hidden=hidden)
        scores = hidden.head(hidden.vectors[state_rows(hidden, nodes)])
        return np.round(scores, HIT_SCORE_DIGITS).tolist()


@dataclass(frozen=True)
class AdaptiveRanking:
    """Result of adaptive reranking.

    Attributes
    ----------
    scores : score of each node that was read.
    batches : for each batch its source, "retrieved" or "frontier", and its nodes.
    """

    scores: Mapping[int, float]
    batches: tuple[tuple[str, tuple[int, ...]], ...]

    def rank_nodes(self, retrieved_scores: Mapping[int, float]) -> Ranking:
        """Return the nodes by score, then the nodes of `retrieved_scores` that were not read.

        Of equal scores those of a later batch come first, as in the authors' library,
        pyterrier-adaptive.
        """
        batch_numbers: dict[int, int] = {}
        for number, (_, batch_nodes) in enumerate(self.batches):
            batch_numbers |= dict.fromkeys(batch_nodes, number)
        nodes = sorted(self.scores, key=lambda node: (-self.scores[node], -batch_numbers[node]))
        not_read = [node for node in retrieved_scores if node not in self.scores]
        not_read.sort(key=lambda node: -retrieved_scores[node])
        lowest = min(self.scores.values(), default=0.0)
        scores = [self.scores[node] for node in nodes]
        # nodes that were not read keep their order, below all read nodes
        scores += [lowest - 1.0 - rank for rank in range(len(not_read))]
        return Ranking("node", (*nodes, *not_read), tuple(scores))


def neighbour_lookup(graph: KnowledgeGraph) -> Callable[[int], list[int]]:
    """Return a function that lists a node's neighbours by weight, then by name.

    The heaviest link comes first. Each neighbour is listed once, the node itself never.

    >>> from core.operators.nodes.adaptive_reranking import neighbour_lookup
    >>> neighbour_lookup(toy)(0)  # without weights by name: B, C and E
    [1, 2, 4]
    """
    weights = edge_weights(graph)
    weights = weights if weights is not None else np.ones(graph.n_edges)

    def find_neighbours(node: int) -> list[int]:
        others, edges, _ = graph.steps(node, "both")
        best_weights: dict[int, float] = {}
        for other, weight in zip(others.tolist(), weights[edges].tolist()):
            best_weights[other] = max(weight, best_weights.get(other, weight))
        # Ids are in the order of the names.
        return sorted(best_weights.keys() - {node}, key=lambda other: (-best_weights[other], other))

    return find_neighbours


def rerank_adaptively(
    retrieved_scores: Mapping[int, float],
    neighbours: Callable[[int], Iterable[int]],
    score: ScoreNodes,
    budget: int,
    batch: int,
) -> AdaptiveRanking:
    """Run GAR and return the scores and batches.

    Of equal scores the node that comes first in `retrieved_scores`, or among the `neighbours`, is
    read first.

    Parameters
    ----------
    retrieved_scores : scores of the retrieved nodes.
    neighbours : returns the neighbours of a node.
    score : reads a batch of nodes and returns their scores, aligned.
    budget : number of nodes to read.
    batch : number of nodes in a batch.

    Examples
    --------
    >>> from core.operators.nodes.adaptive_reranking import rerank_adaptively
    >>> near = {0: [2], 1: [], 2: []}.__getitem__
    >>> score = lambda nodes: [float(node) for node in nodes]
    >>> reranking = rerank_adaptively({0: 2.0, 1: 1.0}, near, score, 3, 1)
    >>> reranking.batches, reranking.scores
    ((('retrieved', (0,)), ('frontier', (2,)), ('retrieved', (1,))), {0: 0.0, 2: 2.0, 1: 1.0})
    """
    pools: dict[str, dict[int, float]] = {"retrieved": dict(retrieved_scores), "frontier": {}}
    scores: dict[int, float] = {}
    batches: list[tuple[str, tuple[int, ...]]] = []
    frontier = pools["frontier"]
    for source in itertools.cycle(pools):
        if len(scores) >= budget or not any(pools.values()):
            break
        pool = pools[source]
        if not pool:
            continue
        n_left = budget - len(scores)
        # `sorted` is stable, so equal scores keep the order of the pool
        batch_nodes = sorted(pool, key=lambda node: -pool[node])[: min(batch, n_left)]
        for node in batch_nodes:
            pools["retrieved"].pop(node, None)
            frontier.pop(node, None)
        new_scores = dict(zip(batch_nodes, score(batch_nodes)))
        scores |= new_scores
        batches.append((source, tuple(batch_nodes)))
        # Of equal scores the highest id comes first, as in the authors' library.
        for node in sorted(new_scores, key=lambda node: (new_scores[node], node), reverse=True):
            node_score = new_scores[node]
            has_room = len(frontier) < budget - len(scores)
            if has_room or node_score >= min(frontier.values(), default=node_score):
                for other in neighbours(node):
                    if other not in scores:
                        frontier[other] = max(frontier.get(other, -np.inf), node_score)
    return AdaptiveRanking(scores, tuple(batches))
