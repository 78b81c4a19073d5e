"""Repairs that are found after a comparison has ended.

They are kept with it, are never in the way of lanes, and are given up when nobody is there.
"""

from __future__ import annotations

import threading
import time

import pytest

from core.cases.comparison_data import freeze, thaw
from core.comparison.waiters import Waiter
from core.diagnosis.repair import repair_work
from core.diagnosis.repair.repair_offers import best_repair
from core.engine import Engine
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.runtime.jobs import JOB_DONE
from core.sources import GraphSource
from core.types import Question

ONE, TWO = "Ann -> directed_by_reverse -> One", "Ann -> directed_by_reverse -> Two"
NARROW = "EgoNetwork() >> ShortestPaths() >> Rank(keep=1)"
WIDE = "EgoNetwork() >> ShortestPaths() >> Rank()"
ALL = "EgoNetwork() >> ShortestPaths()"  # other operators, and the same answers as the wide one
NONE = "Answer(prompt='question-only')"


@pytest.fixture
def engine(kit, tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    engine = Engine(kit.Written(encoder=kit.Table({ONE: 0.9, TWO: 0.8})))
    yield engine
    engine.jobs.stop()


def compared(engine, kit, answers=("One", "Two"), beside=NONE, **options):
    ask = engine.prepare_question(
        GraphSource.of(kit.graph),
        Question("films of Ann", entities=("Ann",), answers=answers),
        uses_model=False,
    )
    lanes = [
        Method("narrow", "No. 1", parse_line(NARROW), method="Rank few"),
        Method("beside", "No. 2", parse_line(beside)),
    ]
    job = engine.compare(ask, lanes, **options)
    assert job.wait(60) and job.status == JOB_DONE
    return job


def repaired(job):
    until = time.monotonic() + 120
    while job.comparison.is_repairing:
        assert time.monotonic() < until
        time.sleep(0.02)
    return [lane.repair for lane in job.comparison.lanes]


def test_a_lane_that_lost_an_answer_is_repaired(engine, kit):
    job = compared(engine, kit, try_repairs=True)
    first, second = repaired(job)
    assert (first.label, first.spec, second) == (
        "Keep 64 paths → 2 of 2",
        NARROW.replace("keep=1", "keep=64"),
        None,
    )
    assert best_repair(job.comparison) == (0, "Repair “Rank few”: keep 64 paths → 2 of 2")


@pytest.mark.parametrize("beside", [WIDE, ALL])
def test_what_a_lane_beside_has_is_not_offered(engine, kit, beside):
    job = compared(engine, kit, beside=beside, try_repairs=True)
    assert repaired(job) == [None, None]
    assert best_repair(job.comparison) is None


def test_a_repair_is_saved_with_its_comparison(engine, kit):
    job = compared(engine, kit, try_repairs=True)
    told = repaired(job)
    opened = thaw(freeze(job.comparison))
    assert [lane.repair for lane in opened.lanes] == told


def test_nothing_is_tried_unasked_or_without_known_answers(engine, kit):
    job = compared(engine, kit)
    assert not job.comparison.is_repairing and repaired(job) == [None, None]
    assert repaired(compared(engine, kit, answers=(), try_repairs=True)) == [None, None]
    assert best_repair(job.comparison) is None


def test_lanes_of_others_go_first(engine, kit, monkeypatch):
    """While another comparison's lane is at work nothing is tried; then it is."""
    looks, others = [], engine._queues.has_other_lanes
    monkeypatch.setattr(
        engine._queues, "has_other_lanes", lambda job: looks.append(1) or others(job)
    )
    begun, free, other = threading.Event(), threading.Event(), object()
    engine._queues.retrieving.put(other, lambda: (begun.set(), free.wait(120)))
    assert begun.wait(120)
    job = compared(engine, kit, try_repairs=True)
    until = time.monotonic() + 120
    while len(looks) < 4 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(looks) >= 4
    assert job.comparison.is_repairing and job.comparison.lanes[0].repair is None
    free.set()
    assert repaired(job)[0] is not None


@pytest.mark.parametrize("end", ["gone", "cancelled"])
def test_given_up_where_nobody_wants_it(engine, kit, end):
    begun, free, there = threading.Event(), threading.Event(), [True]
    engine._queues.retrieving.put(object(), lambda: (begun.set(), free.wait(120)))
    assert begun.wait(120)
    job = compared(engine, kit, try_repairs=True, waiter=Waiter("w", lambda: there[0]))
    there[0] = False
    if end == "cancelled":
        job.cancel()
    assert repaired(job) == [None, None] and job.status == JOB_DONE
    free.set()


@pytest.mark.parametrize("why", ["gone", "late"])
def test_what_waited_in_vain_is_let_go_of_unseen(engine, kit, monkeypatch, why):
    """A comparison that waited in vain for its repairs is not looked at.

    Where many ask, comparisons queue for their repairs. One waits in vain if its person went, or if
    its time is over.
    """
    looks, begun, free, there = [], threading.Event(), threading.Event(), [True]
    monkeypatch.setattr(repair_work, "explain_comparison", looks.append)
    engine._queues.repairing.put(object(), lambda: (begun.set(), free.wait(120)))
    assert begun.wait(120)
    job = compared(engine, kit, try_repairs=True, waiter=Waiter("w", lambda: there[0]))
    assert job.comparison.is_repairing
    if why == "gone":
        there[0] = False
    else:
        monkeypatch.setattr(repair_work, "PATIENCE_SECONDS", 0.0)
    free.set()
    assert repaired(job) == [None, None] and not looks and job.status == JOB_DONE


def fail(*args, **options):
    raise RuntimeError("out of order")


CAUSE = "Something went wrong here that should not have: RuntimeError: out of order"


def test_a_failed_search_for_repairs_is_carried_with_the_comparison(engine, kit, monkeypatch):
    monkeypatch.setattr(repair_work, "find_repair", fail)
    job = compared(engine, kit, try_repairs=True)
    assert repaired(job) == [None, None] and job.status == JOB_DONE
    assert job.comparison.follow_up_errors == (f"The search for repairs failed. {CAUSE}",)
    assert not any(lane.repairs_tried for lane in job.comparison.lanes)


def test_repairs_are_searched_after_other_work_failed(engine, kit, monkeypatch):
    monkeypatch.setattr(repair_work, "influence_fault", fail)
    job = compared(engine, kit, try_repairs=True)
    assert repaired(job)[0] is not None
    assert job.comparison.follow_up_errors == (f"The measurement of influences failed. {CAUSE}",)


def test_no_failure_is_carried_where_work_was_given_up(engine, kit, monkeypatch):
    monkeypatch.setattr(repair_work, "PATIENCE_SECONDS", -1.0)
    job = compared(engine, kit, try_repairs=True)
    assert repaired(job) == [None, None] and job.comparison.follow_up_errors == ()


@pytest.fixture
def endless(monkeypatch):
    """Put a change in place that is tried until its check ends it.

    The fixture gives how often the change looked, and whether it may end by itself.
    """
    looks, free = [], threading.Event()

    def repair(run, losses, by_model, saved_alive, watch, is_known):
        while not free.wait(0.005):
            watch.check()
            looks.append(1)

    monkeypatch.setattr(repair_work, "find_repair", repair)
    yield looks, free
    free.set()


def looked(looks, times=3):
    until, before = time.monotonic() + 120, len(looks)
    while len(looks) < before + times:
        assert time.monotonic() < until
        time.sleep(0.005)


def test_what_is_at_work_ends_as_its_person_leaves(engine, kit, endless):
    """Else all comparisons behind it, and what they found, are held for as long as it takes."""
    there = [True]
    job = compared(engine, kit, try_repairs=True, waiter=Waiter("w", lambda: there[0]))
    looked(endless[0])
    there[0] = False
    assert repaired(job) == [None, None]


def test_what_is_at_work_goes_on_while_nobody_else_waits_and_a_while_beside_others(
    engine, kit, endless, monkeypatch
):
    (looks, _), begun, free = endless, threading.Event(), threading.Event()
    job = compared(engine, kit, try_repairs=True)
    looked(looks)
    monkeypatch.setattr(repair_work, "PATIENCE_SECONDS", 0.0)
    looked(looks)
    assert job.comparison.is_repairing  # alone, beyond its patience
    monkeypatch.setattr(repair_work, "PATIENCE_SECONDS", 1.0)
    looked(looks)
    engine._queues.retrieving.put(object(), lambda: (begun.set(), free.wait(120)))
    assert begun.wait(120)
    looked(looks)
    assert job.comparison.is_repairing  # beside others, for now
    assert repaired(job) == [None, None]
    free.set()
