"""How near to the documents that an answer rests on, or to the nodes made of them, a search has come in a graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.diagnosis.passages import chunk_order, chunk_rows
from core.evaluation.metrics.ranking import Ranked, ranked
from core.graph.algorithms.simple import Simple, simple
from core.graph.algorithms.uncertainty import uncertainty
from core.graph.columns import Rows
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunks_of, leaves, n_chunks, node_chunks
from core.types import State

# questions whose distances the lanes share, and of each at most so many numbers
SHARED, MAX_SHARED = (8, 4_000_000)
MAX_SEARCHES_FROM_GOLD = 200  # beyond that many gold nodes the search starts at the fewer nodes
DIGITS = 6


@dataclass(frozen=True)
class Nearing:
    """How the uncertainty of each of `golds` known documents falls as more is retrieved: from place `places[i]` (from 1) on that of the
    document number `of[i]` is `costs[i]`, until the next entry of that document. Before the first one no path leads to it."""

    golds: int
    count: int  # of the documents kept
    of: tuple[int, ...]
    places: tuple[int, ...]
    costs: tuple[float, ...]

    def at(self, k: int | None) -> list[float]:
        """The uncertainty of each known document after the first k of those kept (None: all of them); infinite where none leads there."""
        found = [math.inf] * self.golds
        for gold, place, cost in zip(self.of, self.places, self.costs):
            if place <= min(k or self.count, self.count):
                found[gold] = min(found[gold], cost)
        return found


def nearing(graph: KnowledgeGraph, state: State) -> Nearing | None:
    """The facts behind Topological Recall, of the documents of a corpus graph or of the gold nodes of a graph of entities; None where the
    graph has no links or says of no node where it is from, where nothing was sought, or where nothing is known.

    >>> from core.evaluation.metrics.topology import nearing
    >>> from core.types import Question
    >>> state = retrieve("SparseNodes(keep=1)", graph=story, question="cheerful Fred")  # Fred - Scrooge - Cratchit - Tim
    >>> gold = ("carol\\nTiny Tim, the son of Cratchit",)  # from whose chunk Cratchit, Scrooge and Tim come
    >>> nearing(story, state.replace(question=Question("?", gold=gold)))  # ln 2 + ln 4, ln 2, ln 2 + ln 4 + ln 3
    Nearing(golds=3, count=1, of=(0, 1, 2), places=(1, 1, 1), costs=(2.079442, 0.693147, 3.178054))
    """
    found = _documents_found(graph, state) if node_chunks(graph) else _nodes_found(graph, state)
    if found is None or not state.question.gold:
        return None
    retrieved, count = found
    costs = costs_to_known(graph, state.question.gold, retrieved[:count])
    return falls(costs, count) if len(costs) else None


def ranked_gold_nodes(graph: KnowledgeGraph, state: State) -> Ranked | None:
    """The nodes that were found against the gold nodes (`known_nodes`); None where no nodes were sought or none is known. Where the order
    before the cut is known, places behind the cut count in it, and `count` is that of the nodes retained.

    >>> from core.evaluation.metrics.topology import ranked_gold_nodes
    >>> from core.types import Question
    >>> state = retrieve("SparseNodes(keep=1)", graph=story, question="cheerful Fred")
    >>> ranked_gold_nodes(story, state.replace(question=Question("?", gold=("carol\\nFred, the nephew",))))  # Cratchit, Fred, Scrooge
    Ranked(count=1, relevant=(1,), first=(None, 1, None))
    """
    found, known = _nodes_found(graph, state), known_nodes(graph, state.question.gold)
    if found is None or not known:
        return None
    of: dict[int | None, list[int]] = {}
    for place, node in enumerate(known):
        of.setdefault(node, []).append(place)
    order, count = found
    return replace(ranked((of.get(node, []) for node in order), len(known)), count=count)


def known_nodes(graph: KnowledgeGraph, gold: Sequence[str]) -> list[int | None]:
    """The gold nodes of a question: in a graph of entities all nodes that come from a chunk of a gold document, whatever else they come
    from (FastInsight, section 4.2.2); where chunks are nodes themselves those of the gold documents, and None for a document that is no
    node. An entity graph's document of which no node comes has none.

    >>> from core.evaluation.metrics.topology import known_nodes
    >>> story.names(known_nodes(story, ["carol\\nTiny Tim", "turkey"])), known_nodes(story, ["turkey"])  # of the turkey no node comes
    (['Cratchit', 'Scrooge', 'Tim'], [])
    """
    own, by_chunk = node_chunks(graph), nodes_by_chunk(graph)
    known: list[int | None] = []
    for id in dict.fromkeys(gold):
        nodes = [int(node) for row in sorted(chunk_rows(graph, id)) for node in by_chunk[row]]
        known += nodes or ([None] if own and len(by_chunk.ids) else [])
    return known if own else list(dict.fromkeys(known))


def costs_to_known(
    graph: KnowledgeGraph, gold: Sequence[str], retrieved: Sequence[int]
) -> np.ndarray:
    """The uncertainty of the way from each retrieved node to each gold node.

    It is exact whatever the numbers: of more than `MAX_SEARCHES_FROM_GOLD` gold nodes one search
    starts at each retrieved node, where these are fewer, as links lead both ways.

    Parameters
    ----------
    gold : the ids of the documents that the answer rests on.
    retrieved : nodes, best first.

    Returns
    -------
    float64 [gold nodes, retrieved], infinite where no path leads and to a document that is no node;
    without rows where the graph has no links or no node is known.

    Notes
    -----
    FastInsight, definition 7: a retrieved gold node has 0, so that its corollary 1 holds.
    """
    known = known_nodes(graph, gold) if graph.n_edges else []
    costs = np.full((len(known), len(retrieved)), math.inf)
    there = [row for row, node in enumerate(known) if node is not None]
    nodes, links = [node for node in known if node is not None], simple(graph)
    if not nodes or not len(retrieved):
        return costs
    if len(nodes) > max(MAX_SEARCHES_FROM_GOLD, len(set(retrieved))):
        costs[there] = _from_retrieved(links, retrieved, np.array(nodes, np.int64))
    elif len(nodes) * len(links) <= MAX_SHARED:
        make = lambda: [uncertainty(links, node) for node in nodes]
        shared = graph.derived.once("uncertainty", tuple(nodes), make, SHARED)
        costs[there] = [cost[list(retrieved)] for cost in shared]
    else:
        for row, node in zip(there, nodes):
            costs[row] = uncertainty(links, node)[list(retrieved)]
    return costs


def _from_retrieved(links: Simple, retrieved: Sequence[int], golds: np.ndarray) -> np.ndarray:
    """The same from searches that start at the retrieved nodes, float64 [golds, retrieved].

    A path's sum without its retrieved end, as the search has it, becomes the one without its gold
    end by taking off the weight of the gold node and adding that of the retrieved one.
    """
    found = np.empty((len(golds), len(retrieved)))
    gold_weights = np.log1p(links.degrees(golds))
    by_node: dict[int, int] = {}
    for column, node in enumerate(retrieved):
        if node in by_node:  # a document's chunks may be one node
            found[:, column] = found[:, by_node[node]]
            continue
        by_node[node] = column
        weight = np.log1p(links.degrees(np.array([node])))[0]
        sums = uncertainty(links, node)[golds] + weight - gold_weights
        found[:, column] = np.where(golds == node, 0.0, sums)
    return found


def falls(costs: np.ndarray, count: int) -> Nearing:
    """The places at which a retrieved node is nearer to a gold node than all before it.

    Parameters
    ----------
    costs : uncertainty of each gold node from each retrieved one, float64 [gold nodes, retrieved].
    count : how many nodes were retained.
    """
    of, places, least = list[int](), list[int](), list[float]()
    for gold, cost in enumerate(costs):
        known = math.inf
        for place, value in enumerate(cost.tolist(), 1):
            if value < known:
                known = value
                of.append(gold)
                places.append(place)
                least.append(round(value, DIGITS))
    return Nearing(len(costs), count, tuple(of), tuple(places), tuple(least))


def nodes_by_chunk(graph: KnowledgeGraph) -> Rows:
    """For each chunk the nodes that come from it, ascending: where chunks are nodes themselves its own, else every entity that was found
    in it."""

    def make() -> Rows:
        rows = chunks_of(graph, "nodes")
        if node_chunks(graph):
            own = leaves(graph, np.arange(graph.n_nodes))
            rows = Rows.of([own[node]] if node in own else [] for node in range(graph.n_nodes))
        return rows.inverse(n_chunks(graph))

    return graph.derived.once("nodes by chunk", 0, make)


def _nodes_found(graph: KnowledgeGraph, state: State) -> tuple[Sequence[int], int] | None:
    """(nodes found, best first, with those behind the cut where they are known; how many were retained); None where none were sought."""
    if state.nodes is None:
        return None
    retained = state.nodes.items
    orders = [
        step.before_cut.items
        for step in reversed(state.trace)
        if step.before_cut is not None and step.before_cut.kind == "node"
    ]
    longer = (
        order
        for order in orders
        if len(order) > len(retained) and order[: len(retained)] == retained
    )
    return next(longer, retained), len(retained)


def _documents_found(graph: KnowledgeGraph, state: State) -> tuple[Sequence[int], int] | None:
    """As `_nodes_found` where documents are nodes: the nodes of the chunks that were handed on, best first."""
    placed = chunk_order(graph, state)
    if placed is None:
        return None
    by_chunk = nodes_by_chunk(graph)
    return [int(node) for row in placed[1] for node in by_chunk[row]], len(placed[0])
