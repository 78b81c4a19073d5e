"""Results of a reranking method at smaller reading budgets.

They are derived from the trace of one run. A reading budget is the number of documents (or nodes)
that a method may score. FastInsight plots its figures over this budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from core.diagnosis.passages import chunk_rows
from core.evaluation.metrics.topology import nodes_of_gold_documents, uncertainties_to_gold
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_lists, has_chunk_nodes
from core.types import Ranking, State, Step

READING_BUDGETS = tuple(range(10, 101, 10))  # those of FastInsight's plots
RECALL_DOCUMENTS = 10  # cut-off of the recall at each budget
# Operators whose first results do not depend on how many they keep.
BUDGET_SEARCH_OPERATORS = ("VectorNodes", "SparseNodes", "LearnedSparseNodes", "SimilarPageRank")


@dataclass(frozen=True)
class BudgetResults:
    """Results of one question at each reading budget.

    `golds` is the number of gold documents, or of gold nodes in a graph of entities. `of` lists the
    budgets. For each of them, `found` is the number of gold items among the first ten results, and
    `near` is the Topological Recall of all retrieved items. `near` is empty if the graph has no
    links. The field names are those of saved runs.

    FastInsight, definition 7, takes all retrieved nodes, whatever their number. Its section 5.3.1
    explains that its curves rise with the budget because more nodes hold more of the gold
    documents. Topological Recall is therefore limited by the budget alone, not by a cut-off.
    """

    golds: int
    of: tuple[int, ...]
    found: tuple[int, ...]
    near: tuple[float, ...]


def budget_results(graph: KnowledgeGraph, state: State) -> BudgetResults | None:
    """Return the results of one question at each reading budget.

    Parameters
    ----------
    graph : the graph that the state refers to.
    state : the last state of a reranking method.

    Returns
    -------
    The results by ascending budget. None if the method has no budget to vary or the question has
        no gold documents.

    Examples
    --------
    >>> from core.evaluation.metrics.budgets import budget_results
    >>> from core.types import Question
    >>> state = retrieve("SparseNodes(keep=2)", graph=story, question="cheerful Fred").replace(
    ...     question=Question("?", gold=("carol",))
    ... )
    >>> # Fred at every budget, because a search returns the same first ten
    >>> results = budget_results(story, state)
    >>> results.of[:3], results.found[:3]
    ((10, 20, 30), (1, 1, 1))
    """
    orders = {
        budget: order
        for budget, order in sorted(dict(orders_by_budget(state.trace, state.nodes)).items())
        if budget in READING_BUDGETS
    }
    golds, count_golds = _gold_counter(graph, state.question.gold)
    if not orders or not golds:
        return None
    retrieved_nodes = (order[:budget] for budget, order in orders.items())
    retrieved = list(dict.fromkeys(chain.from_iterable(retrieved_nodes)))
    column_by_node = {node: column for column, node in enumerate(retrieved)}
    costs = uncertainties_to_gold(graph, state.question.gold, retrieved)
    found_counts: list[int] = []
    topological_recalls: list[float] = []
    for budget, order in orders.items():
        found_counts.append(count_golds(order[:RECALL_DOCUMENTS]))
        if len(costs):
            columns = [column_by_node[node] for node in order[:budget]]
            # An infinite cost (no path) adds 0 to the recall.
            min_costs = costs[:, columns].min(axis=1, initial=np.inf)
            topological_recalls.append(round(float(np.mean(1 / (1 + min_costs))), 6))
    return BudgetResults(golds, tuple(orders), tuple(found_counts), tuple(topological_recalls))


def _gold_counter(
    graph: KnowledgeGraph, gold: Sequence[str]
) -> tuple[int, Callable[[Sequence[int]], int]]:
    """Return the number of gold documents, and a function that counts them.

    The function counts the gold documents in an order of nodes. In a graph of entities, gold nodes
    are counted instead of documents.
    """
    if not has_chunk_nodes(graph):
        nodes = frozenset(nodes_of_gold_documents(graph, gold))
        return len(nodes), lambda order: len(nodes.intersection(order))
    documents = [chunk_rows(graph, document) for document in dict.fromkeys(gold)]

    def count_documents(order: Sequence[int]) -> int:
        rows = dict.fromkeys(chain.from_iterable(chunk_lists(graph, "nodes", order)))
        first_rows = set(list(rows)[:RECALL_DOCUMENTS])
        return sum(bool(first_rows & document) for document in documents)

    return len(documents), count_documents


def orders_by_budget(
    trace: tuple[Step, ...], nodes: Ranking | None
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the order of the nodes at each budget whose result can be derived.

    A run with a smaller budget is the same run, stopped earlier. `Loop` and GAR (`AdaptiveRerank`)
    do not look ahead, so their order after a batch is the result at that budget. The order
    after the last batch is also the result at every larger budget up to the run's own. For a search
    followed by a reranker that scores each document by itself, the order at a budget is the final
    order without the nodes beyond the budget. Other methods yield nothing.

    Parameters
    ----------
    trace : the steps of a run.
    nodes : the final ranking of nodes; None if the method retrieves none.

    Yields
    ------
    A budget, in documents read, and node ids, best first.
    """
    steps = [step for step in trace if "entities" in step.sizes]
    if not steps or nodes is None:
        return
    last = steps[-1]
    if last.operator in ("Loop", "AdaptiveRerank"):
        yield from _batched_orders(last)
    elif last.operator in BUDGET_SEARCH_OPERATORS and len(steps) == 1:
        yield from ((budget, (last.before_cut or nodes).items) for budget in READING_BUDGETS)
    elif _is_reranked_search(steps):
        yield from _reranked_orders(steps[0], nodes)


