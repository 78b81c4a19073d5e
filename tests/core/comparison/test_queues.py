"""Queues: fairness between owners, and answers apart from retrieval.

An answer begins as soon as its lane has retrieved.
"""

from __future__ import annotations

import threading
import time

import pytest

from core.comparison.lane_pauses import LanePauses
from core.comparison.queues import MAX_PREPARING_PIECES, FairQueue
from core.engine import Engine
from core.errors import ModelFailed
from core.methods.catalogue import Method
from core.models.base import ChatReply
from core.operators.text import parse_line
from core.results import comparison_dict
from core.runtime.meter import ProgressEstimate, count_time
from core.runtime.slots import hold_lock
from core.runtime.turn import PASS_ON_AFTER_SECONDS, pass_turn
from core.sources import GraphSource
from core.types import Question
from core.watch import NO_WATCH

QUICK = "EgoNetwork() >> ShortestPaths() >> Answer()"
RANKED = "EgoNetwork() >> ShortestPaths() >> Rank(model='slow') >> Answer()"


class SlowChat:
    """A chat model that sends one token and answers once `go` is set."""

    context = 4096

    def __init__(self):
        self.go, self.asked = threading.Event(), threading.Event()

    def count_tokens(self, messages):
        return 10

    def reply(self, messages, *, on_text=None, watch=NO_WATCH, **_):
        self.asked.set()
        on_text("Dra")
        while not self.go.wait(0.02):
            watch.check()
        on_text("ma")
        return ChatReply("Drama", 10, 2)


class SlowChooser:
    """A chooser that keeps the order of the texts once `go` is set."""

    def __init__(self, kit):
        self.go, self.asked, self.table = threading.Event(), threading.Event(), kit.Table({})

    def choose(self, task, texts, k):
        self.asked.set()
        while not self.go.wait(0.02):
            task.watch.check()
        return self.table.choose(task, texts, k)


@pytest.fixture
def engine(kit):
    made = Engine(kit.Written(SlowChat(), encoder=kit.Table({}), slow=SlowChooser(kit)))
    yield made
    made.jobs.stop()


def compare(engine, kit, text, *lines, model=True):
    ask = engine.prepare_question(
        GraphSource.of(kit.graph), Question(text, entities=("One",)), uses_model=model
    )
    return engine.compare(
        ask, [Method(f"lane-{i}", "", parse_line(line)) for i, line in enumerate(lines)]
    )


def soon(condition) -> bool:
    for _ in range(6000):
        if condition():
            return True
        time.sleep(0.02)
    return False


def test_owners_take_turns():
    queue, done, go, over = FairQueue("test", workers=1), [], threading.Event(), threading.Event()
    queue.put("first", go.wait)
    for i in range(3):
        queue.put("many", lambda i=i: done.append(f"many {i}"))
    queue.put("one", lambda: done.append("one 0"))
    queue.put("last", over.set)
    assert (
        queue.count_ahead("one") == 2
    )  # One item is running, and others of this owner are queued.
    go.set()
    assert over.wait(120) and soon(lambda: len(done) == 4)
    assert done == ["many 0", "one 0", "many 1", "many 2"]


def test_items_of_one_owner_run_in_turn():
    queue, begun, go = FairQueue("test", workers=4), [], threading.Event()
    for _ in range(4):
        queue.put("me", lambda: begun.append(1) or go.wait(120))
    for _ in range(3):  # Another item of this owner would have had its turn as often.
        over = threading.Event()
        queue.put("other", over.set)
        assert over.wait(120) and len(begun) == 1
    go.set()
    assert soon(lambda: len(begun) == 4)


def test_dropped_items_do_not_run_and_failures_stop_nobody(caplog):
    queue, done, go = FairQueue("test", workers=1), [], threading.Event()
    queue.put("a", go.wait)
    queue.put("b", lambda: done.append("b"))
    queue.put("c", lambda: 1 / 0)
    queue.put("d", lambda: done.append("d"))
    assert queue.drop("b") == 1
    go.set()
    assert soon(lambda: done == ["d"])


