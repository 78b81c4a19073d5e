"""Joint batches of several callers, with a forward pass that sums token numbers."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Iterable

import numpy as np
import pytest

from core.errors import RunCancelled
from core.models.encoders.joint_reader import JointReader
from core.runtime.meter import metered
from core.runtime.slots import Slots
from core.watch import NO_WATCH, Watch


class AddingForward:
    """A forward pass whose vector of a text is the sum of its tokens.

    It records its batches, and waits for `go` before each.
    """

    device, max_batch_texts = "cpu", 4

    def __init__(self, fault: Exception | None = None):
        self.batches: list[list[str]] = []
        self.go, self.begun, self.fault = threading.Semaphore(0), threading.Semaphore(0), fault

    def run(self, batches: Iterable, done, watch, with_tokens: bool) -> None:
        for texts, ids in batches:
            self.batches.append(list(texts))
            self.begun.release()
            self.go.acquire(timeout=20)
            if self.fault:
                raise self.fault
            done(texts, ids.sum(axis=1, keepdims=True).astype(np.float32), None)


def never_cancel() -> None:
    pass


class AddingReader(JointReader):
    """A joint reader with the forward pass that its callers pass in."""

    def __init__(self, forward: AddingForward):
        super().__init__(Slots())
        self.forward = forward


class ReadingCaller(threading.Thread):
    """A thread that requests vectors of texts; the digit in a text is its number of tokens."""

    def __init__(self, reader: AddingReader, texts: list[str], watch=NO_WATCH):
        super().__init__(daemon=True)
        self.reader, self.texts, self.watch, self.found, self.fault = reader, texts, watch, {}, None
        self.waited = 0.0

    def run(self) -> None:
        with metered() as meter:
            try:
                for texts, vectors in self.reader.read(
                    {text: [len(text)] * int(text[-1]) for text in self.texts},
                    self.watch,
                    forward=lambda: self.reader.forward,
                    finish=lambda texts, pooled, seconds: pooled,
                ):
                    self.found |= zip(texts, vectors[:, 0].tolist(), strict=True)
            except BaseException as fault:
                self.fault = fault
        self.waited = meter.seconds.get("waiting", 0.0)


def start_callers(joint: AddingReader, *callers: ReadingCaller) -> None:
    """Start callers one after the other, each once the previous one has made its request."""
    for caller in callers:
        before = len(joint._requests) + len(joint._texts)
        caller.start()
        while len(joint._requests) + len(joint._texts) == before and caller.is_alive():
            time.sleep(0.001)


def test_single_caller_gets_the_shortest_texts_first():
    forward = AddingForward()
    caller = ReadingCaller(AddingReader(forward), ["x3", "a1", "b1", "c1", "d1", "e1", "y3"])
    caller.start()
    forward.go.release(9)
    caller.join(20)
    assert forward.batches == [["a1", "b1", "c1", "d1"], ["e1"], ["x3", "y3"]]
    assert caller.found == {"a1": 2, "b1": 2, "c1": 2, "d1": 2, "e1": 2, "x3": 6, "y3": 6}


def test_batches_are_shared_and_equal_texts_read_once():
    forward = AddingForward()
    joint = AddingReader(forward)
    first = ReadingCaller(joint, ["z9"])
    start_callers(joint, first)
    forward.begun.acquire(timeout=20)  # Two more callers come while this text is read.
    others = [ReadingCaller(joint, ["a2", "b2", "same2"]), ReadingCaller(joint, ["same2", "c2"])]
    start_callers(joint, *others)
    forward.go.release(9)
    for caller in (first, *others):
        caller.join(20)
    assert len(forward.batches) == 2 and sorted(forward.batches[1]) == ["a2", "b2", "c2", "same2"]
    assert others[0].found == {"a2": 4, "b2": 4, "same2": 10} and others[1].found == {
        "same2": 10,
        "c2": 4,
    }
    assert all(caller.waited > 0 for caller in others)


def test_text_in_progress_is_not_read_again():
    forward = AddingForward()
    joint = AddingReader(forward)
    first = ReadingCaller(joint, ["a2"])
    start_callers(joint, first)
    forward.begun.acquire(timeout=20)
    second = ReadingCaller(joint, ["a2"])
    start_callers(joint, second)
    forward.go.release(9)
    first.join(20), second.join(20)
    assert first.found == second.found == {"a2": 4} and forward.batches == [["a2"]]


def test_question_does_not_wait_behind_many_paths():
    forward = AddingForward()
    joint = AddingReader(forward)
    many = [ReadingCaller(joint, [f"{name}{number}-5" for number in range(40)]) for name in "pq"]
    start_callers(joint, *many)
    forward.begun.acquire(timeout=20)
    question = ReadingCaller(joint, ["who2"])
    start_callers(joint, question)
    forward.go.release(99)
    for caller in (question, *many):
        caller.join(20)
    assert forward.batches.index(["who2"]) <= 2 and all(len(caller.found) == 40 for caller in many)


def test_many_short_texts_do_not_delay_a_long_one():
    forward = AddingForward()
    joint = AddingReader(forward)
    long = ReadingCaller(joint, [f"p{number}-5" for number in range(12)])
    start_callers(joint, long)
    shorts = [
        ReadingCaller(joint, [f"s{number}-{length}"])
        for number, length in enumerate([1, 2, 3, 4, 6, 7, 8, 9])
    ]
    forward.begun.acquire(timeout=20)
    start_callers(joint, *shorts)
    forward.go.release(99)
    for caller in (long, *shorts):
        caller.join(20)
    of_long = [place for place, batch in enumerate(forward.batches) if batch[0].startswith("p")]
    # The short texts did not all come first.
    assert len(of_long) == 3 and of_long[1] < len(forward.batches) - 1


def test_cancel_drops_only_texts_of_that_caller():
    forward, cancelled = AddingForward(), threading.Event()

    def check() -> None:
        if cancelled.is_set():
            raise RunCancelled()

    joint = AddingReader(forward)
    leaving = ReadingCaller(
        joint, [f"l{number}-3" for number in range(12)] + ["same4"], Watch(check)
    )
    start_callers(joint, leaving)
    forward.begun.acquire(timeout=20)
    staying = ReadingCaller(joint, ["same4", "own4"])
    start_callers(joint, staying)
    cancelled.set()
    leaving.join(20)
    forward.go.release(99)
    staying.join(20)
    assert isinstance(leaving.fault, RunCancelled) and staying.found == {"same4": 20, "own4": 16}
    assert sum(batch[0].startswith("l") for batch in forward.batches) == 1 and not joint._texts


def test_failure_reaches_all_waiting_callers():
    forward = AddingForward(RuntimeError("no memory"))
    joint = AddingReader(forward)
    callers = [ReadingCaller(joint, ["a1"]), ReadingCaller(joint, ["b2"])]
    start_callers(joint, callers[0])
    forward.begun.acquire(timeout=20)
    start_callers(joint, callers[1])
    forward.go.release(1)
    for caller in callers:
        caller.join(20)
    assert [str(caller.fault) for caller in callers] == ["no memory", "no memory"]
    forward.fault = None
    forward.go.release(9)
    later = ReadingCaller(joint, ["c1"])
    later.start(), later.join(20)
    assert later.found == {"c1": 2}


@pytest.mark.parametrize("number", [0, 1])
def test_one_or_no_text_is_read(number):
    forward = AddingForward()
    forward.go.release(9)
    caller = ReadingCaller(AddingReader(forward), ["a1"][:number])
    caller.start(), caller.join(20)
    assert len(caller.found) == number and caller.fault is None


def read_one(joint: JointReader) -> weakref.ref:
    """Read one text and return a weak reference to its forward pass."""
    forward = AddingForward()
    forward.go.release(9)
    read = joint.read(
        {"a": [1]}, NO_WATCH, forward=lambda: forward, finish=lambda texts, pooled, seconds: pooled
    )
    assert [texts for texts, _ in read] == [["a"]]
    return weakref.ref(forward)


def test_idle_reader_holds_no_model():
    """An idle reader must not keep a dropped model alive.

    With a reference cycle between the two, the model would stay until the garbage collector runs,
    which does not know its size.
    """
    gc.disable()
    try:
        joint = JointReader(Slots())
        gone = read_one(joint)
        for thread in threading.enumerate():
            if thread.name == "encoder":
                thread.join(20)
        assert gone() is None
    finally:
        gc.enable()
