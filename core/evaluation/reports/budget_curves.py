"""Figures of a run by reading budget: one curve per method, for the plots of a report.

The figures come from the traces of one run (`core.evaluation.metrics.budgets`).
"""

from __future__ import annotations

from core.evaluation.metrics.budgets import READING_BUDGETS
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.summary import RunSummary

BUDGET_METRICS = ("budget_recall", "budget_topological_recall")


def budget_curves(summary: RunSummary, name: str) -> dict[str, list[tuple[int, Estimate]]]:
    """Return the curve of each method over the reading budget.

    Methods with figures at fewer than two budgets are left out.

    Parameters
    ----------
    summary : figures of a run.
    name : one of `BUDGET_METRICS`.

    Returns
    -------
    For each method, the budgets (in documents) with their figures, lowest budget first. Empty if no
        curve changes with the budget.
    """
    if not any(row.outcome is not None and row.outcome.budgets is not None for row in summary.rows):
        return {}
    metric_by_budget = {budget: f"{name}@{budget}" for budget in READING_BUDGETS}
    curves = {}
    for method, figures in summary.table(list(metric_by_budget.values())).items():
        points = [(budget, figures[key]) for budget, key in metric_by_budget.items()]
        curve = [(budget, estimate) for budget, estimate in points if estimate.n]
        if len(curve) > 1:
            curves[method] = curve
    is_flat = all(len({estimate.mean for _, estimate in curve}) == 1 for curve in curves.values())
    return {} if is_flat else curves
