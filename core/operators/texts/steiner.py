"""A tree that joins the retrieved entities and relations: G-Retriever's subgraph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.algorithms.neighbourhood import induced, nearest
from core.graph.algorithms.steiner import prize_collecting_tree
from core.operators.base import Context, Operator, Recorder
from core.operators.texts.hits import ranked
from core.parameters import param
from core.types import Ranking, State, Subgraph
from core.watch import NO_WATCH, Watch

STEP = 0.01  # least relative difference of the prizes of two successive similarities


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
            node: float(self.nodes - place)
            for place, node in enumerate(state.nodes.items[: self.nodes])
        }
        edge_prizes, cost = self._edge_prizes(state.relations)
        heads, _, tails = ctx.graph.triples(np.array(list(edge_prizes), np.int64))
        start = sorted({*node_prizes, *heads.tolist(), *tails.tolist()})
        if start:
            around = nearest(ctx.graph, start, self.hops, "both", self.keep, ctx.watch)[0]
        else:
            around = np.empty(0, np.int64)
        nodes, edges = tree(ctx.graph, np.sort(around), node_prizes, edge_prizes, cost, ctx.watch)
        found = ranked("node", nodes, [node_prizes.get(node, 0.0) for node in nodes.tolist()])
        relations = ranked("triple", edges, [edge_prizes.get(edge, 0.0) for edge in edges.tolist()])
        recorder.notes.append(
            f"A tree of {len(nodes):,} entities and {len(edges):,} relations, sought among "
            f"{len(around):,} entities."
        )
        return state.replace(subgraph=Subgraph(nodes, edges), nodes=found, relations=relations)

    def _edge_prizes(self, relations: Ranking | None) -> tuple[dict[int, float], float]:
        """Return the prizes of relations, and the cost of an edge."""
        if relations is None or not len(relations) or not self.relations:
            return {}, self.cost
        given = relations.scores or tuple(float(-place) for place in range(len(relations)))
        prizes: dict[int, float] = {}
        values = sorted(set(given), reverse=True)[: self.relations]
        last = float(len(values))
        for place, value in enumerate(values):
            same = [edge for edge, score in zip(relations.items, given) if score == value]
            prize = min((len(values) - place) / len(same), last)
            prizes |= dict.fromkeys(same, prize)
            last = prize * (1 - STEP)
        return prizes, min(self.cost, max(prizes.values()) * (1 - STEP / 2))


def tree(
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
    edges = induced(graph, nodes)
    heads, _, tails = graph.triples(edges)
    given = np.array([edge_prizes.get(edge, 0.0) for edge in edges.tolist()])
    places = np.searchsorted(nodes, np.stack([heads, tails]))
    plain, dear = np.flatnonzero(given <= cost), np.flatnonzero(given > cost)
    virtual = len(nodes) + np.arange(len(dear))
    ends = np.concatenate(
        [places[:, plain], [places[0, dear], virtual], [virtual, places[1, dear]]], axis=1
    )
    costs = np.concatenate([cost - given[plain], np.zeros(2 * len(dear))])
    prizes = np.concatenate(
        [[node_prizes.get(node, 0.0) for node in nodes.tolist()], given[dear] - cost]
    )
    of = np.concatenate([plain, dear, dear]).astype(np.int64)  # graph edge of each tree edge
    tree_nodes, chosen_edges = prize_collecting_tree(
        len(prizes), ends[0], ends[1], costs, prizes, watch
    )
    chosen = {int(edges[of[edge]]) for edge in chosen_edges} | {
        int(edges[dear[node - len(nodes)]]) for node in tree_nodes if node >= len(nodes)
    }
    tree_edges = np.array(sorted(chosen), np.int64)
    found = {int(nodes[node]) for node in tree_nodes if node < len(nodes)}
    return np.array(
        sorted(found.union(*(end.tolist() for end in graph.triples(tree_edges)[::2]))), np.int64
    ), tree_edges
