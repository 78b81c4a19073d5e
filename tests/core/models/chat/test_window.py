"""The number of concurrent requests to a server, on simulated servers and a simulated clock."""

import heapq
from contextlib import ExitStack

import pytest

from core.models.chat.window import (
    WINDOW,
    Window,
)
from core.watch import Watch


class SimulatedServer:
    """A simulated server with `slots` parallel requests of `seconds` each.

    The window decides how many requests it gets.
    """

    def __init__(self, slots=10**6, seconds=1.0, refuses=False, **how):
        self.now, self.slots, self.seconds, self.refuses = 0.0, slots, seconds, refuses
        self.window = Window(clock=lambda: self.now, **how)
        self.free = [0.0] * min(slots, 1000)  # when each slot is free
        self.open, self.most, self.refused, self.longest, self.limits = [], 0, 0, 0.0, []

    def replies(self, count):
        """Receive `count` more replies and return the simulated seconds that they took."""
        began, done = self.now, 0
        while done < count:
            while len(self.open) < self.window.limit and self._send():
                continue
            self.most = max(self.most, len(self.open))
            ended, sent, _, place, stack = heapq.heappop(self.open)
            self.now = max(self.now, ended)
            self.longest = max(self.longest, self.now - sent)
            place.report_answered()
            stack.close()
            done += 1
            self.limits.append(self.window.limit)
        return self.now - began

    def _send(self):
        stack = ExitStack()
        place = stack.enter_context(self.window.hold_slot())
        if self.refuses and len(self.open) >= self.slots:
            self.refused += 1
            self.window.shrink_after_refusal(1.0)
            stack.close()
            return False
        begins = max(self.now, heapq.heappop(self.free))
        heapq.heappush(self.free, begins + self.seconds)
        heapq.heappush(self.open, (begins + self.seconds, self.now, id(stack), place, stack))
        return True


def test_window_grows_to_its_maximum():
    server = SimulatedServer()
    assert server.replies(64) <= 6  # One request, then 8, 16 and 32 at a time: 57 in four seconds.
    server.replies(2_000)
    assert server.window.limit == WINDOW.max_requests and server.most == WINDOW.max_requests


def test_window_finds_the_slots_of_a_queueing_server():
    server = SimulatedServer(slots=8)
    assert server.replies(400) <= 400 / 8 / 0.9
    assert 8 <= server.window.limit <= 9 and server.most <= 18
    assert sum(8 <= limit <= 9 for limit in server.limits) > 0.7 * len(server.limits)


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 20])
def test_window_is_close_to_the_number_of_slots(slots):
    server = SimulatedServer(slots=slots)
    server.replies(40 * slots + 80)
    usual = sorted(server.limits[20:])[len(server.limits[20:]) // 2]
    assert slots <= usual <= slots + 1


def test_slow_server_gets_no_request_that_would_time_out():
    server = SimulatedServer(slots=1, seconds=20.0)
    server.replies(60)
    # Three requests of 20 seconds each take half of the timeout of 120 seconds.
    assert server.most == 3 and server.longest <= 60


def test_window_finds_the_slots_of_a_refusing_server():
    server = SimulatedServer(slots=8, refuses=True)
    assert server.replies(400) <= 400 / 8 / 0.9
    assert 7 <= server.window.limit <= 9 and server.refused < 40


def test_overdue_reply_halves_the_window():
    server = SimulatedServer()
    server.replies(1 + WINDOW.max_second_requests + 1)
    with ExitStack() as stack:
        for _ in range(server.window.limit - len(server.open)):
            stack.enter_context(server.window.hold_slot())
        assert server.window.has_concurrent_requests
        before = server.window.limit
        server.window.shrink_after_timeout()
        assert server.window.limit == before // 2


class StopRequested(Exception):
    pass


def stop():
    raise StopRequested


def test_busy_server_gets_no_request_during_the_pause():
    now = [0.0]
    window = Window(clock=lambda: now[0])
    with window.hold_slot():
        window.shrink_after_refusal(30.0)
    with pytest.raises(StopRequested), window.hold_slot(Watch(stop)):
        pass
    now[0] = 30.0
    with window.hold_slot(Watch(stop)):  # The server is free at this time.
        assert window.limit == 1


def test_refused_request_goes_before_waiting_ones():
    import threading

    window, order = Window(1), []
    threads = []
    with window.hold_slot():
        for name, first in (("later", False), ("refused", True)):

            def work(name=name, first=first):
                with window.hold_slot(first=first):
                    order.append(name)

            threads.append(threading.Thread(target=work))
            threads[-1].start()
            while len(window._waiting) < len(threads):
                pass
    for thread in threads:
        thread.join(10)
    assert order == ["refused", "later"]


def test_chosen_limit_is_kept():
    server = SimulatedServer(fixed=3)
    server.replies(100)
    assert server.most == server.window.limit == 3
    with server.window.fixed_at(5):
        assert server.window.limit == 5
    with server.window.fixed_at(0):
        assert server.window.limit == 3
    # A window fixed at one request prepares no further request meanwhile.
    assert Window(1).max_concurrent == 1 and Window().max_concurrent == 3


def test_unfilled_window_does_not_grow():
    """Replies arrive as fast as the caller sends requests, so the window is not the limit."""
    server = SimulatedServer()
    server.replies(1 + WINDOW.max_second_requests)
    limit = server.window.limit
    for _ in range(10 * WINDOW.first_hold_windows * limit):  # one at a time
        with server.window.hold_slot() as place:
            server.now += 1.0
            place.report_answered()
    assert server.window.limit <= 2 * limit


def test_long_first_reply_does_not_block_others():
    """The limit grows after 5, 10 and 15 seconds without a first reply, and then stays.

    It does not grow where the server was busy.
    """
    now = [0.0]
    window, busy = Window(clock=lambda: now[0]), Window(clock=lambda: now[0])
    limits = []
    with window.hold_slot():
        for now[0] in (0.0, 4.9, 5.0, 10.0, 15.0, 60.0):
            limits.append(window.limit)
    assert limits == [1, 1, 2, 3, 4, 4]
    with busy.hold_slot():
        busy.shrink_after_refusal(1.0)
        now[0] += 30.0
        assert busy.limit == 1


@pytest.mark.parametrize("slots", [1, 3, 8, 20])
def test_timed_comparison_limits_the_window_to_full_speed(slots):
    server = SimulatedServer(slots=slots)
    server.replies(400)  # These requests came before the comparison.
    with server.window.limit_to_single_speed():
        server.replies(10 * slots + 60)  # The limit is measured anew.
        server.longest = 0.0
        server.replies(20 * slots)
        assert max(
            1, slots - 1
        ) <= server.window.limit <= slots + 1 and server.longest <= 1.0 + 1e-9 + (
            server.window.limit > slots
        )
        limit = server.window.limit
        server.replies(100 * slots)
        assert server.window.limit == limit  # It is not tried again during the comparison.
    server.replies(200 * slots)
    # Outside a comparison the limit varies again.
    assert len(set(server.limits[-100 * slots :])) > 1


def test_timed_comparison_allows_many_requests_at_full_speed():
    server = SimulatedServer()
    with server.window.limit_to_single_speed():
        server.replies(2_000)
        assert server.window.limit == WINDOW.max_requests and server.longest == 1.0
