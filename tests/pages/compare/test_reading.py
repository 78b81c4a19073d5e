"""The board gets the reader's answers to other contexts, begun by a press, with the cost before."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.comparison.lane_run import LaneListener, LaneRun
from core.engine import MethodComparison
from core.environment import Environment
from core.graph.building.build import build
from core.operators.text import parse_line
from core.runtime.jobs import JOB_DONE, Job, Jobs
from core.sources import GraphSource
from core.types import Question, Repair
from pages.parts.board.component import BoardClicks
from pages.parts.board.payload import Board
from pages.parts.compare import reading as page
from pages.parts.compare.screen_state import ScreenComparison
from tests.core.diagnosis.test_reading import MISLED, RANKED, SCORES, Rules
from tests.films import TRIPLES, Parrot, Table, Written
from tests.lanes import lane_of
from tests.pages.compare.test_compare import job, opened

ENVIRONMENT = Environment(Written(Parrot("<b>Ann</b>"), encoder=Table({})))
LINE = "EgoNetwork(hops=1) >> ShortestPaths(hops=1) >> Answer(paths=2)"


@pytest.fixture
def on_screen(tmp_path, monkeypatch):
    """One lane that says Ann whatever it is shown; two paths are in its prompt."""
    source = GraphSource("films", build(TRIPLES, tmp_path / "films", "films"))
    ask = source.ask(Question("who directed One", entities=("One",), answers=("Ann",)))
    run = LaneRun(ask, parse_line(LINE), ENVIRONMENT)
    run.retrieve(LaneListener())
    run.answer(LaneListener())
    jobs = Jobs()
    monkeypatch.setattr(
        page, "engine", lambda: SimpleNamespace(background_jobs=jobs, environment=ENVIRONMENT)
    )
    yield ScreenComparison("key", MethodComparison(ask, [lane_of(run, "a", "A")]), Job("key"))
    jobs.stop()


def drawn(on_screen):
    return page.add_readings(Board(on_screen.comparison).payload(), on_screen)["lanes"][0]


def test_the_cost_is_said_before_and_the_answers_are_there_after(on_screen):
    before = drawn(on_screen)
    assert "reading" not in before and before["read_again"]["cost"].startswith("Up to ")
    version = on_screen.job.version
    page.start_or_stop_reading(on_screen, 0, page.READ_ACTION)
    (job,) = page.READING_JOBS.of_lanes(on_screen)
    assert job.wait(120) and job.error is None and on_screen.job.version > version
    after = drawn(on_screen)
    assert "read_again" not in after
    assert after["reading"]["text"].startswith("Read right. The model is also right without")
    contexts = [row["context"] for row in after["reading"]["rows"]]
    assert contexts[:2] == ["as retrieved", "nothing"]
    # texts of a model stay texts: the board writes no markup
    assert {row["answer"] for row in after["reading"]["rows"]} == {"<b>Ann</b>"}


def test_a_failure_is_said_beside_the_button_and_may_be_tried_again(on_screen, monkeypatch):
    monkeypatch.setattr(page, "read_lane", lambda *_, **__: 1 / 0)
    page.start_or_stop_reading(on_screen, 0, page.READ_ACTION)
    assert page.READING_JOBS.of_lanes(on_screen)[0].wait(120)
    assert "ZeroDivisionError" in drawn(on_screen)["read_again"]["error"]


def test_stop_cancels(on_screen, monkeypatch):
    def slow(comparison, index, environment, watch):
        while True:
            watch.check()

    monkeypatch.setattr(page, "read_lane", slow)
    page.start_or_stop_reading(on_screen, 0, page.READ_ACTION)
    assert drawn(on_screen)["read_again"]["running"]
    page.start_or_stop_reading(on_screen, 0, page.STOP_READING_ACTION)
    assert page.READING_JOBS.of_lanes(on_screen)[0].wait(120)
    assert not drawn(on_screen)["read_again"]["running"]


def test_the_graph_reader_is_offered_once_the_lanes_have_ended(on_screen):
    lane = on_screen.comparison.lanes[0]
    silent = lane.state.replace(answer=None)
    on_screen.comparison.change_lane(0, states=(*lane.states[:-1], silent))
    assert "read_again" not in drawn(on_screen)
    on_screen.job.end(JOB_DONE)
    assert drawn(on_screen)["read_again"]["cost"] == "No language model is asked."


def test_a_case_shows_its_answers_and_offers_nothing(on_screen):
    page.start_or_stop_reading(on_screen, 0, page.READ_ACTION)
    assert page.READING_JOBS.of_lanes(on_screen)[0].wait(120)
    saved = ScreenComparison("case", on_screen.comparison)
    assert drawn(saved)["reading"]["rows"] and page.READING_JOBS.of_lanes(saved) == []


def test_a_shorter_prompt_is_offered_on_the_board(on_screen, monkeypatch):
    """The third path misleads the model, so that two paths are enough."""
    environment = Environment(Written(Rules(*MISLED), encoder=Table(SCORES)))
    jobs = page.engine().background_jobs
    services = SimpleNamespace(background_jobs=jobs, environment=environment)
    monkeypatch.setattr(page, "engine", lambda: services)
    question = Question("when was Two released", entities=("Two",), answers=("1999",))
    ask = on_screen.comparison.ask.source.ask(question)
    run = LaneRun(ask, parse_line(RANKED), environment)
    run.retrieve(LaneListener())
    run.answer(LaneListener())
    shown = ScreenComparison("two", MethodComparison(ask, [lane_of(run, "a", "A")]), Job("two"))
    page.start_or_stop_reading(shown, 0, page.READ_ACTION)
    assert page.READING_JOBS.of_lanes(shown)[0].wait(120)
    (lane,) = Board(shown.comparison).payload()["lanes"]
    assert lane["repair"] == {"label": "Keep 2 paths → right", "there": None}


def test_the_offered_prompt_is_asked_in_a_lane_of_its_own(movies, monkeypatch):
    """A click on the board's repair adds the line, which is asked."""
    line = "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep={})"
    at = opened(q="which person directed the movie Inception", lane=[line.format(5)], llm="0")
    repair = Repair(line.format(3), "Keep 3 paths → right", 1, 1, by_answer=True)
    job(at).comparison.change_lane(0, repair=repair)
    clicks = [BoardClicks(repair=0)]
    monkeypatch.setattr(
        "pages.parts.board.component.board",
        lambda payload, key: clicks.pop() if clicks else BoardClicks(),
    )
    at.run()
    lanes = job(at).comparison.lanes
    assert not at.exception and [lane.method.id for lane in lanes] == [
        line.format(5),
        line.format(3),
    ]
    assert all(lane.status == "done" for lane in lanes)
