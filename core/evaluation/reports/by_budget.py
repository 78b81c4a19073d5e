"""Figures of a run by reading budget: one curve per method, from the traces of one run."""

from __future__ import annotations

from core.evaluation.metrics.budgets import BUDGETS
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.summary import Summary

FIGURES = ("budget_recall", "budget_topological_recall")


def by_budget(summary: Summary, name: str) -> dict[str, list[tuple[int, Estimate]]]:
    """Return for each instance its curve: (budget, figure), lowest budget first.

    The figure is one of `FIGURES`. Instances without a budget to vary are left out. The result is
    empty if no curve changes with the budget.
    """
    table = summary.table([f"{name}@{budget}" for budget in BUDGETS]) if _any(summary) else {}
    curves = {
        instance: [
            (budget, figures[f"{name}@{budget}"])
            for budget in BUDGETS
            if figures[f"{name}@{budget}"].n
        ]
        for instance, figures in table.items()
    }
    curves = {instance: curve for instance, curve in curves.items() if len(curve) > 1}
    return (
        curves if any(len({one.mean for _, one in curve}) > 1 for curve in curves.values()) else {}
    )


def _any(summary: Summary) -> bool:
    return any(row.outcome is not None and row.outcome.budgets is not None for row in summary.rows)
