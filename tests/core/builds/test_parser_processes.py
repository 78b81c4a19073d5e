"""Batches give the same facts in several processes as in one."""

from __future__ import annotations

import os
import signal

import pytest

from core.builds.extract.noun_phrases import read_phrases as phrases
from core.builds.extract.parser_processes import MIN_PARALLEL_BATCHES, read_batches
from core.builds.facts import ChunkEntity, Facts
from core.errors import RunCancelled
from core.watch import Watch

TEST_PROCESS = os.getpid()
WORDS = "Ann met Bob in Rome. The old mill stood by a river, said \u2028 {Eva}."


def count_texts(texts):
    return [Facts((ChunkEntity(text, times=len(text)),)) for text in texts]


def kill_other_process(texts):
    """Kill any process but that of the test."""
    if os.getpid() != TEST_PROCESS:
        os.kill(os.getpid(), signal.SIGKILL)
    return count_texts(texts)


def fail_to_parse(texts):
    raise ValueError("no parser")


@pytest.fixture(autouse=True)
def two_processes(monkeypatch):
    monkeypatch.setenv("HOPSCOPE_THREADS", "2")


def batches(count=MIN_PARALLEL_BATCHES):
    return [[f"{number} {WORDS}", "line\nline"] for number in range(count)]


def test_two_processes_give_the_facts_of_one():
    found = dict(read_batches(count_texts, batches()))
    assert found == {number: count_texts(batch) for number, batch in enumerate(batches())}


def test_batches_of_a_dead_process_are_read_here():
    assert dict(read_batches(kill_other_process, batches())) == dict(
        read_batches(count_texts, batches())
    )


def test_failures_and_cancelling_are_raised():
    with pytest.raises(ValueError, match="no parser"):
        list(read_batches(fail_to_parse, batches()))
    with pytest.raises(RunCancelled):
        list(read_batches(count_texts, batches(), Watch(cancel_run)))


def cancel_run():
    raise RunCancelled


def test_two_processes_give_identical_noun_phrases(monkeypatch):
    several = dict(read_batches(phrases, batches()))
    monkeypatch.setenv("HOPSCOPE_THREADS", "1")
    alone = dict(read_batches(phrases, batches()))
    lines = lambda found: [one.to_json() for number in sorted(found) for one in found[number]]
    assert lines(several) == lines(alone) and "Rome" in lines(alone)[0]
