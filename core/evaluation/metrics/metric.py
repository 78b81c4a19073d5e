"""What a metric is: a value that says what it measures, by which reading, and gives a number for one outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from core.errors import BadParameter, nearest
from core.evaluation.metrics.outcome import Outcome
from core.types import Question

Score = Callable[[Outcome, int | None], float | None]
UNITS = {
    "share": "0 to 1",
    "balance": "-1 to 1",
    "count": "count",
    "seconds": "seconds",
    "tokens": "tokens",
}


@dataclass(frozen=True)
class Metric:
    """A metric. `metric @ 10` is the same one over the first ten items; raises BadParameter where it takes no cut-off.

    Calling it gives the number for one outcome, or None where the line has no such stage or no answer is known.

    >>> from core.evaluation.metrics.catalogue import METRICS
    >>> (METRICS["path_recall"] @ 10).name
    'path_recall@10'
    """

    base: str
    title: str
    definition: str  # one sentence
    convention: str  # which reading, and what it does in the corners
    score: Score
    unit: Literal["share", "balance", "count", "seconds", "tokens"] = "share"
    better: Literal["higher", "lower", "neither"] = "higher"
    source: str = ""
    cutoff: bool = False
    k: int | None = None
    first: str = ""  # its title over the first item alone, where that has one of its own
    known: Literal["answers", "gold"] = "answers"  # what must be known of a question for a number
    failed: float | None = None  # what a failed question has where this is no quality
    over_passages: bool = False  # whether its cut-off is of the passages handed on, of which a line may never have so many

    @property
    def name(self) -> str:
        """The canonical text, such as `path_hit@32`; `metric(name)` reads it back."""
        return self.base if self.k is None else f"{self.base}@{self.k}"

    def __call__(self, outcome: Outcome) -> float | None:
        return self.score(outcome, self.k)

    @property
    def quality(self) -> bool:
        """Whether it is a share of which more is better, so that a failed question has none of it."""
        return self.unit == "share" and self.better == "higher"

    def when_failed(self, question: Question) -> float | None:
        """The number for a question that failed: 0 where this is a quality and what it asks for is known, else `failed`.

        >>> from core.evaluation.metrics.catalogue import metric
        >>> from core.types import Question
        >>> failed = Question("who directed One", answers=("Ann",))
        >>> metric("hits@1").when_failed(failed), metric("seconds").when_failed(failed)
        (0.0, None)
        >>> failed = Question("what tells of One", gold=("one",))
        >>> metric("hits@1").when_failed(failed), metric("passage_recall").when_failed(failed)
        (None, 0.0)
        """
        if not getattr(question, self.known):
            return None
        return 0.0 if self.quality else self.failed

    def __matmul__(self, k: int) -> Metric:
        if not self.cutoff:
            raise BadParameter(f"“{self.base}” takes no cut-off.")
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise BadParameter(
                f"The cut-off of “{self.base}” must be a whole number of at least 1, not {k!r}."
            )
        return replace(self, k=k)

    def described(self) -> dict[str, str]:
        """`name, title, definition, convention, unit, better, source` as a person reads them.

        >>> from core.evaluation.metrics.catalogue import metric
        >>> metric("path_hit@1").described()["title"], metric("path_hit@32").described()["title"]
        ('First path right', 'Path hit ratio @32')
        """
        return {
            "name": self.name,
            "title": self.title
            if self.k is None
            else self.first
            if self.k == 1 and self.first
            else f"{self.title} @{self.k}",
            "definition": self.definition,
            "convention": f"{self.convention} A question that failed {'scores 0' if self.quality else 'is left out'}.",
            "unit": UNITS[self.unit],
            "better": self.better,
            "source": self.source,
        }


def find(name: str, known: dict[str, Metric]) -> Metric:
    """The metric of that canonical name. Raises BadParameter with the nearest valid name."""
    if name in known:
        return known[name]
    base, at, k = name.rpartition("@")
    if at and base in known and k.isdecimal():
        return known[base] @ int(k)
    raise BadParameter(f"There is no metric “{name}”.{nearest(base or name, known)}")