def preparing_item(begun, go, waits=False):
    """An item of work that prepares something, or waits for it, until `go` is set."""

    def piece():
        begun.append(1)
        with pass_turn(waits):
            go.wait(120)

    return piece


def test_next_item_runs_while_one_prepares():
    queue, begun, go, over = FairQueue("test", workers=1), [], threading.Event(), threading.Event()
    queue.put("me", preparing_item(begun, go))
    queue.put("me", over.set)
    assert over.wait(120) and not go.is_set() and queue.count_ahead("other") == 1
    go.set()
    assert soon(lambda: queue.count_ahead("other") == 0)


def test_short_preparation_keeps_its_turn(monkeypatch):
    monkeypatch.setattr("core.runtime.turn.PASS_ON_AFTER_SECONDS", 60.0)
    queue, begun, go, order = FairQueue("test", workers=2), [], threading.Event(), []
    queue.put("me", lambda: (preparing_item(begun, go)(), order.append("first")))
    queue.put("me", lambda: order.append("second"))
    assert soon(lambda: begun)
    go.set()
    assert soon(lambda: len(order) == 2) and order == ["first", "second"]


def test_number_of_preparing_items_is_bounded():
    queue, begun, go, over = FairQueue("test", workers=1), [], threading.Event(), threading.Event()
    for place in range(MAX_PREPARING_PIECES + 2):
        queue.put(place, preparing_item(begun, go))
    assert soon(lambda: len(begun) == MAX_PREPARING_PIECES + 1)  # The last item has kept its turn.
    queue.put("other", over.set)
    assert not over.wait(3 * PASS_ON_AFTER_SECONDS) and len(begun) == MAX_PREPARING_PIECES + 1
    go.set()
    assert over.wait(120) and soon(lambda: not queue.count_ahead(""))
    go.clear()
    begun.clear()
    for place in range(6):
        queue.put(place, preparing_item(begun, go, waits=True))
    over.clear()
    queue.put("other", over.set)
    assert over.wait(120) and len(begun) == 6
    go.set()


def test_turn_is_taken_back_after_preparation():
    queue, begun, go, order = FairQueue("test", workers=1), [], threading.Event(), []
    blocked = threading.Event()
    queue.put(
        "me", lambda: (preparing_item(begun, go)(), order.append("prepared"), blocked.wait(120))
    )
    queue.put("me", lambda: order.append("meanwhile"))
    assert soon(lambda: order == ["meanwhile"])
    go.set()
    assert soon(lambda: len(order) == 2)
    queue.put("me", lambda: order.append("after"))
    assert not soon_within(3 * PASS_ON_AFTER_SECONDS, lambda: "after" in order)
    blocked.set()
    assert soon(lambda: order == ["meanwhile", "prepared", "after"])


def soon_within(seconds, condition) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not condition():
        time.sleep(0.02)
    return condition()


def test_index_build_delays_only_lanes_that_need_it(engine, kit):
    """Two of four lanes need an index that takes long to build.

    The lane that requests it first lets both other lanes continue.
    """
    lock, go = threading.Lock(), threading.Event()

    def choose(self, task, texts, k):
        with hold_lock(lock, task.watch), count_time("preparation", "an index"):
            while not go.wait(0.02):
                task.watch.check()
        return self.table.choose(task, texts, k)

    engine.models.choosers["slow"] = type("Indexed", (SlowChooser,), {"choose": choose})(kit)
    deep = QUICK.replace("EgoNetwork()", "EgoNetwork(hops=1)")
    lines = (RANKED, RANKED.replace("EgoNetwork()", "EgoNetwork(hops=1)"), QUICK, deep)
    # The lanes run in this order.
    engine._queues.seconds_by_line |= {
        repr(parse_line(line)): place for place, line in enumerate(lines)
    }
    job = compare(engine, kit, "genre of One", *lines, model=False)
    assert soon(
        lambda: (
            [lane.status for lane in job.comparison.lanes] == ["running", "running", "done", "done"]
        )
    )
    go.set()
    assert job.wait(120) and {lane.status for lane in job.comparison.lanes} == {"done"}


