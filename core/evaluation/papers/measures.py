"""Measurements of the papers that need no evaluation.

They are listed by the name that an experiment gives.
"""

from __future__ import annotations

from collections.abc import Callable

from core.evaluation.papers.domains import domain_tables
from core.evaluation.papers.paper_comparison import TextTable
from core.evaluation.papers.walk_updates import update_cost_tables

Measure = Callable[..., list[TextTable]]
"""Function that measures a figure of a paper and returns its tables.

It takes the engine, the names of the question sets by the paper's name of each, the paper's row
names by method id, the number of questions of each set (None for all), a function that names the
graph to ask for a set (empty for the set's own), and a watch.
"""
MEASURES: dict[str, Measure] = {"domains": domain_tables, "updates": update_cost_tables}
