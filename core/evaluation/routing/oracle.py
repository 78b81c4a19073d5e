"""Upper bound of a choice of method for each question: the oracle, chosen with hindsight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Oracle:
    """Mean quality and cost if each question's best method were known in advance.

    It is an upper bound, which no rule reaches. The maximum over methods is biased upwards: where
    scores are noisy, the luckiest one is taken. One score for each method and question cannot
    tell luck from fit, since shuffling the methods within each question leaves the oracle
    unchanged. `chance_lead` shows the size of the bias: the lead that an oracle has over methods of
    the same scores if these have nothing to do with the questions.

    Attributes
    ----------
    quality : mean over the questions of the best method's score.
    cost : mean cost of the cheapest method with that score. Trying all of them would cost more.
    lead : quality less that of the best single method.
    chance_lead : the lead over methods with independent scores. It may exceed `lead`.
    choices : number of questions for which each method is taken.
    """

    quality: float
    cost: float
    lead: float
    chance_lead: float
    choices: tuple[int, ...]


def oracle(quality: np.ndarray, costs: np.ndarray) -> Oracle:
    """Return the oracle of some methods.

    Parameters
    ----------
    quality, costs : float64 [questions, methods], without NaN.

    Examples
    --------
    Each of two methods answers one of two questions; by chance they would share one in four.

    >>> from core.evaluation.routing.oracle import oracle
    >>> oracle(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 5.0], [1.0, 5.0]]))
    Oracle(quality=1.0, cost=3.0, lead=0.5, chance_lead=0.25, choices=(1, 1))
    """
    best = quality.max(1, keepdims=True)
    chosen = np.where(quality == best, costs, np.inf).argmin(1)
    means = quality.mean(0)
    cost = costs[np.arange(len(chosen)), chosen].mean()
    counts = np.bincount(chosen, minlength=quality.shape[1])
    return Oracle(
        float(best.mean()),
        float(cost),
        lead=float(best.mean() - means.max()),
        chance_lead=float(_mean_of_maximum(quality) - means.max()),
        choices=tuple(counts.tolist()),
    )


def _mean_of_maximum(quality: np.ndarray) -> float:
    """Return the expected maximum of independent draws, one from each method's scores."""
    values = np.unique(quality)
    # Probability that every draw is at most each value, float64 [values].
    at_most = np.prod([(quality <= value).mean(0) for value in values], axis=1)
    return float(values @ np.diff(at_most, prepend=0.0))
