"""A table of paired tests of runs against one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.evaluation.metrics.catalogue import metric
from core.evaluation.metrics.statistics import PairedTest, holm, paired_test
from core.evaluation.reports.summary import RunSummary


def against(found: dict[str, RunSummary], base: str, names: Sequence[str]) -> Iterator[str]:
    """Tests of each run against `base` on their common questions.

    Holm's correction is applied over the runs of one metric.
    """
    if base not in found or len(found) < 2:
        return
    yield ""
    yield (
        f"Against `{base}`, sign-flip permutation tests on the questions that gave both a number; "
        f"p is Holm's over the rows."
    )
    yield ""
    yield "| Row | Metric | Mean difference | 95 % interval | p | n |"
    yield "|---|---|---:|---:|---:|---:|"
    for name in names:
        tests = [
            test
            for one in found
            if one != base and (test := _paired(name, found, one, base)) is not None
        ]
        for test, p in zip(tests, holm([test.p for test in tests])):
            interval = f"{test.low:+.3f} to {test.high:+.3f}"
            yield (
                f"| `{test.a}` | {metric(name).describe()['title']} | {test.difference:+.3f} | "
                f"{interval} | {p:.2g} | {test.n} |"
            )


def _paired(name: str, found: dict[str, RunSummary], one: str, base: str) -> PairedTest | None:
    values = [
        dict(zip(found[key].questions, found[key].values(key, [name])[:, 0])) for key in (one, base)
    ]
    both = [question for question in values[0] if question in values[1]]
    if both:
        return paired_test(
            name, one, base, *(np.array([value[question] for question in both]) for value in values)
        )
    return None
