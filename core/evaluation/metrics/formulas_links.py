"""The formulas behind the metrics of ranked documents, as FastInsight takes them; each as those of `formulas`."""

from __future__ import annotations

import math

from core.evaluation.metrics.budgets import SHOWN
from core.evaluation.metrics.formulas import recall
from core.evaluation.metrics.outcome import Outcome
from core.evaluation.metrics.ranking import Ranked


def capped_recall(outcome: Outcome, k: int | None = None) -> float | None:
    """Known documents among the first k, over the smaller of k and their number.

    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, Ranked
    >>> found = Outcome(golds=0, passages=Ranked(count=10, relevant=(1, 4), first=(1, 4, None)))
    >>> metric("capped_recall@2")(found), metric("capped_recall@10")(found)  # 1 of 2, 2 of 3
    (0.5, 0.666...)
    """
    return _capped(outcome.passages, k)


def node_recall(outcome: Outcome, k: int | None = None) -> float | None:
    """Share of the gold nodes that are among the first k nodes found, or among all of these.

    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, Ranked
    >>> found = Outcome(golds=0, nodes=Ranked(count=10, relevant=(1, 4), first=(1, 4, None)))
    >>> metric("node_recall@2")(found), metric("node_recall")(found)
    (0.333..., 0.666...)
    """
    return recall(outcome.nodes, len(outcome.nodes.first) if outcome.nodes else 0, k)


def capped_node_recall(outcome: Outcome, k: int | None = None) -> float | None:
    """Gold nodes among the first k nodes found, over the smaller of k and their number.

    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, Ranked
    >>> metric("capped_node_recall@2")(Outcome(golds=0, nodes=Ranked(count=10, relevant=(1, 4), first=(1, 4, None))))  # 1 of 2
    0.5
    """
    return _capped(outcome.nodes, k)


def _capped(ranked: Ranked | None, k: int | None) -> float | None:
    if ranked is None or not ranked.first:
        return None
    shown = k or ranked.count
    found = sum(place is not None and place <= ranked.last(k) for place in ranked.first)
    return found / min(shown, len(ranked.first)) if shown else 0.0


def ndcg(outcome: Outcome, k: int | None = None) -> float | None:
    """The sum of 1 / log2(1 + place) over the known documents among the first k, over that of an order with these first.

    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, Ranked
    >>> round(metric("ndcg@10")(Outcome(golds=0, passages=Ranked(count=3, relevant=(1, 3), first=(1, 3)))), 6)  # a c b, of which a and b
    0.919721
    """
    return _ndcg(outcome.passages, k)


def node_ndcg(outcome: Outcome, k: int | None = None) -> float | None:
    """As `ndcg`, of the gold nodes among the first k nodes found.

    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome, Ranked
    >>> round(metric("node_ndcg@10")(Outcome(golds=0, nodes=Ranked(count=3, relevant=(1, 3), first=(1, 3)))), 6)
    0.919721
    """
    return _ndcg(outcome.nodes, k)


def _ndcg(ranked: Ranked | None, k: int | None) -> float | None:
    if ranked is None or not ranked.first:
        return None
    shown = k or ranked.count
    gain = sum(
        1 / math.log2(1 + place)
        for place in ranked.first
        if place is not None and place <= ranked.last(k)
    )
    best = sum(1 / math.log2(1 + place) for place in range(1, min(shown, len(ranked.first)) + 1))
    return gain / best if best else 0.0


def topological_recall(outcome: Outcome, k: int | None = None) -> float | None:
    """The mean of 1 / (1 + u) over the known documents, u their uncertainty from the first k: recall plus what `miss_tr` gives.

    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> from core.evaluation.metrics.topology import Nearing
    >>> found = Outcome(golds=0, nearing=Nearing(3, count=10, of=(0, 1, 1), places=(1, 2, 5), costs=(0.0, 3.0, 1.0)))
    >>> metric("topological_recall@4")(found), metric("topological_recall@10")(found)  # 1, 1/4, none; then 1, 1/2, none
    (0.416..., 0.5)
    """
    facts = outcome.nearing
    if facts is None or not facts.golds:
        return None
    return sum(1 / (1 + cost) for cost in facts.at(k)) / facts.golds


def miss_tr(outcome: Outcome, k: int | None = None) -> float | None:
    """What the known documents that are not among the first k add to Topological Recall.

    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> from core.evaluation.metrics.topology import Nearing
    >>> found = Outcome(golds=0, nearing=Nearing(3, count=10, of=(0, 1, 1), places=(1, 2, 5), costs=(0.0, 3.0, 1.0)))
    >>> metric("miss_tr@4")(found)
    0.083...
    """
    facts = outcome.nearing
    if facts is None or not facts.golds:
        return None
    return sum(1 / (1 + cost) for cost in facts.at(k) if cost > 0) / facts.golds


def recall_at_budget(outcome: Outcome, k: int | None = None) -> float | None:
    """Known documents among the first ten with a budget of k (the largest where None), over the smaller of 10 and their number.

    >>> from core.evaluation.metrics.budgets import Budgets
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> found = Outcome(golds=0, budgets=Budgets(2, (10, 20), (1, 2), (0.6, 1.0)))
    >>> metric("budget_recall@10")(found), metric("budget_recall@20")(found), metric("budget_recall@30")(found)
    (0.5, 1.0, None)
    """
    place = _place(outcome, k)
    if place is None or outcome.budgets is None:
        return None
    return outcome.budgets.found[place] / min(SHOWN, outcome.budgets.golds)


def topological_at_budget(outcome: Outcome, k: int | None = None) -> float | None:
    """Topological Recall of all that is retrieved with a budget of k (the largest where None).

    >>> from core.evaluation.metrics.budgets import Budgets
    >>> from core.evaluation.metrics.catalogue import metric
    >>> from core.evaluation.metrics.outcome import Outcome
    >>> metric("budget_topological_recall@10")(Outcome(golds=0, budgets=Budgets(2, (10, 20), (1, 2), (0.6, 1.0))))
    0.6
    """
    place = _place(outcome, k)
    if place is None or outcome.budgets is None or not outcome.budgets.near:
        return None
    return outcome.budgets.near[place]


def _place(outcome: Outcome, k: int | None) -> int | None:
    of = outcome.budgets.of if outcome.budgets else ()
    return of.index(k or of[-1]) if of and (k is None or k in of) else None
