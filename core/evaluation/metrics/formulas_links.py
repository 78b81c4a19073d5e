"""Formulas of the metrics of ranked documents and nodes, as FastInsight defines them.

A known document is a gold document of the question: one that contains evidence for the answer.
"""

from __future__ import annotations

import math

from core.evaluation.metrics.budgets import RECALL_DOCUMENTS
from core.evaluation.metrics.formulas import recall
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.ranking import GoldRanks


def capped_recall(outcome: Outcome, k: int | None = None) -> float | None:
    """Return the number of known documents among the first k, over its possible maximum.

    The maximum is min(k, number of known documents).

    Returns
    -------
    A share from 0 to 1. None without ranked chunks or known documents.

    Notes
    -----
    FastInsight, section 4.3; recall_cap of BEIR.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> found = Outcome(golds=0, passages=GoldRanks(count=10, relevant=(1, 4), first=(1, 4, None)))
    >>> metric("capped_recall@2")(found), metric("capped_recall@10")(found)  # 1 of 2, 2 of 3
    (0.5, 0.666...)
    """
    return _capped_recall(outcome.passages, k)


def node_recall(outcome: Outcome, k: int | None = None) -> float | None:
    """Return the share of gold nodes among the first k retrieved.

    Without k, all retrieved nodes count.

    Returns
    -------
    A share from 0 to 1. None without ranked nodes or gold nodes.

    Notes
    -----
    FastInsight, section 4.2.2.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> found = Outcome(golds=0, nodes=GoldRanks(count=10, relevant=(1, 4), first=(1, 4, None)))
    >>> metric("node_recall@2")(found), metric("node_recall")(found)
    (0.333..., 0.666...)
    """
    return recall(outcome.nodes, len(outcome.nodes.first) if outcome.nodes else 0, k)


def capped_node_recall(outcome: Outcome, k: int | None = None) -> float | None:
    """Return the number of gold nodes among the first k, over its possible maximum.

    The maximum is min(k, number of gold nodes).

    Returns
    -------
    A share from 0 to 1. None without ranked nodes or gold nodes.

    Notes
    -----
    FastInsight, section 4.3, on text-rich knowledge graphs.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> # 1 of 2
    >>> metric("capped_node_recall@2")(
    ...     Outcome(golds=0, nodes=GoldRanks(count=10, relevant=(1, 4), first=(1, 4, None)))
    ... )
    0.5
    """
    return _capped_recall(outcome.nodes, k)


def _capped_recall(ranks: GoldRanks | None, k: int | None) -> float | None:
    if ranks is None or not ranks.first:
        return None
    size = k or ranks.count
    return ranks.count_found(k) / min(size, len(ranks.first)) if size else 0.0


def ndcg(outcome: Outcome, k: int | None = None) -> float | None:
    """Return nDCG@k of the known documents, each with gain 1.

    The discount is 1 / log2(1 + rank). The ideal order has the known documents first.

    Returns
    -------
    A share from 0 to 1. None without ranked chunks or known documents.

    Notes
    -----
    FastInsight, section 4.3; trec_eval.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> # the known documents are at ranks 1 and 3
    >>> round(
    ...     metric("ndcg@10")(
    ...         Outcome(golds=0, passages=GoldRanks(count=3, relevant=(1, 3), first=(1, 3)))
    ...     ),
    ...     6,
    ... )
    0.919721
    """
    return _ndcg(outcome.passages, k)


def node_ndcg(outcome: Outcome, k: int | None = None) -> float | None:
    """Return nDCG@k of the gold nodes among the retrieved nodes; see `ndcg`.

    Returns
    -------
    A share from 0 to 1. None without ranked nodes or gold nodes.

    Notes
    -----
    FastInsight, section 4.3, on text-rich knowledge graphs.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, GoldRanks
    >>> round(
    ...     metric("node_ndcg@10")(
    ...         Outcome(golds=0, nodes=GoldRanks(count=3, relevant=(1, 3), first=(1, 3)))
    ...     ),
    ...     6,
    ... )
    0.919721
    """
    return _ndcg(outcome.nodes, k)


def _ndcg(ranks: GoldRanks | None, k: int | None) -> float | None:
    if ranks is None or not ranks.first:
        return None
    size = k or ranks.count
    gain = sum(
        1 / math.log2(1 + rank)
        for rank in ranks.first
        if rank is not None and rank <= ranks.last_counted_rank(k)
    )
    best = sum(1 / math.log2(1 + rank) for rank in range(1, min(size, len(ranks.first)) + 1))
    return gain / best if best else 0.0


