"""Learning of a routing rule from scored questions, with nested cross-validation.

A ridge regression predicts each arm's score from the features of a question. The strength of the
regression and the price of cost are chosen by an inner cross-validation on the training questions
alone. An outer one measures the whole procedure on questions that it never saw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from core.errors import BadInput
from core.operators.routing_rule import WORD_PREFIX, feature_table


@dataclass(frozen=True)
class RoutingDefaults:
    """Settings of the learning of a rule."""

    outer_folds: int = 5
    inner_folds: int = 4
    min_questions: int = 50
    # Strengths of the regression; the last one leaves little but the means of the arms.
    strengths: tuple[float, ...] = (10.0, 100.0, 1_000.0, 1e7)
    # What the cost of the dearest arm counts, in the unit of the quality.
    prices: tuple[float, ...] = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    tolerance: float = (
        0.005  # quality that may be lost, to the best of these settings, for a lower cost
    )
    min_word_share: float = 0.04  # of the training questions that have a word
    max_words: int = 80


ROUTING = RoutingDefaults()


@dataclass(frozen=True, eq=False)
class RoutingRows:
    """Scores and costs of some arms on the same questions, with the features of the questions.

    Attributes
    ----------
    features : of each question, by name.
    quality, costs : float64 [questions, arms]. The cheapest arm comes first.
    groups : a number for each question, the same for questions of the same text.
    """

    features: Sequence[Mapping[str, float]]
    quality: np.ndarray
    costs: np.ndarray
    groups: np.ndarray

    def __len__(self) -> int:
        return len(self.quality)

    def part(self, indices: np.ndarray) -> RoutingRows:
        """Return the rows of some questions."""
        features = [self.features[index] for index in indices]
        return RoutingRows(
            features, self.quality[indices], self.costs[indices], self.groups[indices]
        )

    @cached_property
    def relative_costs(self) -> np.ndarray:
        """Mean cost of each arm as a share of the dearest one's, float64 [arms]."""
        means = self.costs.mean(0)
        return means / (means.max() or 1.0)


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A fitted linear function for each arm; the fields are those of `RoutingRule`."""

    features: tuple[str, ...]
    means: np.ndarray
    scales: np.ndarray
    weights: np.ndarray
    intercepts: np.ndarray

    def predict(self, features: Sequence[Mapping[str, float]]) -> np.ndarray:
        """Return the predicted quality of each arm, float64 [questions, arms]."""
        table = feature_table(features, self.features)
        return np.nan_to_num((table - self.means) / self.scales) @ self.weights.T + self.intercepts


def folds(groups: np.ndarray, count: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test indices of each fold. Questions of a group are never divided."""
    from sklearn.model_selection import GroupKFold

    splitter = GroupKFold(count, shuffle=True, random_state=seed)
    return list(splitter.split(groups, groups=groups))


def fit_arms(rows: RoutingRows, strength: float) -> LinearFit:
    """Fit a ridge regression of each arm's score on the features, which are standardised first."""
    from sklearn.linear_model import Ridge

    names = _feature_names(rows.features)
    table = feature_table(rows.features, names)
    means = np.nanmean(table, 0)
    deviations = np.nanstd(table, 0)
    scales = np.where(deviations < 1e-9, 1.0, deviations)  # a constant feature, also by rounding
    model = Ridge(strength).fit(np.nan_to_num((table - means) / scales), rows.quality)
    return LinearFit(names, means, scales, model.coef_, model.intercept_)


def _feature_names(features: Sequence[Mapping[str, float]]) -> tuple[str, ...]:
    """Return the features that some questions have: all but words, and the most frequent words."""
    counts = Counter(name for row in features for name in row)
    min_count = ROUTING.min_word_share * len(features)
    words = [
        (-count, name)
        for name, count in counts.items()
        if name.startswith(WORD_PREFIX) and min_count <= count < len(features)
    ]
    others = sorted(name for name in counts if not name.startswith(WORD_PREFIX))
    return (*others, *(name for _, name in sorted(words)[: ROUTING.max_words]))


def choose_arms(predicted: np.ndarray, relative_costs: np.ndarray, price: float) -> np.ndarray:
    """Return the arm of the highest predicted quality less its price, int64 [questions]."""
    return (predicted - price * relative_costs).argmax(1)


def choose_settings(rows: RoutingRows, seed: int) -> tuple[float, float]:
    """Return the strength and the price that an inner cross-validation finds best.

    Of all settings within the tolerance of the highest quality, the cheapest is taken.
    """
    settings: list[tuple[float, float]] = []
    figures: list[tuple[float, float]] = []
    splits = folds(rows.groups, ROUTING.inner_folds, seed)
    for strength in ROUTING.strengths:
        predicted = np.zeros_like(rows.quality)
        for train, test in splits:
            fit = fit_arms(rows.part(train), strength)
            predicted[test] = fit.predict(rows.part(test).features)
        for price in ROUTING.prices:
            arms = choose_arms(predicted, rows.relative_costs, price)
            settings.append((strength, price))
            figures.append((taken(rows.quality, arms).mean(), taken(rows.costs, arms).mean()))
    qualities, costs = np.array(figures).T
    is_good = qualities >= qualities.max() - ROUTING.tolerance
    return settings[int(np.where(is_good, costs, np.inf).argmin())]


def taken(values: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """Return the value of each question's arm, float64 [questions]."""
    return values[np.arange(len(arms)), arms]


def learn(rows: RoutingRows, seed: int) -> tuple[LinearFit, float]:
    """Return the fit of all rows and the price, both with settings from cross-validation."""
    strength, price = choose_settings(rows, seed)
    return fit_arms(rows, strength), price


def unseen_arms(rows: RoutingRows, seed: int) -> np.ndarray:
    """Return the arm of each question by rules learned without it, int64 [questions].

    Raises BadInput for too few questions.
    """
    if len(set(rows.groups.tolist())) < ROUTING.min_questions:
        raise BadInput(
            f"A router is learned from {ROUTING.min_questions} different questions or more that all "
            f"methods have, and these are {len(set(rows.groups.tolist()))}."
        )
    arms = np.zeros(len(rows), np.int64)
    for train, test in folds(rows.groups, ROUTING.outer_folds, seed):
        part = rows.part(train)
        fit, price = learn(part, seed)
        predicted = fit.predict(rows.part(test).features)
        arms[test] = choose_arms(predicted, part.relative_costs, price)
    return arms


def rule_fields(fit: LinearFit, rows: RoutingRows, price: float) -> dict[str, Any]:
    """Return the numbers of a `RoutingRule`, with the price of each arm in its intercept."""
    return {
        "features": fit.features,
        "means": tuple(fit.means.tolist()),
        "scales": tuple(fit.scales.tolist()),
        "weights": tuple(tuple(row) for row in fit.weights.tolist()),
        "intercepts": tuple((fit.intercepts - price * rows.relative_costs).tolist()),
    }
