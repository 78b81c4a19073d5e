"""Intervals, paired tests, Holm's correction and fronts: by hand and against scipy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from core.evaluation.metrics.statistics import (
    Estimate,
    estimates,
    holm,
    holm_corrected,
    paired_test,
    pareto,
)

NAN = float("nan")


def test_the_interval_is_scipys_percentile_bootstrap():
    rng = np.random.default_rng(3)
    values = np.stack([rng.random(80), rng.random(80) < 0.3], axis=1).astype(float)
    for column, told in enumerate(estimates(values)):
        peer = stats.bootstrap(
            (values[:, column],),
            np.mean,
            method="percentile",
            n_resamples=9999,
            rng=np.random.default_rng(1),
        )
        assert told.mean == pytest.approx(values[:, column].mean()) and told.n == 80
        assert told.low == pytest.approx(peer.confidence_interval.low, abs=0.01)
        assert told.high == pytest.approx(peer.confidence_interval.high, abs=0.01)


def test_questions_without_a_number_drop_out():
    told = estimates(np.array([[1.0, NAN, NAN], [0.0, NAN, 5.0], [1.0, NAN, NAN]]))
    assert (told[0].mean, told[0].n) == (pytest.approx(2 / 3), 3) and 0 <= told[
        0
    ].low <= 2 / 3 <= told[0].high <= 1
    assert (told[1].mean, told[1].low, told[1].n) == (None, None, 0)
    assert (told[2].mean, told[2].low, told[2].high, told[2].n) == (5.0, 5.0, 5.0, 1)
    assert estimates(np.empty((0, 2)))[1].n == 0


def test_the_same_numbers_give_the_same_interval_in_any_chunks(monkeypatch):
    values = np.random.default_rng(0).random((30, 2))
    once = estimates(values)
    monkeypatch.setattr("core.evaluation.metrics.statistics.MAX_RESAMPLED_NUMBERS", 900)
    assert estimates(values) == once == estimates(values)


def test_the_interval_holds_the_true_mean_about_as_often_as_it_says():
    held = []
    for seed in range(200):
        told = estimates(
            (np.random.default_rng(seed).random(60) < 0.4).astype(float)[:, None], resamples=600
        )[0]
        held.append(told.low <= 0.4 <= told.high)
    assert 0.88 <= np.mean(held) <= 0.99


def test_the_paired_test_by_hand():
    """Three differences of 1 have p = 1/4.

    Of the eight flips of sign, two are as far from nothing.
    """
    told = paired_test("f1", "a", "b", [1, 1, 1, NAN], [0, 0, 0, 1])
    assert (told.difference, told.n, told.p) == (1.0, 3, pytest.approx(2 / 8))
    same = paired_test("f1", "a", "b", [1, 0], [1, 0])
    assert (same.difference, same.low, same.high, same.p) == (0, 0, 0, 1)
    assert paired_test("f1", "a", "b", [NAN], [1]) is None


def test_the_paired_test_finds_a_real_difference_and_none_where_there_is_none():
    rng = np.random.default_rng(5)
    a, noise = rng.random(100), rng.normal(0, 0.1, 100)
    assert paired_test("f1", "a", "b", a + 0.1, a + noise).p < 0.001
    assert paired_test("f1", "a", "b", a, a + noise - noise.mean()).p > 0.9
    assert paired_test("f1", "a", "b", a, a + noise) == paired_test("f1", "a", "b", a, a + noise)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == [
        pytest.approx(0.03),
        pytest.approx(0.06),
        pytest.approx(0.06),
    ]
    assert holm([]) == [] and holm([0.9, 0.8]) == [1.0, 1.0]


def test_the_front():
    points = {
        "slow": (3, 0.9),
        "worse": (2, 0.4),
        "fast": (1, 0.5),
        "same": (1, 0.5),
        "unknown": (None, 1),
        "slower": (4, 0.9),
    }
    assert pareto(points) == ("fast", "same", "slow")


def test_one_question_proves_nothing():
    """Of the two ways to flip one sign both are as far from nothing."""
    found = paired_test("hits@1", "a", "b", [1.0, np.nan], [0.0, 1.0])
    assert (found.difference, found.p, found.n) == (1.0, 1.0, 1)


def test_tests_made_together_are_corrected_together_and_those_of_nothing_left_out():
    one = paired_test("recall", "a", "b", [1, 1, 1, 1, 1, 1], [0] * 6)
    other = paired_test("recall", "a", "c", [1, 0, 1, 0, 1, 1], [0] * 6)
    found = holm_corrected([one, None, other])
    assert [test.p for test in found] == [one.p, other.p]
    assert [test.p_holm for test in found] == holm([one.p, other.p])


def test_a_test_seen_from_the_other_side():
    test = replace(paired_test("recall", "a", "b", [1, 1, 0, 1], [0, 0, 0, 1]), p=0.01)
    back = test.swapped
    assert (back.a, back.b, back.difference) == ("b", "a", -test.difference)
    assert (back.low, back.high, back.swapped) == (-test.high, -test.low, test)
    assert (
        test.is_significantly_above
        and not back.is_significantly_above
        and not replace(test, p_holm=0.2).is_significantly_above
    )
    assert (
        test.estimate.format_with_interval("{:+.1f}".format)
        == f"+0.5 {test.estimate.interval('{:+.1f}'.format)}"
    )


def test_no_number_is_a_dash():
    assert Estimate(None, None, None, 0).format_with_interval("{:.2f}".format) == "–"
