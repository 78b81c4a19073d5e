"""Minimum results that an evaluation must reach, for use in continuous integration."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.errors import BadInput
from core.evaluation.metrics.catalogue import metric
from core.evaluation.reports.export import format_figure
from core.evaluation.reports.method_names import method_names
from core.evaluation.reports.summary import RunSummary


@dataclass(frozen=True)
class Gate:
    """Minimum mean `least` of a metric, which every method must reach."""

    metric: str
    least: float


def parse_gates(texts: Sequence[str]) -> tuple[Gate, ...]:
    """Return the gates that texts such as `accuracy=.7,hits@1=.5` describe.

    Raises BadParameter for an unknown metric, and BadInput for a value that is no number or a
    metric whose higher values are not better.

    >>> from core.evaluation.reports.gate import parse_gates
    >>> parse_gates(["accuracy=.7, hits@1=0.5"])
    (Gate(metric='accuracy', least=0.7), Gate(metric='hits@1', least=0.5))
    """
    parsed_gates = []
    for text in filter(None, map(str.strip, ",".join(texts).split(","))):
        name, _, number = text.partition("=")
        try:
            min_value = float(number)
        except ValueError:
            min_value = math.nan
        if not math.isfinite(min_value):
            raise BadInput(f"“{text}” names no least value; write it as in accuracy=.7.")
        gate_metric = metric(name.strip())
        if gate_metric.better != "higher":
            raise BadInput(
                f"Of {gate_metric.name} more is not better, so that falling below a value is no failure."
            )
        parsed_gates.append(Gate(gate_metric.name, min_value))
    return tuple(parsed_gates)


def gate_failures(summary: RunSummary, gates: Sequence[Gate]) -> Iterator[str]:
    """Yield a sentence for each gate that a method does not pass.

    If the run is not finished, the first sentence says so. Means are compared unrounded. A failed
    question counts as 0 in a quality. Other metrics leave failed questions out, so a method with
    failures does not pass them.

    Parameters
    ----------
    summary : figures of a run.
    gates : the gates.

    Yields
    ------
    A sentence; none if every method passes every gate.
    """
    if not gates:
        return
    if not summary.rows or summary.unfinished_row_counts:
        yield (
            "The run is partial, which counts as failed: "
            f"{summary.progress_text() or 'no question is done'}."
        )
    names = method_names(summary.run)
    table = summary.table([gate.metric for gate in gates]) if summary.rows else {}
    for method, figures in table.items():
        for gate in gates:
            figure = figures[gate.metric]
            failed = summary.counts(method)["failed"]
            if not figure.n or figure.mean is None or math.isnan(figure.mean):
                yield (
                    f"{names[method].plain} has no {gate.metric}, which was to be "
                    f"{gate.least:g} or more."
                )
            elif figure.mean < gate.least:
                value = _value_below(gate, figure.mean)
                yield (
                    f"{names[method].plain} has {gate.metric} {value} (n = {figure.n:,}), which "
                    f"was to be {gate.least:g} or more."
                )
            elif failed and not metric(gate.metric).is_quality:
                yield (
                    f"{names[method].plain} failed in {failed:,} questions, which its "
                    f"{gate.metric} leaves out."
                )


def _value_below(gate: Gate, mean: float) -> str:
    """Return a mean below the gate's minimum as a text.

    It has more digits if both would look the same.
    """
    value = format_figure(gate.metric, mean)
    return f"{mean:.6g}" if value == format_figure(gate.metric, gate.least) else value
