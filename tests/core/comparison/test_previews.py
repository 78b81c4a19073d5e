"""Previews of a lane before its ranking is complete.

They are made from the texts read so far, seldom, only for viewers, and do not change the result.
"""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from core.cases.comparison_data import freeze
from core.comparison.endings import ending_sentence
from core.comparison.lane_pauses import LanePauses
from core.comparison.lane_run import LaneListener, LaneRun
from core.comparison.previews import (
    CROWDED_PREVIEW_SECONDS,
    PREVIEW_PAUSE_FACTOR,
    PREVIEW_SECONDS,
    PreviewScheduler,
)
from core.comparison.waiters import Waiter
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.engine import Engine
from core.environment import Environment
from core.errors import RunCancelled
from core.methods.catalogue import Method
from core.models.combine import build_chooser
from core.models.reading_order import CandidateScores
from core.models.scorers import BaseScorer
from core.operators.text import parse_line
from core.results import comparison_dict
from core.runtime.jobs import JOB_CANCELLED, JOB_DONE
from core.sources import GraphSource, SourceQuestion
from core.types import Question
from core.watch import Watch
from tests.core.comparison.test_queues import soon

RANKED = "EgoNetwork(hops=2) >> ShortestPaths() >> Rank(keep=2, model='slow') >> Answer()"
ANN, DRAMA = "One -> directed_by -> Ann", "One -> has_genre -> Drama"
DIRECTED, WRITTEN = f"{ANN} -> directed_by_reverse -> Two", f"{ANN} -> written_by_reverse -> Two"
# Paths in the order in which they are found.
SCORES = {ANN: 0.1, DRAMA: 0.9, DIRECTED: 0.5, WRITTEN: 0.3}


class StepwiseScorer(BaseScorer):
    """A scorer that reads one text at a time, each once `steps` is released."""

    def __init__(self, scores, steps=0):
        self.scores, self.steps, self.asked = scores, threading.Semaphore(steps), threading.Event()

    def score(self, task, texts):
        reading = CandidateScores(task, texts)
        for text in reading.distinct_texts:
            self.asked.set()
            while not self.steps.acquire(timeout=0.02):
                task.watch.check()
            reading.record([text], np.array([self.scores.get(text, 0.0)]))
        return reading.scores


class SettableClock:
    """Wall-clock and processor seconds that a test sets."""

    now = spent = 0.0


@pytest.fixture
def clock():
    return SettableClock()


def previews(clock, shown, wanted=lambda: True):
    return PreviewScheduler(shown.append, wanted, lambda: clock.now, lambda: clock.spent)


def ask(kit, **choices):
    question = Question("genre of One", entities=("One",), answers=("Drama",))
    return SourceQuestion(
        GraphSource.of(kit.graph), question, (kit.node("One"),), uses_model=False, **choices
    )


def run(kit, slow, line=RANKED, preview=None, **choosers):
    lane = LaneRun(ask(kit), parse_line(line), Environment(kit.Written(slow=slow, **choosers)))
    lane.retrieve(LaneListener(show_preview=preview))
    return lane


def names_and_answers(kit, state):
    return [kit.graph.text(path) for path in state.paths.items], kit.graph.names(state.reader or ())


def results_without_times(comparison):
    """Results of a comparison without its times."""
    without = lambda value: (
        {
            key: without(one)
            for key, one in value.items()
            if key not in ("seconds", "ranking", "waiting", "prepared", "saved")
        }
        if isinstance(value, dict)
        else [without(one) for one in value]
        if isinstance(value, list)
        else value
    )
    return without(comparison_dict(comparison))


def test_expensive_previews_come_less_often(clock):
    shown = []
    scheduler = previews(clock, shown)
    assert scheduler.show_if_due("1 of 9", lambda: ()) and not scheduler.show_if_due(
        "2 of 9", lambda: ()
    )
    clock.now = PREVIEW_SECONDS - 0.01
    assert not scheduler.show_if_due("3 of 9", lambda: ())
    clock.now = PREVIEW_SECONDS

    def dear():
        clock.spent += 1.0
        return ()

    assert scheduler.show_if_due("4 of 9", dear)
    clock.now = PREVIEW_SECONDS + PREVIEW_PAUSE_FACTOR - 0.01
    assert not scheduler.show_if_due("5 of 9", lambda: ())
    clock.now = PREVIEW_SECONDS + PREVIEW_PAUSE_FACTOR
    assert scheduler.show_if_due("6 of 9", lambda: ())
    assert [(one.number, one.text) for one in shown] == [
        (1, "1 of 9"),
        (2, "4 of 9"),
        (3, "6 of 9"),
    ]


