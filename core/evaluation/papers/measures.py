"""Measurements of the papers that need no evaluation, by the name that an experiment gives."""

from __future__ import annotations

from collections.abc import Callable

from core.evaluation.papers.beside import Measured
from core.evaluation.papers.domains import domains
from core.evaluation.papers.walks import updates

Measure = Callable[..., list[Measured]]
"""Of (engine, question sets by the paper's name, rows, questions of each set, \
the graph named for a set, progress)."""
MEASURES: dict[str, Measure] = {"domains": domains, "updates": updates}
