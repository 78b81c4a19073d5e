"""The oracle of some methods, by hand."""

import numpy as np
import pytest

from core.evaluation.routing.oracle import oracle


def test_by_hand_the_cheapest_of_the_best_is_taken():
    quality = np.array([[1, 1], [0, 1], [1, 0], [0, 0]], float)
    costs = np.array([[1, 10], [1, 20], [2, 10], [3, 10]], float)
    found = oracle(quality, costs)
    assert found.quality == 0.75 and found.choices == (3, 1)
    assert found.cost == (1 + 20 + 2 + 3) / 4
    assert found.lead == 0.25
    # two coins of .5 are both wrong in a quarter of the questions
    assert found.chance_lead == pytest.approx(0.25)


def test_graded_scores_by_hand():
    found = oracle(np.array([[0.2, 0.4], [0.6, 0.4]]), np.ones((2, 2)))
    assert found.quality == pytest.approx(0.5) and found.lead == pytest.approx(0.1)
    # half of the time .2 against .4, else .6 against .4
    assert found.chance_lead == pytest.approx((0.4 + 0.6) / 2 - 0.4)


def test_shuffling_the_methods_within_questions_leaves_the_bound():
    rng = np.random.default_rng(0)
    quality = (rng.random((300, 3)) < 0.5).astype(float)
    shuffled = rng.permuted(quality, axis=1)
    assert oracle(quality, quality).quality == oracle(shuffled, quality).quality


def test_coins_have_the_lead_of_chance():
    quality = (np.random.default_rng(1).random((20_000, 2)) < 0.6).astype(float)
    found = oracle(quality, np.ones_like(quality))
    assert found.lead == pytest.approx(0.84 - 0.6, abs=0.02)
    assert found.chance_lead == pytest.approx(found.lead, abs=0.01)


def test_equal_methods_have_no_lead():
    same = np.array([[1.0, 1.0], [0.0, 0.0]])
    found = oracle(same, np.ones((2, 2)))
    assert (found.lead, found.choices) == (0.0, (2, 0))
