"""A tree that joins the retrieved entities and relations: G-Retriever's subgraph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.neighbourhood import induced_edges, nearest_nodes
from core.graph.algorithms.steiner import prize_collecting_tree
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import best_hits
from core.parameters import param
from core.types import Ranking, State, Subgraph
from core.watch import NO_WATCH, Watch

MIN_PRIZE_STEP = 0.01  # least relative difference of the prizes of two successive similarities


@dataclass(frozen=True, repr=False)
class SteinerSubgraph(Operator):
    """The prize-collecting Steiner tree over the best entities and relations.

    It joins them at little cost, as G-Retriever does (in-depth analysis, subgraph operator
    Steiner). The best `nodes` entities have prizes `nodes`, `nodes` - 1, .. 1. Of the best
    `relations` distinct similarities the k-th gives its relations the prize (relations - k) / their
    number, at most 0.99 of the one before.

    An edge costs `cost`, at most 0.995 of the best prize, minus its prize. An edge with a higher
    prize becomes a node. The tree is sought among the `keep` nodes nearest to those with a prize.
    The analysis' code takes names for ids and gives no relation a prize; here relations have
    prizes.

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
        node_prizes = {
            node: float(self.nodes - rank)
            for rank, node in enumerate(state.nodes.items[: self.nodes])
        }
        edge_prizes, cost = self._edge_prizes(state.relations)
        heads, _, tails = ctx.graph.triples(np.array(list(edge_prizes), np.int64))
        start = sorted({*node_prizes, *heads.tolist(), *tails.tolist()})
        if start:
            nearby = nearest_nodes(ctx.graph, start, self.hops, "both", self.keep, ctx.watch)[0]
        else:
            nearby = np.empty(0, np.int64)
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
        """Return the prizes of relations, and the cost of an edge."""
        if relations is None or not len(relations) or not self.relations:
            return {}, self.cost
        edge_scores = relations.scores or tuple(float(-rank) for rank in range(len(relations)))
        prizes: dict[int, float] = {}
        values = sorted(set(edge_scores), reverse=True)[: self.relations]
        lowest_prize = float(len(values))
        for index, value in enumerate(values):
            tied = [edge for edge, score in zip(relations.items, edge_scores) if score == value]
            prize = min((len(values) - index) / len(tied), lowest_prize)
            prizes |= dict.fromkeys(tied, prize)
            lowest_prize = prize * (1 - MIN_PRIZE_STEP)
        return prizes, min(self.cost, max(prizes.values()) * (1 - MIN_PRIZE_STEP / 2))


def steiner_tree(
    graph,
    nodes: np.ndarray,
    node_prizes: dict[int, float],
    edge_prizes: dict[int, float],
    cost: float,
    watch: Watch = NO_WATCH,
):
    """Return the nodes and edges, ascending, of the tree among `nodes`.

    An edge whose prize is above its cost is treated as a node.

    Parameters
    ----------
    nodes : node ids, ascending.
    node_prizes, edge_prizes : prizes by id; all others are 0.
    cost : cost of an edge before its prize is subtracted.
    """
    edges = induced_edges(graph, nodes)
    heads, _, tails = graph.triples(edges)
    given_prizes = np.array([edge_prizes.get(edge, 0.0) for edge in edges.tolist()])
    end_rows = np.searchsorted(nodes, np.stack([heads, tails]))
    plain_rows = np.flatnonzero(given_prizes <= cost)
    prized_rows = np.flatnonzero(given_prizes > cost)
    virtual = len(nodes) + np.arange(len(prized_rows))
    tree_ends = np.concatenate(
        [
            end_rows[:, plain_rows],
            [end_rows[0, prized_rows], virtual],
            [virtual, end_rows[1, prized_rows]],
        ],
        axis=1,
    )
    costs = np.concatenate([cost - given_prizes[plain_rows], np.zeros(2 * len(prized_rows))])
    prizes = np.concatenate(
        [[node_prizes.get(node, 0.0) for node in nodes.tolist()], given_prizes[prized_rows] - cost]
    )
    graph_edge_rows = np.concatenate([plain_rows, prized_rows, prized_rows]).astype(
        np.int64
    )  # graph edge of each tree edge
    tree_nodes, chosen_edges = prize_collecting_tree(
        len(prizes), tree_ends[0], tree_ends[1], costs, prizes, watch
    )
    edge_ids = {int(edges[graph_edge_rows[edge]]) for edge in chosen_edges} | {
        int(edges[prized_rows[node - len(nodes)]]) for node in tree_nodes if node >= len(nodes)
    }
    tree_edges = np.array(sorted(edge_ids), np.int64)
    node_ids = {int(nodes[node]) for node in tree_nodes if node < len(nodes)}
    return np.array(
        sorted(node_ids.union(*(end.tolist() for end in graph.triples(tree_edges)[::2]))), np.int64
    ), tree_edges