def test_previews_come_less_often_in_a_crowd(clock):
    shown, others = [], ["somebody"]
    scheduler = PreviewScheduler(
        shown.append, lambda: True, lambda: clock.now, lambda: clock.spent, lambda: bool(others)
    )
    assert scheduler.show_if_due("1 of 9", lambda: ())  # The first preview comes at once.
    clock.now = CROWDED_PREVIEW_SECONDS - 0.01
    assert not scheduler.show_if_due("2 of 9", lambda: ())
    clock.now = CROWDED_PREVIEW_SECONDS
    others.clear()
    assert scheduler.show_if_due("3 of 9", lambda: ())
    clock.now += PREVIEW_SECONDS
    assert scheduler.show_if_due("4 of 9", lambda: ()) and len(shown) == 3


def test_no_preview_without_a_viewer(clock):
    shown, here = [], []
    scheduler = previews(clock, shown, lambda: bool(here))
    assert (
        not scheduler.show_if_due("1 of 9", lambda: 1 / 0) and not shown
    )  # The states are not even computed.
    here.append("somebody")
    clock.now = PREVIEW_SECONDS
    assert scheduler.show_if_due("2 of 9", lambda: ()) and len(shown) == 1


def test_failed_preview_is_logged_and_the_last(clock, caplog):
    shown = []
    scheduler = previews(clock, shown)
    assert not scheduler.show_if_due("1 of 9", lambda: 1 / 0)
    clock.now = 1e9
    assert (
        not scheduler.show_if_due("2 of 9", lambda: ())
        and not shown
        and "A preview failed" in caplog.text
    )


def test_cancelled_preview_is_no_failure(clock, caplog):
    def cancel():
        raise RunCancelled

    with pytest.raises(RunCancelled):
        previews(clock, []).show_if_due("1 of 9", cancel)
    assert not caplog.text


def test_ranking_preview_has_best_paths_and_answers(kit):
    seen = []
    lane = run(
        kit, StepwiseScorer(SCORES, 4), preview=lambda text, states: seen.append((text, states()))
    )
    assert [text for text, _ in seen] == [f"{count} of 4 paths read" for count in (1, 2, 3, 4)]
    assert [names_and_answers(kit, states[2])[0] for _, states in seen] == [
        [ANN],
        [DRAMA, ANN],
        [DRAMA, DIRECTED],
        [DRAMA, DIRECTED],
    ]
    assert [names_and_answers(kit, states[3])[1] for _, states in seen] == [
        ["Ann"],
        ["Drama"],
        ["Drama"],
        ["Drama"],
    ]
    for count, (_, states) in enumerate(seen, 1):
        step = states[2].trace[-1]
        assert step.operator == "Rank" and len(step.before_cut) == count and step.seconds == 0
        assert [state.trace[-1].operator for state in states[2:]] == [
            "Rank",
            "GraphReader",
            "Answer",
        ]
        # Only the prompt is written, since no model is used.
        assert states[-1].answer is None and states[-1].prompt.paths == min(count, 2)
    assert (
        names_and_answers(kit, lane.state) == ([DRAMA, DIRECTED], ["Drama"])
        and len(lane.states) == 4
    )


def test_preview_stops_before_a_model_step(kit):
    line = RANKED.replace(" >> Answer()", " >> Rank(keep=1, model='other') >> Answer()")
    seen, other = [], kit.Table(SCORES)
    run(
        kit,
        StepwiseScorer(SCORES, 4),
        line,
        lambda text, states: seen.append((text, len(states()), len(other.seen))),
        other=other,
    )
    assert [count for _, count, _ in seen] == [3, 3, 3, 3] and [asked for *_, asked in seen] == [
        0,
        0,
        0,
        0,
    ]