def test_answer_begins_when_its_lane_has_retrieved(engine, kit):
    job = compare(engine, kit, "genre of One", QUICK, RANKED)
    assert soon(lambda: job.comparison.lanes[0].answer == "Dra")
    assert not job.comparison.lanes[1].retrieved
    engine.models.choosers["slow"].go.set()
    # The second lane retrieves while the first is being answered.
    assert soon(lambda: job.comparison.lanes[1].retrieved) and not job.has_ended
    engine.models.chat().go.set()
    assert job.wait(120) and [lane.status for lane in job.comparison.lanes] == ["done", "done"]


class PromptReadingChat(SlowChat):
    """A chat model that reads its prompt until `go` is set, before the first token."""

    read = 0  # Hundredths of the prompt.

    def reply(self, messages, *, on_text=None, watch=NO_WATCH, **_):
        self.asked.set()
        reading = ProgressEstimate("Reading the prompt", 100)
        while not self.go.wait(0.02):
            watch.check()
            reading(self.read)
        on_text("Drama")
        return ChatReply("Drama", 10, 1)


def test_lanes_pause_while_the_first_prompt_is_read(engine, kit, monkeypatch):
    looks, running = [], LanePauses._is_reading
    monkeypatch.setattr("core.comparison.lane_pauses.MAX_READING_SECONDS", 60.0)
    monkeypatch.setattr(LanePauses, "_is_reading", lambda self: looks.append(1) or running(self))
    engine.models._chat = chat = PromptReadingChat()
    job = compare(engine, kit, "genre of One", QUICK, RANKED)
    assert chat.asked.wait(120)
    engine.models.choosers["slow"].go.set()
    before = len(looks)
    assert soon(lambda: len(looks) > before + 4)
    assert not job.comparison.lanes[1].retrieved and not job.comparison.lanes[0].answer
    chat.go.set()
    assert soon(lambda: job.comparison.lanes[1].retrieved) and job.wait(120)


@pytest.mark.parametrize("why", ["another waits", "too long", "a long prompt", "a server"])
def test_lanes_do_not_pause_in_these_cases(engine, kit, why, monkeypatch):
    engine.models._chat = chat = PromptReadingChat()
    chat.side_by_side = why == "a server"
    monkeypatch.setattr(
        "core.comparison.lane_pauses.MAX_READING_SECONDS", 0.1 if why == "too long" else 50.0
    )
    if why == "a long prompt":  # A hundredth in half a second means almost a minute in all.
        chat.read = 1
    job = compare(engine, kit, "genre of One", QUICK, RANKED)
    assert chat.asked.wait(120)
    if why == "another waits":
        compare(engine, kit, "another question", QUICK)
    engine.models.choosers["slow"].go.set()
    assert soon(lambda: job.comparison.lanes[1].retrieved) and not job.comparison.lanes[0].answer
    chat.go.set()
    assert job.wait(120)


def test_cancel_works_while_lanes_pause(engine, kit):
    engine.models._chat = chat = PromptReadingChat()
    job = compare(engine, kit, "genre of One", QUICK, RANKED)
    assert chat.asked.wait(120)
    job.cancel()
    assert job.wait(120) and not chat.go.is_set()  # The job ends before the model may answer.


def test_question_without_a_model_does_not_wait_for_models(engine, kit):
    with_model = [compare(engine, kit, f"question {i}", QUICK) for i in range(12)]
    assert engine.models.chat().asked.wait(120)
    assert compare(engine, kit, "no model", QUICK, model=False).wait(120)
    assert not any(job.has_ended for job in with_model)
    engine.models.chat().go.set()
    assert all(job.wait(120) for job in with_model)


def test_cancel_stops_running_and_waiting_answers(engine, kit):
    job = compare(
        engine, kit, "genre of One", QUICK, "EgoNetwork(hops=1) >> ShortestPaths() >> Answer()"
    )
    assert soon(
        lambda: all(lane.retrieved for lane in job.comparison.lanes)
    ) and engine.models.chat().asked.wait(120)
    job.cancel()
    assert job.wait(120) and not engine.models.chat().go.is_set()
    assert [lane.status for lane in job.comparison.lanes] == ["cancelled", "cancelled"]


