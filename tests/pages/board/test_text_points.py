"""The board has what a language model noted on the passages of a lane.

The notes are in its data and in a saved case's report, also where the model dies.
"""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from core.cases.comparison_data import freeze, thaw
from core.corpus import open_corpus
from core.engine import Engine
from core.errors import ModelFailed
from core.methods.catalogue import find_method
from core.models.base import ChatReply
from core.sources import CorpusSource
from pages.parts.board.payload import Board
from pages.parts.board.static_board import comparison_html
from tests.films import Bag, Written
from tests.notes import NoteWith
from tests.pages.compare.three_documents import KNOWN, WIDE, made

LINE = "BuiltGraph(build='chunks') >> SparseChunks(keep=3) >> Points() >> AnswerFromPoints({})"
NOTES = {
    "Arthur's Magazine was": [
        ("It was <b>started</b> in 1844.", 90),
        ("It was the first. " * 20, 40),
    ],
    "A weekly": [("It was started in 1989.", 80)],
    "A station": None,
}


class Reader:
    """A model that notes on each passage what is written in `NOTES`, and answers.

    It notes nonsense on the last one. It may die in between.
    """

    def __init__(self, dies_at: str = ""):
        self.context, self.dies_at = 4096, dies_at

    def count_tokens(self, messages):
        return sum(len(message["content"].split()) for message in messages)

    def reply(self, messages, *, schema=None, **_):
        told = messages[-1]["content"]
        if self.dies_at and self.dies_at in told:
            raise ModelFailed("The language model stopped.")
        text = "Arthur's Magazine."
        if schema is not None:
            noted = next(points for start, points in NOTES.items() if start in told)
            if noted is None:
                text = "???"
            else:
                text = json.dumps(
                    {"points": [{"description": one, "score": score} for one, score in noted]}
                )
        return ChatReply(text, self.count_tokens(messages), len(text.split()))


def asked(*lines: str, dies_at: str = ""):
    """A comparison of these lines, saved and opened again."""
    engine = Engine(Written(Reader(dies_at), encoder=Bag()))
    job = engine.compare(
        engine.prepare_question(CorpusSource.of(open_corpus(made())), KNOWN),
        [find_method(line, {}) for line in lines],
    )
    assert job.wait(60)
    return thaw(freeze(job.comparison))


@pytest.fixture(scope="module")
def noted(movies):
    """One lane that answers from all points, one with room for the best, and one without any."""
    return asked(LINE.format("room=2000"), LINE.format("room=100"), WIDE)


@pytest.fixture(scope="module")
def broken(movies):
    """A model that dies between map and reduce, the best point before its eyes."""
    return asked(LINE.format(""), dies_at="- (90)")


def test_points_stand_best_first_each_with_its_passage(noted):
    whole, best, none = (lane["points"] for lane in Board(noted).payload()["lanes"])
    assert none is None
    assert [
        (row["score"], row["of"][0]["key"], row["of"][0]["gold"], row["unread"])
        for row in whole["rows"]
    ] == [
        (90, "chunk arthur", True, False),
        (80, "chunk women", True, False),
        (40, "chunk arthur", True, False),
    ]
    assert (
        whole["rows"][0]["text"] == "It was <b>started</b> in 1844."
        and whole["rows"][0]["of"][0]["title"] == "Arthur's Magazine"
    )
    assert whole["note"] == NoteWith("3 points", "3 parts", "One reply")
    assert [row["unread"] for row in best["rows"]] == [False, False, True]
    assert best["note"].endswith("best 2.")


def test_points_are_told_where_the_model_dies_before_the_answer(broken):
    (lane,) = Board(broken).payload()["lanes"]
    assert lane["status"] == "failed" and lane["error"] == "The language model stopped."
    assert [row["score"] for row in lane["points"]["rows"]] == [90, 80, 40] and not any(
        row["unread"] for row in lane["points"]["rows"]
    )
    assert "failed" in lane["points"]["note"]


def test_points_so_far_are_told_with_their_passages_where_the_model_dies_within_the_map(movies):
    (lane,) = Board(asked(LINE.format(""), dies_at="A weekly")).payload()["lanes"]
    assert lane["points"]["note"].startswith("2 points from 1 of 3 parts")
    (table,) = lane["hits"]
    assert {row["key"] for row in lane["points"]["rows"] for row in row["of"]} <= {
        row["key"] for row in table["rows"]
    }


@pytest.mark.usefixtures("browser")
def test_a_point_shows_its_passage(noted, broken, browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(comparison_html(noted, Board(noted)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(file.as_uri())
    first, second, third = (page.locator(".lane").nth(i) for i in range(3))
    expect(first.locator(".point")).to_have_count(3)
    expect(first.locator(".point").first).to_contain_text(
        "90It was <b>started</b> in 1844.from Arthur's Magazine ★"
    )
    expect(second.locator(".point").last).to_contain_text("not used in the answer")
    expect(third.locator(".points")).to_be_hidden()
    first.locator(".point").nth(1).get_by_role("button").click()
    expect(first.locator(".hit.rested .hit-title")).to_have_text("First for Women")
    file.write_text(comparison_html(broken, Board(broken)), encoding="utf-8")
    page.goto(file.as_uri())
    lane = page.locator(".lane[data-status=failed]")
    expect(lane.locator(".failure")).to_have_text("The language model stopped.")
    expect(lane.locator(".points")).to_contain_text("no answer was made from them")
    expect(lane.locator(".point")).to_have_count(3)
    page.close()
