"""Durations in words, and estimates of the remaining time."""

import pytest

from core.io.durations import (
    ago_text,
    duration_text,
    durations_differ,
    range_text,
    rough_range_text,
    with_time_left,
)
from core.watch import Watch


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (40, "40 seconds"),
        (90, "2 minutes"),
        (5399, "90 minutes"),
        (5400, "1.5 hours"),
        (75608, "21 hours"),
        (9 * 86400, "9 days"),
    ],
)
def test_durations_in_words(seconds, words):
    assert duration_text(seconds) == words


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (60, 61, "60 to 61 seconds"),
        (0.1, 3, "1 to 3 seconds"),
        (20, 20.1, "20 seconds"),
        (40, 180, "40 seconds to 3 minutes"),
        (120, 300, "2 to 5 minutes"),
        (5000, 7200, "83 minutes to 2.0 hours"),
    ],
)
def test_ranges_of_durations_in_words(low, high, words):
    assert range_text(low, high) == words


def test_an_estimate_from_other_work_spans_half_to_twice_the_time():
    assert (
        rough_range_text(60) == "30 seconds to 2 minutes"
        and rough_range_text(600) == "5 to 20 minutes"
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (3, "just now"),
        (60, "1 minute ago"),
        (3599, "59 minutes ago"),
        (7200, "2 hours ago"),
        (90000, "1 day ago"),
    ],
)
def test_ages_in_words(seconds, words):
    assert ago_text(seconds) == words


def test_remaining_time_counts_from_the_resumption(monkeypatch):
    now, told = [100.0], []
    monkeypatch.setattr("core.io.durations.time.monotonic", lambda: now[0])
    watch = with_time_left(Watch(report=lambda text, share: told.append(text)))
    watch.report("Looking", None)
    watch.report("Work", 0.5)
    for after, share in ((1, 0.55), (10, 0.6), (30, 0.75), (40, 1.0)):
        now[0] = 100.0 + after
        watch.report("Work", share)
    # A tenth is done after ten seconds, and a quarter after thirty. The rest is four times the
    # tenth, and then as much as the quarter.
    assert told == [
        "Looking",
        "Work",
        "Work",
        "Work, 40 seconds left",
        "Work, 30 seconds left",
        "Work",
    ]


@pytest.mark.parametrize(
    "one, other, apart",
    [(1.0, 4.0, False), (1.0, 4.1, True), (4.1, 1.0, True), (0.0, 0.04, False), (0.0, 0.2, True)],
)
def test_durations_differ_if_their_ranges_are_disjoint(one, other, apart):
    assert durations_differ(one, other) == apart