def _batched_orders(step: Step) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the order after each batch of a run.

    At larger budgets of the run, the last order is repeated.
    """
    orders = _loop_orders(step) if step.operator == "Loop" else _batch_orders(step)
    order_by_budget = dict(orders)
    yield from order_by_budget.items()
    max_budget = max(order_by_budget, default=0)
    for budget in READING_BUDGETS:
        if max_budget < budget <= step.parameters["budget"]:
            yield budget, order_by_budget.get(max_budget, ())


def _is_reranked_search(steps: Sequence[Step]) -> bool:
    """Return whether steps are a search and a reranker.

    The reranker must score each node by itself.
    """
    if len(steps) != 2:
        return False
    search, reranker = steps
    is_independent = reranker.operator == "GraphRerank" and not reranker.parameters["alpha"]
    return is_independent and search.operator in BUDGET_SEARCH_OPERATORS


def _reranked_orders(search: Step, nodes: Ranking) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the final order at each budget.

    Nodes that the search found only beyond the budget are left out.
    """
    if not search.before_cut:
        return
    order = search.before_cut.items[: search.sizes["entities"]]
    for budget in READING_BUDGETS:
        if budget <= search.parameters["keep"] and order:
            first = frozenset(order[:budget])
            yield budget, tuple(node for node in nodes.items if node in first)


def _loop_orders(step: Step) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the order of nodes after each round of a `Loop`.

    Each order comes with its number of nodes. The first one is the order at the start. A frame is
    recorded whenever an operator in the loop changes the nodes. Its title is `Round 2: Operator`.
    It lists the added nodes, or all nodes if they were reordered.
    """
    order: tuple[int, ...] = ()
    last_round = ""
    for frame in step.frames:
        round_title = frame.title.partition(":")[0]
        if last_round and round_title != last_round:
            yield len(order), order
        last_round = round_title
        items = frame.ranking.items
        order = items if set(order) <= set(items) else (*order, *items)
    if last_round:
        yield len(order), order


def _batch_orders(step: Step) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the number of nodes read and their order after each batch of GAR.

    A frame lists the nodes of one batch with their scores. Among equal scores, nodes of later
    batches come first.
    """
    scored_nodes: list[tuple[float, int, int]] = []
    for batch, frame in enumerate(step.frames):
        scored_nodes += [
            (-score, -batch, node)
            for node, score in zip(frame.ranking.items, frame.ranking.scores or ())
        ]
        # Without the node id in the key, nodes with equal scores keep the order of their batch.
        best_first = sorted(scored_nodes, key=lambda scored: scored[:2])
        yield len(scored_nodes), tuple(node for _, _, node in best_first)