def test_beam_preview_has_earlier_hops_and_best_steps(kit):
    """A beam of width one goes from One to Drama, and from there only back to One.

    The first hop scores Ann 0.1 and Drama 0.9, the second scores One 0.2.
    """
    scores, seen = SCORES | {f"{DRAMA} -> has_genre_reverse -> One": 0.2}, []
    line = (
        "EgoNetwork(hops=2) >> BeamSearch(model='slow', rank='slow', width=1, hops=2) >> Answer()"
    )
    run(
        kit,
        StepwiseScorer(scores, 9),
        line,
        lambda text, states: seen.append((text, names_and_answers(kit, states()[1])[0])),
    )
    assert [text for text, _ in seen] == [
        "hop 1 of 2, 1 of 2 paths read",
        "hop 1 of 2, 2 of 2 paths read",
        "hop 2 of 2, 1 of 1 path read",
    ]
    assert [paths for _, paths in seen] == [
        [ANN],
        [DRAMA],
        [DRAMA, f"{DRAMA} -> has_genre_reverse -> One"],
    ]


def test_second_scorer_does_not_shrink_the_preview(kit):
    """A cheap scorer has read all texts, then an expensive one reads the best of them.

    The first order stays until more texts are read.
    """
    slow, seen = StepwiseScorer(SCORES, 9), []
    run(
        kit,
        build_chooser("prefilter(slow, slow, 2)", lambda name: slow, lambda name: slow),
        preview=lambda text, states: seen.append(text),
    )
    assert seen == [f"{count} of 4 paths read" for count in (1, 2, 3, 4)]


@pytest.fixture
def slow():
    return StepwiseScorer(SCORES)


@pytest.fixture
def engine(kit, slow, monkeypatch):
    """An engine whose previews are due at once, so that tests need not wait."""
    monkeypatch.setattr("core.comparison.previews.PREVIEW_SECONDS", 0.0)
    monkeypatch.setattr("core.comparison.previews.PREVIEW_PAUSE_FACTOR", 0)
    made = Engine(kit.Written(slow=slow, encoder=kit.Table({})))
    yield made
    made.stop()


def compare(engine, kit, *lines, waiter=None, text="genre of One", answers=("Drama",)):
    asked = engine.prepare_question(
        GraphSource.of(kit.graph),
        Question(text, entities=("One",), answers=answers),
        uses_model=False,
    )
    return engine.compare(
        asked,
        [Method(f"lane-{i}", "", parse_line(line)) for i, line in enumerate(lines)],
        waiter=waiter,
    )


def test_previews_do_not_change_the_result(engine, kit, slow):
    job = compare(engine, kit, RANKED, waiter=Waiter("me"))
    preview = lambda: job.comparison.lanes[0].preview
    for count in (1, 2):
        slow.steps.release()
        assert soon(lambda count=count: preview() and preview().number == count)
        assert preview().text == f"{count} of 4 paths read"
        lane = job.comparison.lanes[0]
        assert lane.as_shown.retrieved and not lane.retrieved and len(lane.states) == 2
        assert lane.as_shown.state.reader and lane.state.reader is None
    assert explain_comparison(job.comparison).text == ""  # Missing results are not explained yet.
    slow.steps.release(9)
    assert job.wait(120)
    lane = job.comparison.lanes[0]
    assert lane.status == JOB_DONE and lane.preview is None and lane.as_shown.states == lane.states
    other = Engine(kit.Written(slow=slow, encoder=kit.Table({})))
    alone = compare(other, kit, RANKED)
    assert alone.wait(120) and results_without_times(alone.comparison) == results_without_times(
        job.comparison
    )
    other.stop()


def test_no_preview_for_a_comparison_without_viewers(engine, kit, slow):
    slow.steps.release(9)
    job = compare(engine, kit, RANKED)
    assert job.wait(120) and job.comparison.lanes[0].preview is None


def test_cancelled_lane_keeps_its_preview(engine, kit, slow):
    job = compare(engine, kit, RANKED, waiter=Waiter("me"))
    slow.steps.release(2)
    preview = lambda: job.comparison.lanes[0].preview
    assert soon(lambda: preview() and preview().number == 2)
    job.cancel()
    assert job.wait(120)
    lane = job.comparison.lanes[0]
    assert lane.status == JOB_CANCELLED
    assert ending_sentence(lane) == "Cancelled at step 3 of 3, rank, with 2 of 4 paths read"
    assert lane.as_shown.retrieved and len(lane.as_shown.state.paths) == 2 and not lane.retrieved
    # Only complete results are saved and passed on.
    plain = comparison_dict(job.comparison)["lanes"][0]
    assert (
        plain["status"] == "cancelled"
        and plain["reader_answers"] is None
        and len(plain["paths"]) == 4
    )
    assert freeze(job.comparison)["lanes"][0]["states"] == 2


