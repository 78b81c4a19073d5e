"""The board gets what an answer rests on.

For a language model's answer this is begun by a press, with its cost said before.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.comparison.lane_run import LaneListener, LaneRun
from core.diagnosis.influence import influence_text, measure_influence, with_influence
from core.engine import MethodComparison
from core.environment import Environment
from core.graph.building.build import build
from core.operators.text import parse_line
from core.runtime.jobs import JOB_DONE, Job, Jobs
from core.sources import GraphSource
from core.types import Question
from pages.parts.board.payload import Board
from pages.parts.compare import influence as page
from pages.parts.compare.screen_state import ScreenComparison
from tests.films import TRIPLES, Parrot, Table, Written
from tests.lanes import lane_of

ENVIRONMENT = Environment(Written(Parrot("Ann"), encoder=Table({})))


@pytest.fixture
def on_screen(tmp_path, monkeypatch):
    """One lane that two paths were shown of, and that says Ann whatever it is shown."""
    source = GraphSource(
        "films", build([*TRIPLES, ("One", "directed_by", "<script>")], tmp_path / "films", "films")
    )
    ask = source.ask(Question("who directed One", entities=("One",)))
    run = LaneRun(
        ask,
        parse_line("EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Answer(paths=2)"),
        ENVIRONMENT,
    )
    run.retrieve(LaneListener())
    run.answer(LaneListener())
    jobs = Jobs()
    monkeypatch.setattr(
        page, "engine", lambda: SimpleNamespace(background_jobs=jobs, environment=ENVIRONMENT)
    )
    yield ScreenComparison(
        "key",
        MethodComparison(ask, [lane_of(run, "a", "A")]),
        Job("key"),
    )
    jobs.stop()


def drawn(on_screen):
    return page.add_measurements(Board(on_screen.comparison).payload(), on_screen)["lanes"][0]


def test_the_cost_is_said_before_and_the_answer_is_there_after(on_screen):
    before = drawn(on_screen)
    assert (
        before["influence"] is None
        and before["measure"]["cost"].startswith("Up to 3 calls, about ")
        and not before["measure"]["running"]
    )
    version = on_screen.job.version
    page.start_or_stop_measure(on_screen, 0, page.MEASURE_ACTION)
    (job,) = page.MEASURING_JOBS.of_lanes(on_screen)
    assert job.wait(120) and job.error is None and on_screen.job.version > version
    after = drawn(on_screen)
    (measured,) = on_screen.comparison.lanes[0].influences
    assert "measure" not in after and measured.by_model
    (text,) = after["influence"]["texts"]
    assert text["text"] == influence_text(measured)
    assert {one["share"] for one in after["influence"]["items"].values()} == {0.0}


def test_a_failure_is_said_beside_the_button_and_may_be_tried_again(on_screen, monkeypatch):
    monkeypatch.setattr(page, "measure_influence", lambda *_, **__: 1 / 0)
    page.start_or_stop_measure(on_screen, 0, page.MEASURE_ACTION)
    assert page.MEASURING_JOBS.of_lanes(on_screen)[0].wait(120)
    assert "ZeroDivisionError" in drawn(on_screen)["measure"]["error"]


def test_stop_cancels(on_screen, monkeypatch):
    def slow(lane, environment, by_model, watch):
        while True:
            watch.check()

    monkeypatch.setattr(page, "measure_influence", slow)
    page.start_or_stop_measure(on_screen, 0, page.MEASURE_ACTION)
    assert drawn(on_screen)["measure"]["running"]
    page.start_or_stop_measure(on_screen, 0, page.STOP_ACTION)
    assert (
        page.MEASURING_JOBS.of_lanes(on_screen)[0].wait(120)
        and not drawn(on_screen)["measure"]["running"]
    )


def test_the_bars_are_those_of_the_items_that_are_drawn(on_screen):
    found = measure_influence(on_screen.comparison.lanes[0], ENVIRONMENT, by_model=False)
    lane = on_screen.comparison.change_lane(0, influences=with_influence((), found))
    data = Board(on_screen.comparison).payload()["lanes"][0]
    assert set(data["influence"]["items"]) == {path["key"] for path in data["paths"]}
    (text,) = data["influence"]["texts"]
    needed = [at + 1 for at in lane.influences[0].smallest]
    assert text["who"] == "Answer read from the graph (no AI)" and [
        one["name"] for one in text["needed"]
    ] == [f"path {place}" for place in needed]
    assert {one["key"] for one in text["needed"]} == {
        key for key, one in data["influence"]["items"].items() if one["needed"]
    }


def test_of_the_reader_nothing_is_offered_until_it_was_left_undone(on_screen):
    """The reader is measured by itself once the lanes have ended.

    Where the machine was busy then, a press does it.
    """
    lane = on_screen.comparison.lanes[0]
    silent = lane.state.replace(answer=None)
    on_screen.comparison.change_lane(0, states=(*lane.states[:-1], silent))
    assert "measure" not in drawn(on_screen)
    on_screen.job.end(JOB_DONE)
    assert drawn(on_screen)["measure"]["cost"] == "No language model is asked."
    page.start_or_stop_measure(on_screen, 0, page.MEASURE_ACTION)
    assert page.MEASURING_JOBS.of_lanes(on_screen)[0].wait(120)
    lane = on_screen.comparison.lanes[0]
    assert [one.by_model for one in lane.influences] == [False] and "measure" not in drawn(
        on_screen
    )


def test_of_a_case_nothing_is_measured(on_screen):
    saved = ScreenComparison("case", on_screen.comparison)
    assert "measure" not in drawn(saved) and page.MEASURING_JOBS.of_lanes(saved) == []
