"""What of the clock each of several pieces of work has, by hand."""

from __future__ import annotations

import pytest

from core.runtime.time_shares import TimeShares


def test_a_moment_is_split_among_those_at_work():
    clock = [0.0]
    shares = TimeShares(lambda: clock[0])
    with shares.work() as first:
        clock[0] = 2.0  # alone: 2 seconds
        with shares.work() as second:
            clock[0] = 6.0  # both: 2 seconds each
            assert second() == pytest.approx(2 / 4)
        clock[0] = 8.0  # alone again: 2 seconds
        assert first() == pytest.approx(6 / 8)
    assert 6 / 8 * 8 + 2 / 4 * 4 == 8  # together the time by the clock


def test_work_after_a_pause_has_the_whole_clock():
    clock = [0.0]
    shares = TimeShares(lambda: clock[0])
    for begin in (0.0, 100.0):
        clock[0] = begin
        with shares.work() as share:
            clock[0] = begin + 3
            assert share() == 1.0


def test_what_fails_no_longer_counts():
    clock = [0.0]
    shares = TimeShares(lambda: clock[0])
    with pytest.raises(ValueError), shares.work():
        raise ValueError
    with shares.work() as share:
        clock[0] = 1.0
        assert share() == 1.0