def test_cancelled_comparison_can_run_again(engine, kit, slow):
    job = compare(engine, kit, RANKED, waiter=Waiter("me"))
    slow.steps.release()
    assert soon(lambda: job.comparison.lanes[0].preview)
    job.cancel()
    assert job.wait(120)
    slow.steps.release(9)
    again = compare(engine, kit, RANKED, waiter=Waiter("me"))
    assert again is not job and again.wait(120) and again.comparison.lanes[0].status == JOB_DONE
    # Only the complete steps are reused.
    assert again.comparison.lanes[0].reused == (0, 1)


def test_failed_preview_does_not_affect_the_lane(engine, kit, slow, monkeypatch, caplog):
    monkeypatch.setattr("core.operators.refine.rank_positions", lambda *_: 1 / 0)
    job = compare(engine, kit, RANKED, waiter=Waiter("me"))
    slow.steps.release(9)
    assert (
        job.wait(120)
        and job.comparison.lanes[0].status == JOB_DONE
        and "A preview failed" in caplog.text
    )


def test_each_lane_has_a_preview_before_one_ends(engine, kit, slow):
    """Two lanes share all steps before the ranking.

    The second begins once the first has a preview, and then the first continues.
    """
    other = RANKED.replace("keep=2", "keep=1")
    job = compare(engine, kit, RANKED, other, waiter=Waiter("me"))
    lanes = job.comparison.lanes
    slow.steps.release()
    assert soon(lambda: lanes[0].preview)
    assert soon(lambda: lanes[1].status == "running" and slow.asked.is_set())
    slow.steps.release()
    assert soon(lambda: lanes[1].preview or (lanes[0].preview and lanes[0].preview.number == 2))
    slow.steps.release(9)
    assert job.wait(120)
    first, second = lanes
    assert [first.status, second.status] == [JOB_DONE, JOB_DONE]
    assert second.reused == (0, 1) and len(first.state.paths) == 2 and len(second.state.paths) == 1


def test_second_question_cancels_the_first(engine, kit, slow):
    first = compare(engine, kit, RANKED, waiter=Waiter("me"))
    slow.steps.release()
    assert soon(lambda: first.comparison.lanes[0].preview)
    second = compare(engine, kit, RANKED, waiter=Waiter("me"), text="another genre of One")
    # The first question has no viewer any more.
    assert first.wait(120) and first.comparison.lanes[0].status == JOB_CANCELLED
    slow.steps.release(9)
    assert second.wait(120) and second.comparison.lanes[0].status == JOB_DONE
    assert second.comparison.lanes[0].state.question.text == "another genre of One"


def test_lanes_pause_until_each_has_a_preview(monkeypatch):
    """The first of three lanes continues once the others have a preview.

    The second continues once the first has retrieved.
    """
    left, order, crowd = [0, 1, 2], [], []
    look = LanePauses(lambda: left, lambda: bool(crowd))

    def lane(number):
        look.wait_for_previews(number)
        order.append(number)

    threads = [threading.Thread(target=lane, args=(number,)) for number in (0, 1, 2)]
    for count, thread in enumerate(threads):
        thread.start()
        time.sleep(0.1)
        assert order == ([] if count < 2 else [0])
    left.remove(0)
    threads[1].join(5)
    assert order == [0, 1]
    left.remove(1)
    threads[2].join(5)
    assert order == [0, 1, 2]


def test_pauses_of_lanes_are_bounded(monkeypatch):
    monkeypatch.setattr("core.comparison.lane_pauses.MAX_SHOWING_SECONDS", 0.1)
    crowd = []
    look = LanePauses(lambda: [0, 1], lambda: bool(crowd))
    look.wait_for_previews(0)  # This returns, though lane 1 never has a preview.
    crowd.append("somebody")
    look.wait_for_previews(1)  # This returns, though lane 0 has not retrieved.


def test_cancel_works_while_a_lane_pauses():
    def check():
        raise RunCancelled()

    with pytest.raises(RunCancelled):
        LanePauses(lambda: [0, 1], lambda: False).wait_for_previews(0, Watch(check))
