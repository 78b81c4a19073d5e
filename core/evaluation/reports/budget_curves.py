"""Figures of a run by reading budget: one curve per method, from the traces of one run."""

from __future__ import annotations

from core.evaluation.metrics.budgets import READING_BUDGETS
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.summary import RunSummary

BUDGET_METRICS = ("budget_recall", "budget_topological_recall")


def budget_curves(summary: RunSummary, name: str) -> dict[str, list[tuple[int, Estimate]]]:
    """Return for each instance its curve: (budget, figure), lowest budget first.

    The figure is one of `BUDGET_METRICS`. Instances without a budget to vary are left out. The
    result is empty if no curve changes with the budget.
    """
    table = (
        summary.table([f"{name}@{budget}" for budget in READING_BUDGETS])
        if _has_budgets(summary)
        else {}
    )
    curves = {
        instance: [
            (budget, figures[f"{name}@{budget}"])
            for budget in READING_BUDGETS
            if figures[f"{name}@{budget}"].n
        ]
        for instance, figures in table.items()
    }
    curves = {instance: curve for instance, curve in curves.items() if len(curve) > 1}
    return (
        curves if any(len({one.mean for _, one in curve}) > 1 for curve in curves.values()) else {}
    )


def _has_budgets(summary: RunSummary) -> bool:
    return any(row.outcome is not None and row.outcome.budgets is not None for row in summary.rows)
