"""Each press of a key on the presented screen moves once.

It does so also where the browser sends a press again, or several at once.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import streamlit as st

from core.cases.examples import demo
from pages.parts.compare import presentation
from pages.parts.question.permalink import case_link

PLACES = ["a", "b", "c", "d"]
QUESTION = SimpleNamespace(
    text="Who directed Alien?", entities=("Alien",), answers=("Ridley Scott",)
)

ASK = SimpleNamespace(question=QUESTION, source=SimpleNamespace(written_form=lambda question: ""))


@pytest.fixture
def says(monkeypatch):
    """Return a function by which the browser says something.

    The second of four cases is shown then. The function returns the cases that were gone to, or
    that the presentation was left.
    """
    done = []
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(presentation, "_go_to_case", done.append)
    monkeypatch.setattr(presentation, "leave_presentation", lambda: done.append("left"))
    monkeypatch.setattr(presentation, "_ask_in_room", lambda screen, text: done.append(f"? {text}"))
    monkeypatch.setattr(st, "rerun", lambda: None)

    def one(*edits, who="tab"):
        done.clear()
        draw = lambda key, data, on_pressed_change: SimpleNamespace(
            pressed={"who": who, "edits": list(edits)} if edits else None
        )
        monkeypatch.setattr(presentation, "component", lambda name: draw)
        presentation._draw_head(
            SimpleNamespace(comparison=SimpleNamespace(ask=ASK)),
            PLACES,
            1,
        )
        return list(done)

    return one


def test_a_press_that_is_sent_again_moves_once(says):
    assert says() == []
    assert says({"n": 1, "by": 1}) == ["c"]
    assert says({"n": 1, "by": 1}) == []
    assert says({"n": 1, "by": 1}, {"n": 2, "by": -1}) == ["a"]
    assert says({"n": 1, "by": 1}, who="another tab") == ["c"]


@pytest.mark.parametrize(
    "by, to", [([1, 1], ["d"]), ([1, -1], []), ([1, 1, 1], ["a"]), ([-1, -1], ["d"]), ([1] * 4, [])]
)
def test_presses_that_come_at_once_all_count(says, by, to):
    assert says(*({"n": number, "by": one} for number, one in enumerate(by, 1))) == to


def test_leaving_is_done_whatever_else_was_pressed(says):
    assert says({"n": 1, "by": 1}, {"n": 2, "leave": True})[0] == "left"


def test_a_question_of_the_room_is_asked_once(says):
    assert says({"n": 1, "ask": "Who wrote Alien?"}) == ["? Who wrote Alien?"]
    assert says({"n": 1, "ask": "Who wrote Alien?"}) == []
    assert says({"n": 2, "ask": ""}) == []


def test_a_question_of_the_room_has_the_graph_and_the_methods_of_the_case(monkeypatch):
    case = demo()[0]
    address = {"present": "1", "show": case.id}
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "query_params", address)
    monkeypatch.setattr(st, "rerun", lambda: None)
    presentation._ask_in_room(SimpleNamespace(case=case), "who directed Alien")
    wanted = presentation.session.wanted_link
    assert (wanted.question, wanted.entities, wanted.answers, wanted.case) == (
        "who directed Alien",
        (),
        (),
        "",
    )
    assert wanted.lanes == case_link(case).lanes and wanted.source == case_link(case).source
    assert address == {"present": "1"}


@pytest.mark.parametrize("by", [2, "1", None, [1], {"by": 1}, float("nan")])
def test_what_is_no_step_is_none(says, by):
    assert says({"n": 1, "by": by}) == []


@pytest.mark.parametrize(
    "at, asked, places",
    [
        ("", True, ["", "a", "b"]),
        ("", False, ["", "a", "b"]),
        ("a", True, ["", "a", "b"]),
        ("a", False, ["a", "b"]),
        ("c", False, ["c", "a", "b"]),
        ("c", True, ["c", "", "a", "b"]),
    ],
)
def test_the_question_of_the_address_stays_among_the_cases(at, asked, places):
    assert presentation._presented_ids(at, ["a", "b"], asked) == places
