"""Operators that move to the graph neighbours of the retrieved entities and relations.

They return neighbouring entities, the relations of entities, or the entities of relations.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from core.graph.algorithms.neighbourhood import nearest_nodes
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import edge_weights, relation_texts
from core.operators.base import DIRECTIONS, Context, Operator, Recorder
from core.operators.extract import DIRECTION_HELP
from core.operators.texts.hits import (
    HIT_SCORE_DIGITS,
    MAX_HITS_BEFORE_CUT,
    LazyRanking,
    best_hits,
    best_names,
    hits_within_budget,
    scores_of,
)
from core.parameters import param
from core.types import Ranking, State

HITS_FIRST = "hits first"
NEIGHBOUR_ORDERS = ("score", HITS_FIRST)
NEIGHBOUR_BUDGET_HELP = "How many tokens their descriptions may have together; 0: no limit."


@dataclass(frozen=True, repr=False)
class NeighbourNodes(Operator):
    """The entities within `hops` steps of the retrieved ones.

    With `itself` the retrieved entities are returned too. In-depth analysis, node operator Onehop.
    A neighbour has the score of the best entity within `hops` steps of it. An entity retrieved
    before has its own score, and of equal scores those retrieved before come first. With `order`
    "hits first" all entities retrieved before come first, and a neighbour's score is at most that
    of the last of them. With "score" the neighbours of the best entity may come before other
    retrieved entities.

    >>> line = "NamesInQuestion() >> LinkNames() >> NeighbourNodes()"
    >>> state = retrieve(line, graph=story, question="Fred", models=scores({}))
    >>> story.names(state.nodes.items)
    ['Fred', 'Scrooge']
    """

    stage = "retrieve"
    title = "neighbours"
    plain = "adds their neighbours"
    reads, writes = ("nodes",), ("nodes",)

    hops: int = param(1, "Hops", "How many steps are taken.", low=1, high=4)
    keep: int = param(
        1000, "Entities at most", "The best are kept where there are more.", low=1, high=1_000_000
    )
    itself: bool = param(True, "With those found", "The entities found before stay among the hits.")
    direction: str = param("both", "Direction", DIRECTION_HELP, choices=DIRECTIONS)
    order: str = param(
        "score", "Order", "By score, or the entities found before them.", choices=NEIGHBOUR_ORDERS
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.nodes is not None
        hits = state.nodes.items
        hit_set = set(hits)
        best_scores = self._best_scores(state.nodes, ctx)

        def sort_key(node: int) -> tuple[float, bool, int]:
            return -round(best_scores[node], HIT_SCORE_DIGITS), node not in hit_set, node

        allowed = [node for node in best_scores if self.itself or node not in hit_set]
        order = sorted(allowed, key=sort_key)
        if self.order == HITS_FIRST:
            others = [node for node in order if node not in hit_set]
            # no neighbour may score above a hit, so that the scores descend
            worst = min((best_scores[node] for node in hit_set), default=0.0)
            best_scores |= {node: min(best_scores[node], worst) for node in others}
            order = [*hits, *others] if self.itself else others
        order = order[: self.keep]
        scores = tuple(round(best_scores[node], HIT_SCORE_DIGITS) for node in order)
        return state.replace(nodes=Ranking("node", tuple(order), scores))

    def _best_scores(self, hits: Ranking, ctx: Context) -> dict[int, float]:
        """Return the scores of the hits and of their neighbours, by node.

        A hit has its own score. A neighbour has the score of the best hit within `hops` steps.
        """
        scores = scores_of(hits, ctx.graph.n_nodes)
        hit_set = set(hits.items)
        best_scores: dict[int, float] = {}
        # best first, so that the first score of a neighbour is its best
        for hit in hits.items:
            # `keep` neighbours and the hit itself
            near_nodes, _ = nearest_nodes(
                ctx.graph, (hit,), self.hops, self.direction, self.keep + 1, ctx.watch
            )
            for node in near_nodes.tolist():
                score = scores[node] if node in hit_set else scores[hit]
                best_scores.setdefault(node, float(score))
        return best_scores


@dataclass(frozen=True, repr=False)
class IncidentRelations(Operator):
    """The relations at the retrieved entities, within a budget of tokens.

    In-depth analysis, relationship operator Onehop (LightRAG and LGraphRAG): ordered by the sum of
    the degrees of both ends, then by weight, cut at 4,800 tokens of descriptions. The score is that
    sum, with the weight added as a fraction below 1.

    >>> line = "NamesInQuestion() >> LinkNames() >> IncidentRelations()"
    >>> found = retrieve(line, graph=story, question="Cratchit", models=scores({})).relations
    >>> story.triple_texts(found.items)  # degrees 2 + 3, 2 + 1
    ['Cratchit -> works for -> Scrooge', 'Tim -> son of -> Cratchit']
    """

    stage = "retrieve"
    title = "relations at the entities"
    plain = "takes the relations at them"
    reads, writes = ("nodes",), ("relations",)

    budget: int = param(4800, "Tokens", NEIGHBOUR_BUDGET_HELP, low=0, high=1_000_000)
    keep: int = param(
        0, "Relations at most", "0: limited by the tokens only.", low=0, high=1_000_000
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.nodes is not None
        ctx.watch.report("Relations at the entities found")
        edges = np.unique(ctx.graph.steps_from(np.array(state.nodes.items, np.int64), "both").edges)
        order = LazyRanking("triple", edges, endpoint_degrees(ctx.graph, edges))
        recorder.before_cut = order.head(max(MAX_HITS_BEFORE_CUT, self.keep))
        # `order` is sorted only as far as the budget needs
        hits = hits_within_budget(
            order.head(self.keep) if self.keep else order,
            partial(relation_texts, ctx.graph),
            self.budget,
        )
        if len(hits) < len(edges):
            recorder.notes.append(f"{len(hits):,} of {len(edges):,} relations have room.")
        return state.replace(relations=hits)

    def words(self) -> str:
        return "relations at them"


@dataclass(frozen=True, repr=False)
class EndpointNodes(Operator):
    """The entities at both ends of the retrieved relations.

    In-depth analysis, node operator RelNode, "FromRel" in its Table 3. Its code returns only the
    last entity. This operator returns each end of each relation, with the score of its best
    relation.

    >>> line = "EmbedQuery() >> VectorRelations(keep=1) >> EndpointNodes()"
    >>> story.names(
    ...     retrieve(line, graph=story, question="the nephew", models=scores({})).nodes.items
    ... )
    ['Fred', 'Scrooge']
    """

    stage = "retrieve"
    title = "ends of the relations"
    plain = "takes the ends of these relations"
    reads, writes = ("relations",), ("nodes",)

    keep: int = param(0, "Entities at most", "0: no limit.", low=0, high=1_000_000)

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.relations is not None
        heads, _, tails = ctx.graph.triples(np.array(state.relations.items, np.int64))
        scores = relation_scores(state.relations)
        best_scores: dict[int, float] = {}
        for score, head, tail in zip(scores, heads.tolist(), tails.tolist()):
            best_scores.setdefault(head, score)
            best_scores.setdefault(tail, score)
        hits = best_hits("node", best_scores, best_scores.values(), self.keep)
        recorder.notes.append(f"Ends: {best_names(ctx.graph, hits) or 'none'}.")
        return state.replace(nodes=hits)


def relation_scores(relations: Ranking) -> tuple[float, ...]:
    """Return the scores of relations.

    Without scores they are 0, -1, -2 and so on.
    """
    if relations.scores is not None:
        return relations.scores
    return tuple(float(-rank) for rank in range(len(relations)))


def endpoint_degrees(graph: KnowledgeGraph, edges: np.ndarray) -> np.ndarray:
    """Return for each edge the sum of its nodes' degrees.

    The sums are float64 [n]. The edge's weight is added as a fraction below 1, so it only orders
    edges of equal degrees.
    """
    heads, _, tails = graph.triples(edges)
    degrees = graph.degrees(heads) + graph.degrees(tails)
    weights = edge_weights(graph)
    if weights is None or not len(weights):
        return degrees + np.zeros(len(edges))
    return degrees + weights[edges] / (1.0 + weights.max())
