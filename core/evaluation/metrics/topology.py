"""Distance in the graph from retrieved nodes to gold items.

Gold items are the gold documents or gold nodes of a question. FastInsight's Topological Recall is
computed from these distances, which the paper calls uncertainties. The uncertainty of a path is the
sum of ln(1 + degree) over its nodes, without the gold node at its end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from core.diagnosis.passages import chunk_order, chunk_rows
from core.evaluation.metrics.ranking import GoldRanks, gold_ranks
from core.graph.algorithms.simple_graph import SimpleGraph, simple_graph
from core.graph.algorithms.uncertainty import uncertainty
from core.graph.columns import IdLists
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_nodes, chunks_of, has_chunk_nodes, n_chunks
from core.types import State

# Several methods are asked the same question, so the uncertainties of recent questions are cached.
MAX_CACHED_QUESTIONS = 8
MAX_CACHED_UNCERTAINTIES = 4_000_000  # gold nodes of a question times nodes of the graph
# With more gold nodes, searches start at the retrieved nodes if these are fewer.
MAX_SEARCHES_FROM_GOLD = 200
UNCERTAINTY_DIGITS = 6


@dataclass(frozen=True)
class UncertaintyByRank:
    """Decrease of the uncertainty of gold items as nodes are retrieved.

    `golds` is the number of gold items (documents or nodes). The last three fields are aligned.
    Entry i says: with the first `places[i]` retrieved items (a rank from 1), gold item number
    `of[i]` (from 0) has uncertainty `costs[i]`. This holds until the next entry of the same gold
    item. Before its first entry no path leads to the item. The field names are those of saved runs.
    """

    golds: int
    count: int  # number of retrieved items that the method selected
    of: tuple[int, ...]
    places: tuple[int, ...]
    costs: tuple[float, ...]

    def uncertainties_at(self, k: int | None) -> list[float]:
        """Return the uncertainty of each gold item from the first k retrieved items.

        Without k, all retrieved items are used. The uncertainty is infinite if no path leads to the
        gold item.
        """
        uncertainties = [math.inf] * self.golds
        for gold, rank, cost in zip(self.of, self.places, self.costs):
            if rank <= min(k or self.count, self.count):
                uncertainties[gold] = min(uncertainties[gold], cost)
        return uncertainties


def uncertainty_by_rank(graph: KnowledgeGraph, state: State) -> UncertaintyByRank | None:
    """Return the uncertainties behind Topological Recall for one question.

    They refer to the documents of a corpus graph, or to the gold nodes of a graph of entities.

    Parameters
    ----------
    graph : the graph that the state refers to.
    state : the last state of a method.

    Returns
    -------
    The uncertainty of each gold item at the ranks where it falls. None if the graph has no links or
        does not record the chunks of its nodes, if the state has no ranking, or if the question has
        no gold documents. With an empty ranking there are no entries.

    Notes
    -----
    FastInsight, definition 7.

    Examples
    --------
    >>> from core.evaluation.metrics.topology import uncertainty_by_rank
    >>> from core.types import Question
    >>> # Fred is retrieved; the graph is Fred - Scrooge - Cratchit - Tim
    >>> state = retrieve("SparseNodes(keep=1)", graph=story, question="cheerful Fred")
    >>> # the gold nodes, those of this chunk, are Cratchit, Scrooge and Tim
    >>> gold = ("carol\\nTiny Tim, the son of Cratchit",)
    >>> # ln 2 + ln 4, ln 2, ln 2 + ln 4 + ln 3
    >>> uncertainty_by_rank(story, state.replace(question=Question("?", gold=gold)))
    UncertaintyByRank(golds=3, count=1, of=(0, 1, 2), places=(1, 1, 1), costs=(2.079442, 0.693147,
    3.178054))
    """
    retrieve = _retrieved_documents if has_chunk_nodes(graph) else _retrieved_nodes
    result = retrieve(graph, state)
    if result is None or not state.question.gold:
        return None
    retrieved, count = result
    costs = uncertainties_to_gold(graph, state.question.gold, retrieved[:count])
    return uncertainty_drops(costs, count) if len(costs) else None


def gold_node_ranks(graph: KnowledgeGraph, state: State) -> GoldRanks | None:
    """Return the ranks of the gold nodes (`nodes_of_gold_documents`) among the retrieved nodes.

    `count` is the number of nodes that the method selected. If the trace also has the order of the
    nodes that were not selected, their ranks follow.

    Parameters
    ----------
    graph : the graph that the state refers to.
    state : the last state of a method.

    Returns
    -------
    Ranks from 1. None if the state has no ranking of nodes or no gold nodes are known.

    Examples
    --------
    >>> from core.evaluation.metrics.topology import gold_node_ranks
    >>> from core.types import Question
    >>> state = retrieve("SparseNodes(keep=1)", graph=story, question="cheerful Fred")
    >>> # Cratchit, Fred, Scrooge
    >>> gold_node_ranks(
    ...     story, state.replace(question=Question("?", gold=("carol\\nFred, the nephew",)))
    ... )
    GoldRanks(count=1, relevant=(1,), first=(None, 1, None))
    """
    result = _retrieved_nodes(graph, state)
    gold_node_ids = nodes_of_gold_documents(graph, state.question.gold)
    if result is None or not gold_node_ids:
        return None
    indices_by_node: dict[int | None, list[int]] = {}
    for index, node in enumerate(gold_node_ids):
        indices_by_node.setdefault(node, []).append(index)
    order, count = result
    ranks = gold_ranks((indices_by_node.get(node, []) for node in order), len(gold_node_ids))
    return replace(ranks, count=count)


def nodes_of_gold_documents(graph: KnowledgeGraph, gold: Sequence[str]) -> list[int | None]:
    """Return the gold nodes of a question, those of its gold documents.

    In a graph of entities these are all nodes that come from a chunk of a gold document, even if
    they also come from other documents. A gold document without such nodes contributes none. In a
    graph whose chunks are nodes, they are the nodes of the gold documents.

    Parameters
    ----------
    graph : a corpus graph, or a graph of entities that records its chunks.
    gold : ids of the gold documents.

    Returns
    -------
    Node ids. None stands for a gold document that is no node, in a graph whose chunks are nodes.

    Notes
    -----
    FastInsight, section 4.2.2.

    Examples
    --------
    >>> from core.evaluation.metrics.topology import nodes_of_gold_documents
    >>> # no node comes from the document turkey
    >>> (
    ...     story.names(nodes_of_gold_documents(story, ["carol\\nTiny Tim", "turkey"])),
    ...     nodes_of_gold_documents(story, ["turkey"]),
    ... )
    (['Cratchit', 'Scrooge', 'Tim'], [])
    """
    by_chunk = nodes_by_chunk(graph)
    are_chunks_nodes = has_chunk_nodes(graph)
    gold_node_ids: list[int | None] = []
    for document in dict.fromkeys(gold):
        nodes: list[int | None] = []
        for row in sorted(chunk_rows(graph, document)):
            nodes += map(int, by_chunk[row])
        if not nodes and are_chunks_nodes and len(by_chunk.ids):
            nodes = [None]
        gold_node_ids += nodes
    return gold_node_ids if are_chunks_nodes else list(dict.fromkeys(gold_node_ids))


def uncertainties_to_gold(
    graph: KnowledgeGraph, gold: Sequence[str], retrieved: Sequence[int]
) -> np.ndarray:
    """Return the uncertainty of the path from each retrieved node to each gold node.

    The values are exact for any number of nodes. One search starts at each gold node. With more
    than `MAX_SEARCHES_FROM_GOLD` gold nodes, the searches start at the retrieved nodes if these are
    fewer, because links lead both ways.

    Parameters
    ----------
    graph : the graph of all these nodes.
    gold : ids of the gold documents.
    retrieved : nodes, best first.

    Returns
    -------
    float64 [gold nodes, retrieved]; infinite if there is no path, or if the gold document is no
        node. There are no rows if the graph has no links or no gold nodes.

    Notes
    -----
    FastInsight, definition 7: the uncertainty of a retrieved gold node is 0, so that its corollary
    1 holds.
    """
    gold_node_ids = nodes_of_gold_documents(graph, gold) if graph.n_edges else []
    costs = np.full((len(gold_node_ids), len(retrieved)), math.inf)
    gold_rows = [row for row, node in enumerate(gold_node_ids) if node is not None]
    nodes = [node for node in gold_node_ids if node is not None]
    if not nodes or not len(retrieved):
        return costs
    links = simple_graph(graph)
    if len(nodes) > max(MAX_SEARCHES_FROM_GOLD, len(set(retrieved))):
        costs[gold_rows] = _costs_from_retrieved(links, retrieved, np.array(nodes, np.int64))
    elif len(nodes) * len(links) <= MAX_CACHED_UNCERTAINTIES:
        shared = graph.derived.get_or_make(
            "uncertainty",
            tuple(nodes),
            lambda: [uncertainty(links, node) for node in nodes],
            MAX_CACHED_QUESTIONS,
        )
        costs[gold_rows] = [cost[list(retrieved)] for cost in shared]
    else:
        for row, node in zip(gold_rows, nodes):
            costs[row] = uncertainty(links, node)[list(retrieved)]
    return costs


def _costs_from_retrieved(
    links: SimpleGraph, retrieved: Sequence[int], golds: np.ndarray
) -> np.ndarray:
    """Return the same as `uncertainties_to_gold`, by searches that start at the retrieved nodes.

    The result is float64 [golds, retrieved]. A search sums the weights ln(1 + degree) of a path's
    nodes without its start, which here is the retrieved node. The definition leaves out the gold
    node instead, so the gold node's weight is subtracted and the retrieved node's weight added.
    """
    uncertainties = np.empty((len(golds), len(retrieved)))
    gold_weights = np.log1p(links.degrees(golds))
    column_by_node: dict[int, int] = {}
    for column, node in enumerate(retrieved):
        if node in column_by_node:  # a document's chunks may be one node
            uncertainties[:, column] = uncertainties[:, column_by_node[node]]
            continue
        column_by_node[node] = column
        weight = np.log1p(links.degrees(np.array([node])))[0]
        sums = uncertainty(links, node)[golds] + weight - gold_weights
        uncertainties[:, column] = np.where(golds == node, 0.0, sums)
    return uncertainties


def uncertainty_drops(costs: np.ndarray, count: int) -> UncertaintyByRank:
    """Return the ranks at which the uncertainty of a gold node drops.

    There a retrieved node is nearer to the gold node than all nodes before it.

    Parameters
    ----------
    costs : uncertainty of each gold node from each retrieved node, float64 [gold nodes, retrieved].
    count : number of retrieved nodes that the method selected.

    Returns
    -------
    The gold node, the rank from 1 and the uncertainty of each such drop.
    """
    drops: list[tuple[int, int, float]] = []
    for gold, gold_costs in enumerate(costs):
        min_cost = math.inf
        for rank, cost in enumerate(gold_costs.tolist(), 1):
            if cost < min_cost:
                min_cost = cost
                drops.append((gold, rank, round(cost, UNCERTAINTY_DIGITS)))
    gold_numbers, ranks, drop_costs = zip(*drops) if drops else ((), (), ())
    return UncertaintyByRank(len(costs), count, gold_numbers, ranks, drop_costs)


def nodes_by_chunk(graph: KnowledgeGraph) -> IdLists:
    """Return for each chunk the nodes that come from it, in ascending order.

    It is the chunk's own node if chunks are nodes, else all entities found in the chunk.
    """

    def make_lists() -> IdLists:
        rows = chunks_of(graph, "nodes")
        if has_chunk_nodes(graph):
            node_rows = chunk_nodes(graph, np.arange(graph.n_nodes))
            rows = IdLists.from_lists(
                [node_rows[node]] if node in node_rows else [] for node in range(graph.n_nodes)
            )
        return rows.invert(n_chunks(graph))

    return graph.derived.get_or_make("nodes by chunk", 0, make_lists)


def _retrieved_nodes(graph: KnowledgeGraph, state: State) -> tuple[Sequence[int], int] | None:
    """Return the retrieved nodes, best first, and how many of them the method selected.

    The nodes that were not selected follow the selected ones, if a step of the trace recorded their
    order. The result is None if the state has no ranking of nodes.
    """
    if state.nodes is None:
        return None
    items = state.nodes.items
    orders = [
        step.before_cut.items
        for step in reversed(state.trace)
        if step.before_cut is not None and step.before_cut.kind == "node"
    ]
    longer = (order for order in orders if len(order) > len(items) and order[: len(items)] == items)
    return next(longer, items), len(items)


def _retrieved_documents(graph: KnowledgeGraph, state: State) -> tuple[Sequence[int], int] | None:
    """Return the same as `_retrieved_nodes` in graphs whose nodes are documents.

    The nodes are those of the retrieved chunks, best first.
    """
    orders = chunk_order(graph, state)
    if orders is None:
        return None
    selected_rows, all_rows = orders
    by_chunk = nodes_by_chunk(graph)
    nodes = chain.from_iterable(by_chunk[row] for row in all_rows)
    return list(map(int, nodes)), len(selected_rows)
