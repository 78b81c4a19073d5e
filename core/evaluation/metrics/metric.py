"""Metrics: named figures of an outcome, each with a definition, a convention and a formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from core.errors import BadParameter, suggest_name
from core.evaluation.metrics.outcome import Outcome
from core.types import Question

Score = Callable[[Outcome, int | None], float | None]
METRIC_UNITS = {
    "share": "0 to 1",
    "balance": "-1 to 1",
    "count": "count",
    "seconds": "seconds",
    "tokens": "tokens",
}


@dataclass(frozen=True)
class Metric:
    """A metric of one question's outcome.

    Calling a metric with an outcome returns `score(outcome, k)`. Every formula `score` takes the
    outcome of one method on one question, and a cut-off k, which a metric without cut-offs ignores.
    It returns None if the method lacks the stage that is measured, or if no correct answer is
    known. `metric @ 10` is the same metric over the first ten items.

    Parameters
    ----------
    base : name without the cut-off.
    title : a few words for tables.
    definition : one sentence.
    convention : the chosen interpretation and the special cases.
    score : the formula.
    unit : unit of the value, with its range in `METRIC_UNITS`.
    better : direction of better values.
    source : paper, section or code that defines the metric.
    cutoff : True if the metric takes a cut-off.
    k : the cut-off; None for all items.
    title_at_1 : special title at cut-off 1; empty if there is none.
    required_field : field of the question that must not be empty.
    failed_value : value of a failed question, if the metric is not a quality; None for no value.
    over_passages : True if the cut-off counts retrieved passages. A method that never returns as
        many passages has no figure at that cut-off.

    Raises
    ------
    BadParameter : by `@`, if the metric takes no cut-off or the cut-off is no whole number of at
        least 1.

    Examples
    --------
    >>> from core.evaluation.metrics.catalogue import METRICS
    >>> (METRICS["path_recall"] @ 10).name
    'path_recall@10'
    """

    base: str
    title: str
    definition: str
    convention: str
    score: Score
    unit: Literal["share", "balance", "count", "seconds", "tokens"] = "share"
    better: Literal["higher", "lower", "neither"] = "higher"
    source: str = ""
    cutoff: bool = False
    k: int | None = None
    title_at_1: str = ""
    required_field: Literal["answers", "gold"] = "answers"
    failed_value: float | None = None
    over_passages: bool = False

    @property
    def name(self) -> str:
        """Canonical name such as `path_hit@32`, which `metric(name)` reads back."""
        return self.base if self.k is None else f"{self.base}@{self.k}"

    def __call__(self, outcome: Outcome) -> float | None:
        return self.score(outcome, self.k)

    @property
    def is_quality(self) -> bool:
        """True if the metric is a share and higher values are better.

        A failed question scores 0 in such a metric.
        """
        return self.unit == "share" and self.better == "higher"

    def value_if_failed(self, question: Question) -> float | None:
        """Return the value of a question that failed.

        It is 0 for a quality, and `failed_value` for other metrics. It is None if the question
        lacks the known answers or gold passages that the metric needs.

        >>> from core.evaluation.metrics.catalogue import metric
        >>> from core.types import Question
        >>> failed = Question("who directed One", answers=("Ann",))
        >>> metric("hits@1").value_if_failed(failed), metric("seconds").value_if_failed(failed)
        (0.0, None)
        >>> failed = Question("what tells of One", gold=("one",))
        >>> metric("hits@1").value_if_failed(failed), metric("passage_recall").value_if_failed(failed)
        (None, 0.0)
        """
        if not getattr(question, self.required_field):
            return None
        return 0.0 if self.is_quality else self.failed_value

    def __matmul__(self, k: int) -> Metric:
        if not self.cutoff:
            raise BadParameter(f"“{self.base}” takes no cut-off.")
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise BadParameter(
                f"The cut-off of “{self.base}” must be a whole number of at least 1, not {k!r}."
            )
        return replace(self, k=k)

    def describe(self) -> dict[str, str]:
        """Return name, title, definition, convention, unit, direction and source as readable text.

        >>> from core.evaluation.metrics.catalogue import metric
        >>> metric("path_hit@1").describe()["title"], metric("path_hit@32").describe()["title"]
        ('First path right', 'Path hit ratio @32')
        """
        title = self.title
        if self.k == 1 and self.title_at_1:
            title = self.title_at_1
        elif self.k is not None:
            title = f"{self.title} @{self.k}"
        return {
            "name": self.name,
            "title": title,
            "definition": self.definition,
            "convention": f"{self.convention} A question that failed "
            f"{'scores 0' if self.is_quality else 'is left out'}.",
            "unit": METRIC_UNITS[self.unit],
            "better": self.better,
            "source": self.source,
        }


def find_metric(name: str, metrics: dict[str, Metric]) -> Metric:
    """Return the metric with a canonical name.

    Parameters
    ----------
    name : a name such as `path_hit@32`.
    metrics : the metrics by their names without cut-off.

    Returns
    -------
    The metric, with the cut-off of the name.

    Raises
    ------
    BadParameter : there is no such metric, or it takes no such cut-off. The message names the
        nearest valid name.
    """
    if name in metrics:
        return metrics[name]
    base, sign, k = name.rpartition("@")
    if sign and base in metrics and k.isdecimal():
        return metrics[base] @ int(k)
    raise BadParameter(f"There is no metric “{name}”.{suggest_name(base or name, metrics)}")
