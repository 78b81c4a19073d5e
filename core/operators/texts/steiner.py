"""G-Retriever's subgraph: a Steiner tree that joins the retrieved entities and relations.

The in-depth analysis is the paper "In-depth Analysis of Graph-based RAG in a Unified Framework".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.neighbourhood import induced_edges, nearest_nodes
from core.graph.algorithms.steiner import prize_collecting_tree
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import best_hits
from core.operators.texts.neighbours import relation_scores
from core.parameters import param
from core.types import Ranking, State, Subgraph
from core.watch import NO_WATCH, Watch

MIN_PRIZE_STEP = 0.01  # least relative difference of the prizes of two successive similarities


@dataclass(frozen=True, repr=False)
class SteinerSubgraph(Operator):
    """The prize-collecting Steiner tree over the best entities and relations.

    The tree joins them at little cost, as in G-Retriever (in-depth analysis, subgraph operator
    Steiner). The best `nodes` entities have prizes `nodes`, `nodes` - 1, .. 1. The relations of the
    k-th best of `relations` distinct similarities share the prize relations - k, at most 0.99 of
    the prize before; k counts from 0.

    An edge costs `cost`, at most 0.995 of the best prize, minus its prize. An edge with a higher
    prize than its cost is treated as a node. The tree is sought among the `keep` nodes nearest to
    those with a prize. The analysis' code takes names for ids, so that no relation has a prize; in
    this operator relations have prizes.

    >>> line = "NamesInQuestion() >> LinkNames() >> SteinerSubgraph()"
    >>> part = retrieve(line, graph=story, question="Tim and Scrooge", models=scores({})).subgraph
    >>> story.names(part.nodes), len(part.edges)
    (['Cratchit', 'Scrooge', 'Tim'], 2)
    """

    stage = "retrieve"
    title = "Steiner tree"
    plain = "joins the best by a tree"
    reads, writes = ("nodes",), ("subgraph", "nodes", "relations")

    nodes: int = param(3, "Entities with a prize", "The best ones.", low=1, high=1000)
    relations: int = param(
        3,
        "Similarities with a prize",
        "Of the relations found; 0 gives relations none.",
        low=0,
        high=1000,
    )
    cost: float = param(
        0.5,
        "Cost of an edge",
        "Lowered where all prizes of relations are lower.",
        low=0.0,
        high=100,
    )
    hops: int = param(3, "Hops", "How far from what has a prize the tree may reach.", low=1, high=8)
    keep: int = param(
        2000, "Nodes at most", "Among which the tree is sought, the nearest.", low=2, high=20_000
    )

    def apply(self, state: State, ctx: Context, recorder: Recorder) -> State:
        assert state.nodes is not None
        ctx.watch.report("Joining what was found")
        best_nodes = state.nodes.items[: self.nodes]
        node_prizes = {node: float(self.nodes - rank) for rank, node in enumerate(best_nodes)}
        edge_prizes, cost = self._edge_prizes(state.relations)
        heads, _, tails = ctx.graph.triples(np.array(list(edge_prizes), np.int64))
        sources = sorted({*node_prizes, *heads.tolist(), *tails.tolist()})
        nearby = np.empty(0, np.int64)
        if sources:
            nearby, _ = nearest_nodes(ctx.graph, sources, self.hops, "both", self.keep, ctx.watch)
        nodes, edges = steiner_tree(
            ctx.graph, np.sort(nearby), node_prizes, edge_prizes, cost, ctx.watch
        )
        ranked_nodes = best_hits(
            "node", nodes, [node_prizes.get(node, 0.0) for node in nodes.tolist()]
        )
        relations = best_hits(
            "triple", edges, [edge_prizes.get(edge, 0.0) for edge in edges.tolist()]
        )
        recorder.notes.append(
            f"A tree of {len(nodes):,} entities and {len(edges):,} relations, sought among "
            f"{len(nearby):,} entities."
        )
        return state.replace(
            subgraph=Subgraph(nodes, edges), nodes=ranked_nodes, relations=relations
        )

    def _edge_prizes(self, relations: Ranking | None) -> tuple[dict[int, float], float]:
        """Return the prizes of relations by id, and the edge cost.

        The cost is that of an edge before its prize is subtracted.
        """
        if relations is None or not len(relations) or not self.relations:
            return {}, self.cost
        edge_scores = relation_scores(relations)
        prizes: dict[int, float] = {}
        values = sorted(set(edge_scores), reverse=True)[: self.relations]
        max_prize = float(len(values))
        for index, value in enumerate(values):
            # relations of equal similarity share one prize
            tied = [edge for edge, score in zip(relations.items, edge_scores) if score == value]
            prize = min((len(values) - index) / len(tied), max_prize)
            prizes |= dict.fromkeys(tied, prize)
            max_prize = prize * (1 - MIN_PRIZE_STEP)
        # below the best prize, so that at least one relation is worth more than it costs
        return prizes, min(self.cost, max(prizes.values()) * (1 - MIN_PRIZE_STEP / 2))


def steiner_tree(
    graph,
    nodes: np.ndarray,
    node_prizes: dict[int, float],
    edge_prizes: dict[int, float],
    cost: float,
    watch: Watch = NO_WATCH,
):
    """Return the node ids and the edge ids of the tree.

    The tree is among `nodes`. Both results are ascending. The solver takes prizes of nodes only. An
    edge with a prize above its cost is therefore replaced by a virtual node with the difference as
    prize, and by links without cost to both ends.

    Parameters
    ----------
    nodes : node ids, ascending.
    node_prizes, edge_prizes : prizes by id; all others are 0.
    cost : cost of an edge before its prize is subtracted.
    """
    edges = induced_edges(graph, nodes)
    heads, _, tails = graph.triples(edges)
    prizes_of_edges = np.array([edge_prizes.get(edge, 0.0) for edge in edges.tolist()])
    head_rows, tail_rows = np.searchsorted(nodes, np.stack([heads, tails]))
    ordinary = np.flatnonzero(prizes_of_edges <= cost)
    rewarded = np.flatnonzero(prizes_of_edges > cost)
    n_nodes = len(nodes)
    virtual = n_nodes + np.arange(len(rewarded))
    starts = np.concatenate([head_rows[ordinary], head_rows[rewarded], virtual])
    ends = np.concatenate([tail_rows[ordinary], virtual, tail_rows[rewarded]])
    edge_of_link = np.concatenate([ordinary, rewarded, rewarded]).astype(np.int64)
    costs = np.concatenate([cost - prizes_of_edges[ordinary], np.zeros(2 * len(rewarded))])
    prizes_of_nodes = [node_prizes.get(node, 0.0) for node in nodes.tolist()]
    prizes = np.concatenate([prizes_of_nodes, prizes_of_edges[rewarded] - cost])
    tree_nodes, tree_links = prize_collecting_tree(len(prizes), starts, ends, costs, prizes, watch)
    # a link to a virtual node stands for the edge of that node
    edge_ids = {int(edges[edge_of_link[link]]) for link in tree_links}
    node_ids: set[int] = set()
    for node in tree_nodes:
        if node < n_nodes:
            node_ids.add(int(nodes[node]))
        else:
            edge_ids.add(int(edges[rewarded[node - n_nodes]]))
    tree_edges = np.array(sorted(edge_ids), np.int64)
    # the tree may reach a virtual node from one end only
    tree_heads, _, tree_tails = graph.triples(tree_edges)
    node_ids.update(tree_heads.tolist(), tree_tails.tolist())
    return np.array(sorted(node_ids), np.int64), tree_edges
