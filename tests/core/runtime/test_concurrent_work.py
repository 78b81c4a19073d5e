"""Concurrent items of work: their number, order, and exclusive use of the processor."""

import threading
import time

import pytest

from core.errors import RunCancelled
from core.runtime.account import Account, charge, charged_to
from core.runtime.concurrent_work import ConcurrentWork, ProcessorLock, map_concurrently
from core.runtime.meter import count_time, metered
from core.runtime.turn import pass_turn_at_once
from core.types import Usage
from core.watch import Watch


def becomes_true(true):
    end = time.monotonic() + 30
    while not true() and time.monotonic() < end:
        time.sleep(0.005)
    return true()


def test_number_of_running_items_is_bounded():
    may, begun, go = [2], [], threading.Event()

    def work(item):
        begun.append(item)
        assert go.wait(30)
        return -item

    found = []
    thread = threading.Thread(
        target=lambda: found.extend(ConcurrentWork(lambda: may[0]).run_each(work, range(6)))
    )
    thread.start()
    assert becomes_true(lambda: len(begun) == 2) and not more_start_soon(begun, 2)
    may[0] = 4  # More items may start while others are running.
    assert becomes_true(lambda: len(begun) == 4) and not more_start_soon(begun, 4)
    go.set()
    thread.join(30)
    assert sorted(begun[:4]) == [0, 1, 2, 3] and sorted(found) == [(i, -i) for i in range(6)]


def more_start_soon(begun, than):
    time.sleep(0.2)
    return len(begun) > than


def test_items_are_drawn_when_they_start():
    taken = []

    def items():
        for number in range(100):
            taken.append(number)
            yield number

    each = ConcurrentWork(lambda: 3).run_each(lambda item: item, items())
    next(each)
    assert len(taken) <= 6
    each.close()


def test_failure_stops_others_after_finished_results():
    together = threading.Barrier(3)
    flight = ConcurrentWork(lambda: 3)

    def work(item):
        together.wait(30)
        if item == 0:
            return "came"
        if item == 1:
            raise ValueError("broken")
        assert becomes_true(lambda: stopped(flight))
        flight.check()

    found = []
    with pytest.raises(ValueError, match="broken"):
        for one in flight.run_each(work, range(9)):
            found.append(one)
    assert found == [(0, "came")]


def stopped(flight):
    try:
        flight.check()
    except RunCancelled:
        return True
    return False


def test_cancelled_work_starts_nothing_more():
    cancelled, begun = threading.Event(), []

    def check():
        if cancelled.is_set():
            raise RunCancelled()

    flight = ConcurrentWork(lambda: 2, Watch(check))

    def work(item):
        begun.append(item)
        cancelled.set()
        assert becomes_true(lambda: stopped(flight))

    with pytest.raises(RunCancelled):
        list(flight.run_each(work, range(50)))
    assert len(begun) <= 2


def test_one_item_computes_while_all_wait_for_servers():
    processor, computing, most, waiting, together = (
        ProcessorLock(),
        [0],
        [0],
        threading.Barrier(5),
        threading.Lock(),
    )

    def count(by):
        with together:
            computing[0] += by
            most[0] = max(most[0], computing[0])

    def work(item):
        with processor.hold():
            count(1)
            time.sleep(0.01)
            count(-1)
            with pass_turn_at_once():
                waiting.wait(30)  # No item would pass the barrier alone.
            count(1)
            time.sleep(0.01)
            count(-1)

    list(ConcurrentWork(lambda: 5).run_each(work, range(5)))
    assert most == [1]


def test_wait_for_the_processor_is_not_charged():
    processor, has, go, meters, seconds = (
        ProcessorLock(),
        threading.Event(),
        threading.Event(),
        [],
        {},
    )

    def first():
        with processor.hold(), metered() as meter:
            meters.append(meter)
            with count_time("model"), pass_turn_at_once():
                has.set()
                assert go.wait(30)
            seconds.update(meter.seconds)

    def is_waiting():
        return any(one.category == "waiting" for one in list(meters[0].running_blocks))

    def second():
        assert has.wait(30)
        with processor.hold():
            go.set()
            assert becomes_true(is_waiting)
            time.sleep(0.1)  # The first item waits for the processor meanwhile.

    threads = [threading.Thread(target=one) for one in (first, second)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    elapsed = time.perf_counter() - start
    # If the wait counted as model time too, both times would exceed the elapsed time.
    assert seconds["waiting"] >= 0.1 and seconds["model"] + seconds["waiting"] <= elapsed


def test_holder_of_a_needed_lock_continues_after_a_while(monkeypatch):
    """One item holds a lock and waits for a server, while the other computes and wants the lock."""
    monkeypatch.setattr("core.runtime.concurrent_work.MAX_PROCESSOR_WAIT_SECONDS", 0.1)
    processor, lock, has, order = ProcessorLock(), threading.Lock(), threading.Event(), []

    def holds():
        with processor.hold(), lock:
            with pass_turn_at_once():
                has.set()
                time.sleep(0.2)
            order.append("holds")

    def wants():
        assert has.wait(30)
        with processor.hold(), lock:
            order.append("wants")

    threads = [threading.Thread(target=one) for one in (holds, wants)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert order == ["holds", "wants"]
    with processor.hold():  # The processor is free again.
        pass


def test_parallel_items_are_ordered_and_charged_to_the_caller():
    barrier, account = threading.Barrier(4), Account()

    def work(item, watch):
        barrier.wait(30)  # All four items run at the same time.
        time.sleep(0.02 * (4 - item))  # The last one ends first.
        charge("far", Usage(1, item, 0))
        watch.check()
        return -item

    with charged_to(account), metered() as meter:
        start = time.perf_counter()
        assert map_concurrently(work, range(4), lambda: 4) == [0, -1, -2, -3]
        elapsed = time.perf_counter() - start
    assert account.usage == {"far": Usage(4, 0 + 1 + 2 + 3, 0)}
    # Wall-clock time of the longest item, however many ran at once.
    assert 0.08 <= meter.seconds["model"] <= elapsed


def test_single_request_limit_runs_items_in_turn():
    here = threading.get_ident()
    assert map_concurrently(
        lambda item, watch: (item, threading.get_ident() == here), "ab", lambda: 1
    ) == [
        ("a", True),
        ("b", True),
    ]


@pytest.mark.parametrize("number", [1, 3])
def test_error_of_one_item_ends_parallel_items(number):
    def work(item, watch):
        if item == 5:
            raise ValueError("five")
        return item

    with pytest.raises(ValueError, match="five"):
        map_concurrently(work, range(50), lambda: number)
