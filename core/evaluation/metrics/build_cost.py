"""Cost of building a graph from documents, as a metric.

It is a metric of the methods that use the graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ReportedBuildCost:
    """Cost of a build: seconds, language-model calls and tokens.

    A figure is None if it is unknown because an earlier build had done part of the work.
    """

    seconds: float | None = None
    calls: int | None = None
    tokens: int | None = None


def read_build_cost(report: Mapping[str, Any], asks_model: bool) -> ReportedBuildCost:
    """Return the cost of a build from its own report.

    A build may reuse the work of an earlier one: chunks that were already read, or cached replies
    of the language model. The seconds of a build from scratch are then unknown. The calls and
    tokens are unknown if chunks had already been read by a language model, or if the cost of reused
    replies was not recorded. Reused replies count with their original cost. A graph that was
    shipped with its corpus counts with its original cost too; its seconds are those of the language
    model alone.

    Parameters
    ----------
    report : the report of the build as plain data (`core.builds.build_status`).
    asks_model : True if the build asks a language model.

    Returns
    -------
    Wall-clock seconds, calls and tokens; None for what is unknown.

    Examples
    --------
    >>> from core.evaluation.metrics.build_cost import read_build_cost
    >>> used = {"calls": 2, "tokens_in": 900, "tokens_out": 100}
    >>> read_build_cost({"counts": {"extracted": 2}, "usage": used,
    ...        "seconds": {"TokenChunks": 0.5, "DescribedNames": 9.5}}, asks_model=True)
    ReportedBuildCost(seconds=10.0, calls=2, tokens=1000)
    >>> read_build_cost({"counts": {"extracted": 1, "kept": 1}, "usage": used,
    ...        "seconds": {"DescribedNames": 4.0}}, asks_model=True)
    ReportedBuildCost(seconds=None, calls=None, tokens=None)
    """
    if cost := report.get("shipped"):
        tokens = cost["tokens_in"] + cost["tokens_out"]
        return ReportedBuildCost(cost["seconds"], cost["calls"], tokens)
    counts = report.get("counts", {})
    earlier_usage = report.get("usage_kept")
    reused_replies = counts.get("replies kept", 0)
    chunks_read_before = counts.get("kept", 0)
    seconds = None
    if not reused_replies and not chunks_read_before:
        seconds = float(sum(report.get("seconds", {}).values()))
    if asks_model and (chunks_read_before or (reused_replies and earlier_usage is None)):
        return ReportedBuildCost(seconds)
    usages = [report.get("usage", {}), earlier_usage or {}]
    calls = sum(usage.get("calls", 0) for usage in usages)
    tokens = sum(usage.get("tokens_in", 0) + usage.get("tokens_out", 0) for usage in usages)
    return ReportedBuildCost(seconds, calls, tokens)