def test_cached_answer_does_not_wait(engine, kit):
    engine.models.chat().go.set()
    assert compare(engine, kit, "genre of One", QUICK).wait(120)
    engine.models.chat().go.clear()
    engine.models.chat().asked.clear()
    compare(engine, kit, "another", QUICK)
    assert engine.models.chat().asked.wait(120)
    again = compare(
        engine,
        kit,
        "genre of One",
        QUICK,
        "EgoNetwork() >> ShortestPaths() >> Rank(model='encoder', keep=1)",
    )
    assert again.wait(120) and comparison_dict(again.comparison)["lanes"][0]["answer"] == "Drama"
    engine.models.chat().go.set()


def test_failing_model_affects_only_its_lane(engine, kit):
    class DisappearingChat(SlowChat):
        def reply(self, messages, *, on_text=None, watch=NO_WATCH, **_):
            if "One" in messages[-1]["content"] and not self.asked.is_set():
                self.asked.set()
                on_text("Dra")
                raise ModelFailed("The model went away.")
            return ChatReply("Drama", 10, 1)

    engine.models._chat = DisappearingChat()
    job = compare(
        engine, kit, "genre of One", QUICK, "EgoNetwork(hops=1) >> ShortestPaths() >> Answer()"
    )
    assert job.wait(120) and job.status == "done"
    first, second = comparison_dict(job.comparison)["lanes"]
    assert (first["status"], first["error"]) == ("failed", "The model went away.")
    assert (second["status"], second["answer"]) == ("done", "Drama")
    assert compare(engine, kit, "the next question", QUICK).wait(120)


def test_quick_lanes_run_first(engine, kit):
    first = compare(engine, kit, "genre of One", RANKED, QUICK, model=False)
    # Without known times the shorter line goes first.
    assert soon(lambda: first.comparison.lanes[1].retrieved)
    chooser, pace, quick = (
        engine.models.choosers["slow"],
        engine._queues.seconds_by_line,
        repr(parse_line(QUICK)),
    )
    assert soon(lambda: quick in pace) and chooser.asked.wait(120)
    began = time.monotonic()
    # The ranked lane is slower than the quick one, which was cold.
    assert soon(lambda: time.monotonic() - began > pace[quick])
    chooser.go.set()
    assert first.wait(120)
    chooser.go.clear()
    chooser.asked.clear()
    again = compare(engine, kit, "genre of Two", RANKED, QUICK, model=False)
    # Lanes run one at a time, so the quick one has ended before.
    assert chooser.asked.wait(120) and again.comparison.lanes[1].retrieved
    chooser.go.set()
    assert again.wait(120)


def test_expected_wait_is_position_times_pace():
    """The expected wait with one worker: queue position times the seconds per item.

    Items take two seconds by a simulated clock. The third owner waits for two others, and so for
    three items.
    """
    now, go, began = [100.0], threading.Semaphore(0), threading.Semaphore(0)
    queue = FairQueue("test", workers=1, clock=lambda: now[0])

    def piece():
        began.release()
        go.acquire()

    for owner in "abcd":
        queue.put(owner, piece)
    assert began.acquire(timeout=120)
    # The first is running; the second is not queued.
    assert queue.expected_wait("a") is None and queue.expected_wait("nobody") is None
    # No pace is known yet.
    assert [queue.expected_wait(owner) for owner in "bcd"] == [(1, None), (2, None), (3, None)]
    for _ in range(2):  # Items a and b end, two seconds each.
        now[0] += 2.0
        go.release()
        assert began.acquire(timeout=120)
    assert queue.seconds_per_piece == 2.0 and queue.expected_wait("d") == (
        1,
        2.0,
    )  # c is running, and d is next.
    now[0] += 10.0
    go.release()
    assert began.acquire(timeout=120)
    assert (
        queue.seconds_per_piece == 2.0 + (10.0 - 2.0) / 8
        and queue.expected_wait("d") is None
        and queue.n_begun == 4
    )
    go.release()
