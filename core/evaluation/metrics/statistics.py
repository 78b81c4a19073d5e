"""Confidence intervals, paired tests, correlations and Pareto fronts over a sample of questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

CONFIDENCE_LEVEL = 0.95
BOOTSTRAP_RESAMPLES = 4_000
RANDOM_PERMUTATIONS = 9_999
# Standard deviations to each side of the mean that hold 95 % of a normal distribution.
NORMAL_QUANTILE = 1.959964
MAX_RESAMPLED_NUMBERS = 4_000_000  # numbers held in memory at once while resampling


@dataclass(frozen=True)
class Estimate:
    """A mean over `n` questions with its 95 % interval from `low` to `high`.

    The numbers are None if no question has a value.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int

    def numbers(self) -> tuple[float, float, float]:
        """Return mean, low and high of an estimate that has values.

        >>> from core.evaluation.metrics.statistics import Estimate
        >>> Estimate(0.5, 0.25, 0.75, 8).numbers()
        (0.5, 0.25, 0.75)
        """
        assert self.mean is not None and self.low is not None and self.high is not None
        return self.mean, self.low, self.high

    def format_with_interval(self, form: Callable[[float], str]) -> str:
        """Return the mean with its interval, each number formatted by `form`.

        An estimate without values becomes a dash.

        >>> from core.evaluation.metrics.statistics import Estimate
        >>> Estimate(0.5, 0.25, 0.75, 8).format_with_interval("{:.2f}".format)
        '0.50 [0.25, 0.75]'
        """
        return "–" if self.mean is None else f"{form(self.mean)} {self.interval(form)}"

    def interval(self, form: Callable[[float], str]) -> str:
        """Return the interval of an estimate that has values, in brackets."""
        _, low, high = self.numbers()
        return f"[{form(low)}, {form(high)}]"


@dataclass(frozen=True)
class PairedTest:
    """Mean difference a - b of two methods.

    It is the mean over the `n` questions for which both have a value. `low` and `high` are its 95 %
    interval, and `p` is the p-value of the hypothesis that there is no difference. `p_holm` is the
    p-value after Holm's step-down correction over the tests that were made together; None if no
    correction was made.
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
    def is_significant(self) -> bool:
        """True if the p-value, corrected if a correction was made, is below 0.05.

        >>> from core.evaluation.metrics.statistics import PairedTest
        >>> PairedTest("f1", "a", "b", 0.2, 0.1, 0.3, p=0.03, n=40).is_significant
        True
        >>> PairedTest("f1", "a", "b", 0.2, 0.1, 0.3, p=0.03, n=40, p_holm=0.06).is_significant
        False
        """
        return (self.p if self.p_holm is None else self.p_holm) < 1 - CONFIDENCE_LEVEL

    @property
    def is_significantly_above(self) -> bool:
        """True if `a` is significantly above `b`."""
        return self.is_significant and self.difference > 0

    @property
    def swapped(self) -> PairedTest:
        """The same test with `a` and `b` swapped."""
        return replace(
            self,
            a=self.b,
            b=self.a,
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
        )

    @property
    def estimate(self) -> Estimate:
        """The difference with its interval."""
        return Estimate(self.difference, self.low, self.high, self.n)


def estimates(
    values: np.ndarray, seed: int = 0, resamples: int = BOOTSTRAP_RESAMPLES
) -> list[Estimate]:
    """Return the mean of each column with its percentile bootstrap interval.

    Questions are resampled with replacement, all columns together. If all values of a column are
    equal, the interval is that value and says nothing about other questions.

    Parameters
    ----------
    values : float64 [questions, columns]. NaN marks a question without a value, which is left out
        of its column's mean.
    seed : seed of the resampling.
    resamples : number of bootstrap samples.

    Returns
    -------
    One estimate for each column, with a 95 % interval; empty estimates for columns without values.

    Notes
    -----
    Percentile bootstrap: Efron, 1979.

    Examples
    --------
    >>> from core.evaluation.metrics.statistics import estimates
    >>> [(one.mean, one.n) for one in estimates(np.array([[1.0, 3.0], [0.0, np.nan]]))]
    [(0.5, 2), (3.0, 1)]
    >>> estimates(np.array([[3.0], [3.0]]))
    [Estimate(mean=3.0, low=3.0, high=3.0, n=2)]
    """
    values = np.asarray(values, np.float64)
    n, columns = values.shape
    has_value = ~np.isnan(values)
    counts = has_value.sum(0)
    if not n:
        return [Estimate(None, None, None, 0)] * columns
    filled = np.where(has_value, values, 0.0)
    presence = has_value.astype(np.float64)
    means = np.empty((resamples, columns))
    rng = np.random.default_rng(seed)
    chunk = max(1, MAX_RESAMPLED_NUMBERS // n)
    for start in range(0, resamples, chunk):
        size = min(chunk, resamples - start)
        weights = rng.multinomial(n, np.full(n, 1 / n), size).astype(np.float64)
        with np.errstate(invalid="ignore"):  # 0 / 0 if a sample has no value of a column
            means[start : start + size] = (weights @ filled) / (weights @ presence)
    column_estimates = []
    for column in range(columns):
        if not counts[column]:
            column_estimates.append(Estimate(None, None, None, 0))
            continue
        mean = float(filled[:, column].sum() / counts[column])
        low, high = np.nanquantile(
            means[:, column], [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2]
        )
        column_estimates.append(
            Estimate(mean, min(mean, float(low)), max(mean, float(high)), int(counts[column]))
        )
    return column_estimates


def share_estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of numbers with its 95 % Wilson interval (1927).

    The numbers are in [0, 1]. The interval stays wide for few numbers, even if all are equal. For
    numbers other than 0 and 1 it is wider than necessary.

    >>> from core.evaluation.metrics.statistics import share_estimate
    >>> [round(number, 3) for number in share_estimate([1.0, 1.0]).numbers()]
    [1.0, 0.342, 1.0]
    """
    n = len(values)
    if not n:
        return Estimate(None, None, None, 0)
    mean = sum(values) / n
    square = NORMAL_QUANTILE**2
    middle = mean + square / (2 * n)
    half = NORMAL_QUANTILE * math.sqrt(mean * (1 - mean) / n + square / (4 * n * n))
    low = (middle - half) / (1 + square / n)
    high = (middle + half) / (1 + square / n)
    return Estimate(mean, max(0.0, min(mean, low)), min(1.0, max(mean, high)), n)


