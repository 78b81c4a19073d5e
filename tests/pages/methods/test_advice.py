"""The suggested size is shown beside its parameter, with reasons.

A press alone applies it, on Compare and on Build.
"""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.io.home import ROOT
from core.operators.extract import PersonalizedPageRank
from core.runtime.jobs import Job
from core.types import Question
from pages.parts.compare import lanes
from pages.parts.methods.advice import advice_data
from pages.parts.shared.session import engine

LANE = "PersonalizedPageRank(keep=900) >> ShortestPaths() >> Answer()"


@pytest.fixture
def opened(movies):
    """A page of that name, on the movie graph, which is open."""
    engine().jobs.start("open-metaqa", lambda: Job("open-metaqa", lambda job: movies)).wait(120)

    def page(name: str, **query) -> AppTest:
        at = AppTest.from_file(str(ROOT / "pages" / f"{name}.py"), default_timeout=120)
        for key, value in query.items():
            at.query_params[key] = value
        return at.run()

    return page


def test_compare_suggests_and_changes_nothing_by_itself(opened, monkeypatch):
    sent = []
    monkeypatch.setattr(lanes, "draw_bricks", lambda bench, data, *_: sent.append(data))
    at = opened("compare", q="which person directed the movie Inception", lane=[LANE], llm="0")
    at.session_state["choosing"] = (0, "step")
    at.run()
    assert not at.exception and at.session_state["lanes"] == [LANE]
    advice = sent[-1]["form"]["advice"]
    assert (advice["name"], advice["value"], advice["button"]) == ("keep", 200, "Keep 200 nodes")
    assert any("6 words, a name counted as one" in reason for reason in advice["reasons"])


def test_build_suggests_for_the_question_that_is_tried(opened):
    at = opened("build", line=LANE)
    at.text_input(key="try_question").set_value("which person directed the movie Inception").run()
    assert not at.exception
    bench = at.session_state["bench"]
    advice = advice_data(
        bench.draft.bricks[0].operator, Question("which person directed the movie Inception")
    )
    assert (advice["name"], advice["value"], advice["button"]) == ("keep", 200, "Keep 200 nodes")
    assert any("6 words, a name counted as one" in reason for reason in advice["reasons"])
    assert (
        advice_data(
            bench.draft.bricks[1].operator, Question("which person directed the movie Inception")
        )
        is None
    )


def test_without_a_question_nothing_is_suggested(opened):
    assert advice_data(PersonalizedPageRank(), Question(" ")) is None
