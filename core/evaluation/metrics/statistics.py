"""Intervals, paired tests, correlations and fronts over a sample of questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

LEVEL, RESAMPLES, PERMUTATIONS = 0.95, 4_000, 9_999
WIDE = (
    1.959964  # standard deviations to each side of a mean that hold 95 % of a normal distribution
)
ROOM = 4_000_000  # numbers held at once while resampling


@dataclass(frozen=True)
class Estimate:
    """A mean over `n` questions with its 95 % interval; None where no question gave a number."""

    mean: float | None
    low: float | None
    high: float | None
    n: int

    def numbers(self) -> tuple[float, float, float]:
        """Mean, low and high, where some question gave a number.

        >>> from core.evaluation.metrics.statistics import Estimate
        >>> Estimate(0.5, 0.25, 0.75, 8).numbers()
        (0.5, 0.25, 0.75)
        """
        assert self.mean is not None and self.low is not None and self.high is not None
        return self.mean, self.low, self.high

    def text(self, form: Callable[[float], str]) -> str:
        """The mean with its interval, each number as `form` writes it; a dash where there is none.

        >>> from core.evaluation.metrics.statistics import Estimate
        >>> Estimate(0.5, 0.25, 0.75, 8).text("{:.2f}".format)
        '0.50 [0.25, 0.75]'
        """
        return "–" if self.mean is None else f"{form(self.mean)} {self.interval(form)}"

    def interval(self, form: Callable[[float], str]) -> str:
        """The interval alone, in brackets."""
        _, low, high = self.numbers()
        return f"[{form(low)}, {form(high)}]"


@dataclass(frozen=True)
class Paired:
    """The difference of two instances on the questions that gave both a number: a - b, its 95 % interval, and the p-value of no difference.

    `p_holm` is the p-value after Holm's step-down correction over the comparisons that were made together.
    """

    metric: str
    a: str
    b: str
    difference: float
    low: float
    high: float
    p: float
    n: int
    p_holm: float | None = None

    @property
    def beyond_chance(self) -> bool:
        """Whether the p-value, corrected where it was, is below 0.05.

        >>> from core.evaluation.metrics.statistics import Paired
        >>> Paired("f1", "a", "b", 0.2, 0.1, 0.3, p=0.03, n=40).beyond_chance
        True
        >>> Paired("f1", "a", "b", 0.2, 0.1, 0.3, p=0.03, n=40, p_holm=0.06).beyond_chance
        False
        """
        return (self.p if self.p_holm is None else self.p_holm) < 1 - LEVEL

    @property
    def ahead(self) -> bool:
        """Whether `a` is above `b` beyond chance."""
        return self.beyond_chance and self.difference > 0

    @property
    def turned(self) -> Paired:
        """The same test, seen from `b`."""
        difference, low, high = -self.difference, -self.high, -self.low
        return replace(self, a=self.b, b=self.a, difference=difference, low=low, high=high)

    @property
    def estimate(self) -> Estimate:
        """The difference with its interval."""
        return Estimate(self.difference, self.low, self.high, self.n)


def estimates(values: np.ndarray, seed: int = 0, resamples: int = RESAMPLES) -> list[Estimate]:
    """The mean of each column of float64 [questions, columns] with its percentile bootstrap interval (Efron, 1979).

    Questions are resampled with replacement, all columns together; NaN marks a question without a number, which drops
    out of its column's means. Where all numbers are equal the interval is that number: it says nothing of other questions.

    >>> from core.evaluation.metrics.statistics import estimates
    >>> [(one.mean, one.n) for one in estimates(np.array([[1.0, 3.0], [0.0, np.nan]]))]
    [(0.5, 2), (3.0, 1)]
    >>> estimates(np.array([[3.0], [3.0]]))
    [Estimate(mean=3.0, low=3.0, high=3.0, n=2)]
    """
    values = np.asarray(values, np.float64)
    n, columns = values.shape
    there = ~np.isnan(values)
    counts = there.sum(0)
    if not n:
        return [Estimate(None, None, None, 0)] * columns
    filled, held = np.where(there, values, 0.0), there.astype(np.float64)
    means = np.empty((resamples, columns))
    rng, chunk = np.random.default_rng(seed), max(1, ROOM // n)
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        weights = rng.multinomial(n, np.full(n, 1 / n), size).astype(np.float64)
        with np.errstate(invalid="ignore"):
            means[start : start + size] = (weights @ filled) / (weights @ held)
    found = []
    for column in range(columns):
        if not counts[column]:
            found.append(Estimate(None, None, None, 0))
            continue
        mean = float(filled[:, column].sum() / counts[column])
        low, high = np.nanquantile(means[:, column], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        found.append(
            Estimate(mean, min(mean, float(low)), max(mean, float(high)), int(counts[column]))
        )
    return found


def of_shares(values: Sequence[float]) -> Estimate:
    """The mean of numbers between 0 and 1 with its 95 % interval by Wilson's formula (1927), which stays wide where they are few, even
    where all are equal; for numbers that are not 0 or 1 alone it is wider than need be.

    >>> from core.evaluation.metrics.statistics import of_shares
    >>> [round(number, 3) for number in of_shares([1.0, 1.0]).numbers()]
    [1.0, 0.342, 1.0]
    """
    n = len(values)
    if not n:
        return Estimate(None, None, None, 0)
    mean, square = sum(values) / n, WIDE**2
    middle, half = (
        mean + square / (2 * n),
        WIDE * math.sqrt(mean * (1 - mean) / n + square / (4 * n * n)),
    )
    low, high = ((middle + side * half) / (1 + square / n) for side in (-1, 1))
    return Estimate(mean, max(0.0, min(mean, low)), min(1.0, max(mean, high)), n)


def paired(
    metric: str,
    a: str,
    b: str,
    of_a: Sequence[float] | np.ndarray,
    of_b: Sequence[float] | np.ndarray,
    seed: int = 0,
) -> Paired | None:
    """Two instances on the questions where both gave a number (NaN elsewhere); None where there is none.

    The p-value is that of a two-sided sign-flip permutation test of the mean difference, exact where all flips can be
    counted, else from 9,999 drawn ones; the interval is the percentile bootstrap's.

    >>> from core.evaluation.metrics.statistics import paired
    >>> found = paired("recall", "a", "b", [1, 1, 1], [0, 0, 0])
    >>> found.difference, found.p, found.n  # of the 8 ways to flip the signs, +++ and --- are as far from 0
    (1.0, 0.25, 3)
    """
    from scipy.stats import permutation_test

    differences = np.asarray(of_a, np.float64) - np.asarray(of_b, np.float64)
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return None
    estimate = estimates(differences[:, None], seed)[0]
    p = 1.0
    if len(differences) > 1 and differences.any():
        batch = max(1, ROOM // len(differences))
        tested = permutation_test(
            (differences,),
            lambda sample, axis: sample.mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=PERMUTATIONS,
            batch=batch,
            rng=np.random.default_rng(seed),
        )
        p = min(1.0, float(tested.pvalue))
    return Paired(metric, a, b, *estimate.numbers(), p, estimate.n)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction (1979): p-values that may be compared with one level although several tests were made.

    >>> from core.evaluation.metrics.statistics import holm
    >>> holm([0.25, 0.0625, 0.125])  # 3 x 0.0625, 2 x 0.125, 1 x 0.25, none below the one before it
    [0.25, 0.1875, 0.25]
    """
    order = sorted(range(len(p_values)), key=lambda i: (p_values[i], i))
    corrected, above = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        above = max(above, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = above
    return corrected


def corrected(tests: Iterable[Paired | None]) -> list[Paired]:
    """Tests that were made together, with Holm's correction over all of them.

    A pair without a question that gave both a number has no test and is left out.
    """
    made = [test for test in tests if test is not None]
    p_values = holm([test.p for test in made])
    return [replace(test, p_holm=p) for test, p in zip(made, p_values, strict=True)]


def correlation(one: np.ndarray, other: np.ndarray) -> Estimate:
    """Pearson's correlation of the numbers that both have, with its 95 % interval by Fisher's transformation; no number where there are
    fewer than four, or all of one side are equal.

    >>> import numpy as np
    >>> from core.evaluation.metrics.statistics import correlation
    >>> correlation(np.array([1.0, 2.0, 3.0, np.nan]), np.array([1.0, 2.0, 3.0, 4.0]))
    Estimate(mean=None, low=None, high=None, n=3)
    """
    both = ~np.isnan(one) & ~np.isnan(other)
    a, b, n = one[both], other[both], int(both.sum())
    if n < 4 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Estimate(None, None, None, n)
    r = float(np.clip(np.corrcoef(a, b)[0, 1], -1, 1))
    if abs(r) > 1 - 1e-12:
        return Estimate(r, r, r, n)
    middle, half = math.atanh(r), WIDE / math.sqrt(n - 3)
    return Estimate(r, math.tanh(middle - half), math.tanh(middle + half), n)


def kendall(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Kendall's tau-b of two orders of the same things, in [-1, 1]; None for fewer than three, or where all of one side are equal.

    >>> from core.evaluation.metrics.statistics import kendall
    >>> round(kendall([(1, 10), (2, 30), (3, 20)]), 3)  # of three pairs one is the other way round: (2 - 1) / 3
    0.333
    >>> kendall([(1, 2), (1, 3), (1, 4)])
    """
    from scipy.stats import kendalltau

    if len(pairs) < 3 or any(len(set(side)) < 2 for side in zip(*pairs)):
        return None
    return float(kendalltau(*zip(*pairs)).statistic)


def pareto(points: Mapping[str, tuple[float | None, float | None]]) -> tuple[str, ...]:
    """The names on the front of (cost, quality), cheapest first: no other point costs as little and is as good, one of the two better.

    Points that lack a number are left out; equal points stand on the front together.

    >>> from core.evaluation.metrics.statistics import pareto
    >>> pareto({"slow": (9, 0.8), "worse": (5, 0.4), "quick": (1, 0.5), "failed": (2, None)})
    ('quick', 'slow')
    """
    known = {
        name: (cost, quality)
        for name, (cost, quality) in points.items()
        if cost is not None and quality is not None
    }

    def dominated(name: str) -> bool:
        cost, quality = known[name]
        return any(
            c <= cost and q >= quality and (c, q) != (cost, quality) for c, q in known.values()
        )

    front = [name for name in known if not dominated(name)]
    return tuple(sorted(front, key=lambda name: (known[name][0], -known[name][1], name)))