@dataclass(frozen=True)
class RunSpread:
    """Spread of a method's mean between repeats of the method on the same questions.

    Parameters
    ----------
    low, high : lowest and highest mean of a run.
    runs : number of runs, the first included.
    shared : variance of the mean over the runs, from what moves all questions of a run together.
    """

    low: float
    high: float
    runs: int
    shared: float


def run_spread(values: np.ndarray) -> RunSpread | None:
    """Return the spread between repeats of a method.

    Parameters
    ----------
    values : float64 [runs, questions]. Runs without any value are left out, then questions that
        lack a value in any run.

    Returns
    -------
    The spread; None for fewer than two runs, or without questions.

    Notes
    -----
    Two-way analysis of variance of value = mean + question + run + rest. Between the means of R
    runs over n questions lies the variance s^2. Of this, the rest explains MS / n, with MS the mean
    square of the rest. The run itself has max(0, s^2 - MS / n), and the mean over R runs has
    `shared` = max(0, s^2 - MS / n) / R. What the rest adds to the mean over R runs is in the
    variance between questions already.

    Examples
    --------
    >>> from core.evaluation.metrics.statistics import run_spread
    >>> run_spread(np.array([[0.0, 1.0], [1.0, 2.0]]))  # every question moved by 1: s^2 = 1/2
    RunSpread(low=0.5, high=1.5, runs=2, shared=0.25)
    """
    values = np.asarray(values, np.float64)
    values = values[~np.isnan(values).all(1)]
    values = values[:, ~np.isnan(values).any(0)]
    runs, n = values.shape
    if runs < 2 or not n:
        return None
    means = values.mean(1)
    between_runs = float(means.var(ddof=1))
    noise = 0.0
    if n > 1:
        rest = values - means[:, None] - values.mean(0) + values.mean()
        noise = float((rest**2).sum() / ((n - 1) * (runs - 1)) / n)
    shared = max(0.0, between_runs - noise) / runs
    return RunSpread(float(means.min()), float(means.max()), runs, shared)


