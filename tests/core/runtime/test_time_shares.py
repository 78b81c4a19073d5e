"""Wall-clock time split among concurrent work, with hand-computed shares."""

from __future__ import annotations

import pytest

from core.runtime.time_shares import TimeShares


def test_time_is_split_among_running_work():
    clock = [0.0]
    shares = TimeShares(lambda: clock[0])
    with shares.count_running() as first:
        clock[0] = 2.0  # Alone for 2 seconds.
        with shares.count_running() as second:
            clock[0] = 6.0  # Both share 4 seconds, 2 each.
            assert second() == pytest.approx(2 / 4)
        clock[0] = 8.0  # Alone again for 2 seconds.
        assert first() == pytest.approx(6 / 8)
    assert 6 / 8 * 8 + 2 / 4 * 4 == 8  # The shares add up to the wall-clock time.


def test_single_work_after_a_pause_has_all_time():
    clock = [0.0]
    shares = TimeShares(lambda: clock[0])
    for begin in (0.0, 100.0):
        clock[0] = begin
        with shares.count_running() as share:
            clock[0] = begin + 3
            assert share() == 1.0


def test_failed_work_no_longer_counts():
    clock = [0.0]
    shares = TimeShares(lambda: clock[0])
    with pytest.raises(ValueError), shares.count_running():
        raise ValueError
    with shares.count_running() as share:
        clock[0] = 1.0
        assert share() == 1.0