def topological_recall(outcome: Outcome, k: int | None = None) -> float | None:
    """Return the mean of 1 / (1 + u) over the known documents.

    u is the smallest uncertainty (`core.evaluation.metrics.topology`) of a path from one of the
    first k retrieved documents to the known document: 0 for a retrieved one, infinite without a
    path. The value is recall plus `miss_tr`.

    Returns
    -------
    A share from 0 to 1. None if the graph has no links or no document is known.

    Notes
    -----
    FastInsight, section 4.3, definition 7.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> from core.evaluation.metrics.topology import UncertaintyByRank
    >>> found = Outcome(
    ...     golds=0,
    ...     nearing=UncertaintyByRank(3, count=10, of=(0, 1, 1), places=(1, 2, 5), costs=(0.0, 3.0, 1.0)),
    ... )
    >>> # (1 + 1/4 + 0) / 3, then (1 + 1/2 + 0) / 3
    >>> metric("topological_recall@4")(found), metric("topological_recall@10")(found)
    (0.416..., 0.5)
    """
    uncertainty = outcome.nearing
    if uncertainty is None or not uncertainty.golds:
        return None
    return sum(1 / (1 + cost) for cost in uncertainty.uncertainties_at(k)) / uncertainty.golds


def miss_tr(outcome: Outcome, k: int | None = None) -> float | None:
    """Return the part of Topological Recall due to known documents outside the first k.

    Returns
    -------
    A share from 0 to 1. None if the graph has no links or no document is known.

    Notes
    -----
    FastInsight, section 4.3, corollary 1 (MissTR).

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> from core.evaluation.metrics.topology import UncertaintyByRank
    >>> found = Outcome(
    ...     golds=0,
    ...     nearing=UncertaintyByRank(3, count=10, of=(0, 1, 1), places=(1, 2, 5), costs=(0.0, 3.0, 1.0)),
    ... )
    >>> metric("miss_tr@4")(found)
    0.083...
    """
    uncertainty = outcome.nearing
    if uncertainty is None or not uncertainty.golds:
        return None
    return (
        sum(1 / (1 + cost) for cost in uncertainty.uncertainties_at(k) if cost > 0)
        / uncertainty.golds
    )


def recall_at_budget(outcome: Outcome, k: int | None = None) -> float | None:
    """Return the capped recall at a reading budget of k.

    It is the recall among the first ten documents. The divisor is the smaller of 10 and the number
    of known documents.

    Parameters
    ----------
    k : reading budget, the number of documents that the method reads; None for the largest.

    Returns
    -------
    A share from 0 to 1. None if no result can be derived at that budget.

    Notes
    -----
    FastInsight, section 4.3.

    Examples
    --------
    >>> from core.evaluation.metrics.budgets import BudgetResults
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> found = Outcome(golds=0, budgets=BudgetResults(2, (10, 20), (1, 2), (0.6, 1.0)))
    >>> (
    ...     metric("budget_recall@10")(found),
    ...     metric("budget_recall@20")(found),
    ...     metric("budget_recall@30")(found),
    ... )
    (0.5, 1.0, None)
    """
    index = _budget_index(outcome, k)
    if index is None or outcome.budgets is None:
        return None
    return outcome.budgets.found[index] / min(RECALL_DOCUMENTS, outcome.budgets.golds)


def topological_at_budget(outcome: Outcome, k: int | None = None) -> float | None:
    """Return the Topological Recall at a reading budget of k.

    It is the recall of all that is retrieved.

    Parameters
    ----------
    k : reading budget, the number of documents that the method reads; None for the largest.

    Returns
    -------
    A share from 0 to 1. None if no result can be derived at that budget.

    Notes
    -----
    FastInsight, section 4.3.

    Examples
    --------
    >>> from core.evaluation.metrics.budgets import BudgetResults
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> metric("budget_topological_recall@10")(
    ...     Outcome(golds=0, budgets=BudgetResults(2, (10, 20), (1, 2), (0.6, 1.0)))
    ... )
    0.6
    """
    index = _budget_index(outcome, k)
    if index is None or outcome.budgets is None or not outcome.budgets.near:
        return None
    return outcome.budgets.near[index]


def _budget_index(outcome: Outcome, k: int | None) -> int | None:
    """Return the index of budget k, or of the largest budget.

    None if that budget has no result.
    """
    sizes = outcome.budgets.of if outcome.budgets else ()
    if k is None:
        return len(sizes) - 1 if sizes else None
    return sizes.index(k) if k in sizes else None
