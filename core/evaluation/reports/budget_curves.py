"""Figures of a run by reading budget: one curve per method, from the traces of one run."""

from __future__ import annotations

from core.evaluation.metrics.budgets import READING_BUDGETS
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.summary import RunSummary

BUDGET_METRICS = ("budget_recall", "budget_topological_recall")


def budget_curves(summary: RunSummary, name: str) -> dict[str, list[tuple[int, Estimate]]]:
    """Return the curve of each method over the reading budget.

    Methods without a budget to vary are left out.

    Parameters
    ----------
    summary : figures of a run.
    name : one of `BUDGET_METRICS`.

    Returns
    -------
    Budgets in documents and figures by method, lowest budget first. Empty if no curve changes
        with the budget.
    """
    table = (
        summary.table([f"{name}@{budget}" for budget in READING_BUDGETS])
        if _has_budgets(summary)
        else {}
    )
    curves = {
        method: [
            (budget, figures[f"{name}@{budget}"])
            for budget in READING_BUDGETS
            if figures[f"{name}@{budget}"].n
        ]
        for method, figures in table.items()
    }
    curves = {method: curve for method, curve in curves.items() if len(curve) > 1}
    return (
        curves if any(len({one.mean for _, one in curve}) > 1 for curve in curves.values()) else {}
    )


def _has_budgets(summary: RunSummary) -> bool:
    return any(row.outcome is not None and row.outcome.budgets is not None for row in summary.rows)
