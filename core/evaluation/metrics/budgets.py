"""Results of a reranking method at smaller reading budgets, derived from the trace of one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.diagnosis.passages import chunk_rows
from core.evaluation.metrics.topology import costs_to_known, known_nodes
from core.graph.protocol import KnowledgeGraph
from core.graph.texts import chunk_lists, has_chunk_nodes
from core.types import Ranking, State, Step

READING_BUDGETS = tuple(range(10, 101, 10))
RECALL_DOCUMENTS = 10  # documents handed on, over which recall is measured
# Operators whose first results do not depend on how many they keep.
BUDGET_SEARCH_OPERATORS = ("VectorNodes", "SparseNodes", "LearnedSparseNodes", "SimilarPageRank")


@dataclass(frozen=True)
class BudgetResults:
    """Results of one question at each reading budget.

    `golds` is the number of known documents, or of gold nodes in a graph of entities. For each
    budget in `of`, `found` is the number of them among the first ten, and `near` is the Topological
    Recall of all that was retrieved. `near` is empty if the graph has no links.

    FastInsight, definition 7, takes all retrieved nodes, whatever their number. Its section 5.3.1
    explains that its curves rise with the budget because more nodes hold more of the known
    documents. The limit is therefore the budget and no cut-off.
    """

    golds: int
    of: tuple[int, ...]
    found: tuple[int, ...]
    near: tuple[float, ...]


def budgets(graph: KnowledgeGraph, state: State) -> BudgetResults | None:
    """Return the results of one question at each reading budget.

    Parameters
    ----------
    graph : the graph that the state refers to.
    state : the last state of a reranking method.

    Returns
    -------
    The results in the order of the budgets. None if the method has no budget to vary or no document
        is known.

    Examples
    --------
    >>> from core.evaluation.metrics.budgets import budgets
    >>> from core.types import Question
    >>> state = retrieve("SparseNodes(keep=2)", graph=story, question="cheerful Fred").replace(
    ...     question=Question("?", gold=("carol",))
    ... )
    >>> # Fred, whatever is read: a search finds the same ten
    >>> budgets(story, state).of[:3], budgets(story, state).found[:3]
    ((10, 20, 30), (1, 1, 1))
    """
    orders = {
        budget: order
        for budget, order in orders_by_budget(state.trace, state.nodes)
        if budget in READING_BUDGETS
    }
    golds, count_known = _gold_counter(graph, state.question.gold)
    if not orders or not golds:
        return None
    sizes = tuple(sorted(orders))
    retrieved = list(dict.fromkeys(node for budget in sizes for node in orders[budget][:budget]))
    column = {node: i for i, node in enumerate(retrieved)}
    costs = costs_to_known(graph, state.question.gold, retrieved)
    found_counts, nearness_values = list[int](), list[float]()
    for budget in sizes:
        order = orders[budget]
        found_counts.append(count_known(order[:RECALL_DOCUMENTS]))
        if len(costs):
            columns = [column[node] for node in order[:budget]]
            min_costs = costs[:, columns].min(axis=1, initial=np.inf)
            nearness_values.append(round(float(np.mean(1 / (1 + min_costs))), 6))
    return BudgetResults(golds, sizes, tuple(found_counts), tuple(nearness_values))


def _gold_counter(
    graph: KnowledgeGraph, gold: Sequence[str]
) -> tuple[int, Callable[[Sequence[int]], int]]:
    """Return the number of known documents and a function that counts them among some nodes.

    In a graph of entities, gold nodes take the place of documents.
    """
    if not has_chunk_nodes(graph):
        nodes = frozenset(known_nodes(graph, gold))
        return len(nodes), lambda order: len(nodes.intersection(order))
    documents = [chunk_rows(graph, document) for document in dict.fromkeys(gold)]

    def among(order: Sequence[int]) -> int:
        rows = dict.fromkeys(row for chunks in chunk_lists(graph, "nodes", order) for row in chunks)
        first_rows = set(list(rows)[:RECALL_DOCUMENTS])
        return sum(bool(first_rows & document) for document in documents)

    return len(documents), among


def orders_by_budget(
    trace: tuple[Step, ...], nodes: Ranking | None
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the order of the nodes at each budget whose result can be derived.

    A run with a smaller budget is the same run, ended earlier. `Loop` and GAR (`AdaptiveRerank`) do
    not look ahead, so the order after a batch is the result at that budget. If nothing more can be
    found, it is also the result at every larger budget up to the run's own. For a search followed
    by a reranker that scores each document by itself, the order at a budget is the final order
    without the nodes found later. Other methods yield nothing.

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
    """Yield the order after each batch, and the last one at larger budgets of the run."""
    orders = _loop_orders(step) if step.operator == "Loop" else _batch_orders(step)
    order_by_budget = dict(orders)
    yield from order_by_budget.items()
    max_budget = max(order_by_budget, default=0)
    for budget in READING_BUDGETS:
        if max_budget < budget <= step.parameters["budget"]:
            yield budget, order_by_budget.get(max_budget, ())


def _is_reranked_search(steps: Sequence[Step]) -> bool:
    """Return whether steps are a search and a reranker that scores each node by itself."""
    last, earlier_operators = steps[-1], [step.operator for step in steps[:-1]]
    return (
        last.operator == "GraphRerank"
        and not last.parameters["alpha"]
        and len(earlier_operators) == 1
        and earlier_operators[0] in BUDGET_SEARCH_OPERATORS
    )


def _reranked_orders(search: Step, nodes: Ranking) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the final order at each budget without the nodes that the search found later."""
    if not search.before_cut:
        return
    order = search.before_cut.items[: search.sizes["entities"]]
    for budget in READING_BUDGETS:
        if budget <= search.parameters["keep"] and order:
            first = frozenset(order[:budget])
            yield budget, tuple(node for node in nodes.items if node in first)


def _loop_orders(step: Step) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the number of nodes and their order, at the start and after each round."""
    order: tuple[int, ...] = ()
    title = ""
    for frame in step.frames:
        number = frame.title.partition(":")[0]
        if number != title and title:
            yield len(order), order
        title, items = number, frame.ranking.items
        order = items if set(order) <= set(items) else (*order, *items)
    if title:
        yield len(order), order


def _batch_orders(step: Step) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the number of nodes read and their order after each batch of GAR.

    Among equal scores, nodes that were read later come first.
    """
    scored_nodes: list[tuple[float, int, int]] = []
    for turn, frame in enumerate(step.frames):
        scored_nodes += [
            (-score, -turn, node)
            for node, score in zip(frame.ranking.items, frame.ranking.scores or ())
        ]
        yield (
            len(scored_nodes),
            tuple(node for _, _, node in sorted(scored_nodes, key=lambda one: one[:2])),
        )