def paired_test(
    metric: str,
    a: str,
    b: str,
    values_a: Sequence[float] | np.ndarray,
    values_b: Sequence[float] | np.ndarray,
    seed: int = 0,
    spreads: Iterable[RunSpread | None] = (),
) -> PairedTest | None:
    """Compare two methods on the questions where both have a value.

    The p-value is that of a two-sided sign-flip permutation test of the mean difference: exact if
    all flips can be enumerated, else from 9,999 random ones. The interval is the percentile
    bootstrap's.

    With repeats, the values are means over the runs, and the variance of the mean difference is
    the variance between questions / n + the `shared` variance of both methods. The first part
    contains what repeats change question by question. For the second, each flipped mean and each
    bootstrap mean gets a random shift: sqrt(shared of a + shared of b) * t, with t of Student's
    distribution, whose degrees of freedom are Welch's and Satterthwaite's.

    Parameters
    ----------
    metric : name of the metric.
    a, b : ids of the methods.
    values_a, values_b : values per question, float [questions]; NaN where there is none.
    seed : seed of the resampling and of random flips.
    spreads : spreads between the repeats of a and of b; none if nothing was repeated.

    Returns
    -------
    The mean of a minus b with its interval and p-value; None if no question has both values.

    Examples
    --------
    >>> from core.evaluation.metrics.statistics import paired_test
    >>> found = paired_test("recall", "a", "b", [1, 1, 1], [0, 0, 0])
    >>> found.difference, found.p, found.n  # of 8 sign flips, +++ and --- are as far from 0
    (1.0, 0.25, 3)
    """
    from scipy.stats import permutation_test

    differences = np.asarray(values_a, np.float64) - np.asarray(values_b, np.float64)
    differences = differences[~np.isnan(differences)]
    if not len(differences):
        return None
    shared = [(each.shared, each.runs) for each in spreads if each is not None and each.shared]
    if shared:
        return PairedTest(metric, a, b, *_shifted_test(differences, shared, seed), len(differences))
    estimate = estimates(differences[:, None], seed)[0]
    p = 1.0
    if len(differences) > 1 and differences.any():
        batch = max(1, MAX_RESAMPLED_NUMBERS // len(differences))
        result = permutation_test(
            (differences,),
            lambda sample, axis: sample.mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=RANDOM_PERMUTATIONS,
            batch=batch,
            rng=np.random.default_rng(seed),
        )
        p = min(1.0, float(result.pvalue))
    return PairedTest(metric, a, b, *estimate.numbers(), p, estimate.n)


def _shifted_test(
    differences: np.ndarray, shared: Sequence[tuple[float, int]], seed: int
) -> tuple[float, float, float, float]:
    """Return mean, low, high and p of differences whose mean also varies between repeats.

    `shared` are shared variances of a method, each with its number of runs.
    """
    n = len(differences)
    total = sum(variance for variance, _ in shared)
    freedom = total**2 / sum(variance**2 / (runs - 1) for variance, runs in shared)
    rng = np.random.default_rng(seed)
    flips = np.empty(RANDOM_PERMUTATIONS)
    resampled = np.empty(RANDOM_PERMUTATIONS)
    chunk = max(1, MAX_RESAMPLED_NUMBERS // n)
    for start in range(0, RANDOM_PERMUTATIONS, chunk):
        size = min(chunk, RANDOM_PERMUTATIONS - start)
        signs = rng.integers(0, 2, (size, n), np.int8).astype(np.float64)
        flips[start : start + size] = (signs @ differences * 2 - differences.sum()) / n
        weights = rng.multinomial(n, np.full(n, 1 / n), size).astype(np.float64)
        resampled[start : start + size] = weights @ differences / n
    shifts = math.sqrt(total) * rng.standard_t(freedom, RANDOM_PERMUTATIONS)
    mean = float(differences.mean())
    extreme = np.abs(flips + shifts) >= abs(mean) - 1e-12
    p = (1 + int(extreme.sum())) / (1 + RANDOM_PERMUTATIONS)
    tails = [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2]
    low, high = np.quantile(resampled + shifts, tails)
    return mean, min(mean, float(low)), max(mean, float(high)), p


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values after Holm's step-down correction (1979) for multiple tests.

    The corrected values may all be compared with the same significance level.

    >>> from core.evaluation.metrics.statistics import holm
    >>> holm([0.25, 0.0625, 0.125])  # 3 x 0.0625, 2 x 0.125, 1 x 0.25, none below the one before it
    [0.25, 0.1875, 0.25]
    """
    order = sorted(range(len(p_values)), key=lambda i: (p_values[i], i))
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = largest
    return corrected


def holm_corrected(tests: Iterable[PairedTest | None]) -> list[PairedTest]:
    """Return tests with Holm's correction over all of them; None entries are dropped."""
    made_tests = [test for test in tests if test is not None]
    p_values = holm([test.p for test in made_tests])
    return [replace(test, p_holm=p) for test, p in zip(made_tests, p_values, strict=True)]


def correlation(x: np.ndarray, y: np.ndarray) -> Estimate:
    """Return Pearson's correlation with its 95 % interval.

    Only positions with a number on both sides count.

    Parameters
    ----------
    x, y : float [n], aligned; NaN for a missing number.

    Returns
    -------
    The correlation, -1 to 1. The estimate is empty if fewer than four positions count, or if all
        numbers of one side are equal.

    Notes
    -----
    The interval is that of Fisher's transformation.

    Examples
    --------
    >>> import numpy as np
    >>> from core.evaluation.metrics.statistics import correlation
    >>> correlation(np.array([1.0, 2.0, 3.0, np.nan]), np.array([1.0, 2.0, 3.0, 4.0]))
    Estimate(mean=None, low=None, high=None, n=3)
    """
    mask = ~np.isnan(x) & ~np.isnan(y)
    n = int(mask.sum())
    if n < 4 or np.ptp(x[mask]) == 0 or np.ptp(y[mask]) == 0:
        return Estimate(None, None, None, n)
    r = float(np.clip(np.corrcoef(x[mask], y[mask])[0, 1], -1, 1))
    if abs(r) > 1 - 1e-12:  # atanh would be infinite
        return Estimate(r, r, r, n)
    middle = math.atanh(r)
    half = NORMAL_QUANTILE / math.sqrt(n - 3)
    return Estimate(r, math.tanh(middle - half), math.tanh(middle + half), n)


def kendall(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Return Kendall's tau-b of two rankings of the same items, in [-1, 1].

    It is None for fewer than three items, or if all values of one side are equal.

    >>> from core.evaluation.metrics.statistics import kendall
    >>> # two pairs of items are in the same order and one is reversed: (2 - 1) / 3
    >>> round(kendall([(1, 10), (2, 30), (3, 20)]), 3)
    0.333
    >>> kendall([(1, 2), (1, 3), (1, 4)])
    """
    from scipy.stats import kendalltau

    if len(pairs) < 3 or any(len(set(side)) < 2 for side in zip(*pairs)):
        return None
    return float(kendalltau(*zip(*pairs)).statistic)


def pareto(points: Mapping[str, tuple[float | None, float | None]]) -> tuple[str, ...]:
    """Return the names on the Pareto front of (cost, quality), cheapest first.

    A point is on the front if no other point is at least as cheap and as good, and better in one of
    the two. Points that lack a number are left out. Equal points are on the front together.

    >>> from core.evaluation.metrics.statistics import pareto
    >>> pareto({"slow": (9, 0.8), "worse": (5, 0.4), "quick": (1, 0.5), "failed": (2, None)})
    ('quick', 'slow')
    """
    complete_points = {
        name: (cost, quality)
        for name, (cost, quality) in points.items()
        if cost is not None and quality is not None
    }

    def is_dominated(name: str) -> bool:
        cost, quality = complete_points[name]
        return any(
            c <= cost and q >= quality and (c, q) != (cost, quality)
            for c, q in complete_points.values()
        )

    front = [name for name in complete_points if not is_dominated(name)]
    return tuple(
        sorted(front, key=lambda name: (complete_points[name][0], -complete_points[name][1], name))
    )
