"""Measurements of the papers that need no evaluation, by the name that an experiment gives."""

from __future__ import annotations

from collections.abc import Callable

from core.evaluation.papers.beside import Measured
from core.evaluation.papers.domains import domains
from core.evaluation.papers.walks import updates

Measure = Callable[..., list[Measured]]
"""Function that measures a figure of a paper and returns its tables.

It takes the engine, the question sets by the paper's name, the rows, the number of questions of
each set, a function that names the graph of a set, and a watch.
"""
MEASURES: dict[str, Measure] = {"domains": domains, "updates": updates}
