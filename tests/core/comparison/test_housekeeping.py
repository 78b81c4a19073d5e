"""Garbage collection while no user waits, and one-time work in the first idle period."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from core.comparison.housekeeping import (
    HOUSEKEEPING,
    Housekeeping,
    HousekeepingDefaults,
    allow_open_files,
)


class GarbageCycle:
    def __init__(self):
        self.own = self


class SteppedHousekeeping:
    """Housekeeping with a clock and visitors that the test sets."""

    def __init__(self):
        self.now, self.busy, self.loaded, self.held, self.begun = 0.0, True, [], 1000, 0
        once = lambda: self.loaded.append(self.now)
        self.keeping = Housekeeping(
            lambda: self.busy, once, lambda: self.now, lambda: self.held, lambda: self.begun
        )

    def look(self, now: float) -> None:
        self.now = now
        self.keeping.do_due_work()


def make_garbage() -> weakref.ref:
    return weakref.ref(GarbageCycle())


def test_one_time_work_runs_in_the_first_idle_period():
    house = SteppedHousekeeping()
    house.look(20.0)
    house.busy = False
    house.look(20.0 + HOUSEKEEPING.idle_after_seconds - 1)
    assert house.loaded == []
    house.look(20.0 + HOUSEKEEPING.idle_after_seconds)
    house.look(20.0 + 2 * HOUSEKEEPING.idle_after_seconds)
    assert house.loaded == [20.0 + HOUSEKEEPING.idle_after_seconds]


def test_crowd_with_quick_questions_is_not_idle():
    """Questions came and were answered between two looks, so the server is not idle.

    A model loaded then would slow the next questions.
    """
    house = SteppedHousekeeping()
    house.busy = False
    for now in range(2, 60, 2):
        house.begun += 1
        house.look(now)
    assert house.loaded == []
    house.look(58 + HOUSEKEEPING.idle_after_seconds)
    assert house.loaded == [58 + HOUSEKEEPING.idle_after_seconds]


def test_garbage_collection_waits_for_idle_time_but_not_for_ever():
    gc.disable()
    try:
        house, first = SteppedHousekeeping(), make_garbage()
        house.look(HOUSEKEEPING.idle_collect_seconds)
        assert first() is not None  # A user is waiting.
        house.busy = False
        house.look(HOUSEKEEPING.idle_collect_seconds + HOUSEKEEPING.idle_after_seconds)
        assert first() is None
        house.busy, second = True, make_garbage()
        house.look(
            HOUSEKEEPING.idle_collect_seconds
            + HOUSEKEEPING.idle_after_seconds
            + HOUSEKEEPING.busy_collect_seconds
            - 1
        )
        assert second() is not None
        house.look(
            HOUSEKEEPING.idle_collect_seconds
            + HOUSEKEEPING.idle_after_seconds
            + HOUSEKEEPING.busy_collect_seconds
        )
        assert second() is None
    finally:
        gc.enable()


def test_much_new_memory_triggers_one_collection():
    gc.disable()
    try:
        house, first = SteppedHousekeeping(), make_garbage()
        house.held += HOUSEKEEPING.min_new_blocks - 1
        house.look(HOUSEKEEPING.min_collect_seconds)
        assert first() is not None
        house.held += 1
        house.look(HOUSEKEEPING.min_collect_seconds + 1)
        assert first() is None
        second = make_garbage()
        house.held += HOUSEKEEPING.min_new_blocks
        house.look(2 * HOUSEKEEPING.min_collect_seconds)
        assert second() is not None
        house.look(2 * HOUSEKEEPING.min_collect_seconds + 1)
        assert second() is None
        third = make_garbage()
        # The memory in use is as large as before, but none of it is new.
        house.look(4 * HOUSEKEEPING.min_collect_seconds)
        assert third() is not None
    finally:
        gc.enable()


def test_freed_memory_lowers_the_threshold():
    """Memory freed since the last collection lowers the base for new memory.

    After a large queue was emptied, the next growth triggers a collection.
    """
    gc.disable()
    try:
        house, first = SteppedHousekeeping(), make_garbage()
        house.held += 5 * HOUSEKEEPING.min_new_blocks
        house.look(HOUSEKEEPING.min_collect_seconds)
        assert first() is None
        second = make_garbage()
        house.held -= 4 * HOUSEKEEPING.min_new_blocks
        house.look(HOUSEKEEPING.min_collect_seconds + 1)
        house.held += HOUSEKEEPING.min_new_blocks
        house.look(2 * HOUSEKEEPING.min_collect_seconds)
        assert second() is None
    finally:
        gc.enable()


def test_housekeeping_ends_with_its_starter(monkeypatch):
    monkeypatch.setattr(
        "core.comparison.housekeeping.HOUSEKEEPING", HousekeepingDefaults(check_seconds=0.01)
    )
    monkeypatch.setattr("core.comparison.housekeeping.allow_open_files", lambda: None)
    thresholds = gc.get_threshold()
    before = set(threading.enumerate())
    try:
        dropped, stopped = Housekeeping(lambda: False), Housekeeping(lambda: False)
        dropped.start(), stopped.start()
        threads = set(threading.enumerate()) - before
        del dropped
        stopped.stop()
        for thread in threads:
            thread.join(60)
        assert len(threads) == 2 and not any(thread.is_alive() for thread in threads)
    finally:
        gc.set_threshold(*thresholds)


def test_limit_of_open_files_only_grows():
    resource = pytest.importorskip("resource")  # Windows has no such limit.
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))  # macOS has this limit.
        allow_open_files(300)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, before[1])
        allow_open_files(200)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (300, before[1])
        if before[1] != resource.RLIM_INFINITY:
            allow_open_files(before[1] + 1)
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
