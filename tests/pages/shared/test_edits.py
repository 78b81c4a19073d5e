"""A press on the board is sent until it is received, and is done once."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest
import streamlit as st

from pages.parts.board import component
from pages.parts.board.component import BOARD_FOLDER, BoardClicks, board


@pytest.fixture
def says(monkeypatch):
    """Return a function by which the browser says something.

    It returns what the board was then taken to have pressed. Its `drawn` is the data that the board
    was drawn from.
    """
    drawn = {}

    def one(message):
        def draw(key, data, on_pressed_change):
            drawn.update(json.loads(data))
            return SimpleNamespace(pressed=message)

        monkeypatch.setattr(component, "component", lambda *_: draw)
        return board({}, "board")

    monkeypatch.setattr(st, "session_state", {})
    one.drawn = drawn
    return one


def press(n, kind, value):
    return {"n": n, "kind": kind, "value": value}


def test_a_press_that_is_sent_twice_is_done_once(says):
    assert says(None) == BoardClicks()
    assert says({"who": "a", "edits": [press(1, "repair", 0)]}) == BoardClicks(repair=0)
    assert says({"who": "a", "edits": [press(1, "repair", 0)]}) == BoardClicks()
    assert says.drawn == {"who": "a", "done": 1}
    again = says(
        {
            "who": "a",
            "edits": [
                press(1, "repair", 0),
                press(2, "thumb", {"lane": "lane-0", "verdict": "up"}),
            ],
        }
    )
    assert again == BoardClicks(thumb={"lane": "lane-0", "verdict": "up"})


def test_a_page_that_is_loaded_again_counts_anew(says):
    says({"who": "a", "edits": [press(7, "repair", 0)]})
    assert says({"who": "b", "edits": [press(1, "repair", 1)]}) == BoardClicks(repair=1)


def test_a_press_is_sent_again_until_it_is_heard(browser):
    page = browser.new_context().new_page()
    page.clock.install()
    page.add_script_tag(
        content=re.sub(
            r"^export ", "", (BOARD_FOLDER / "edits.js").read_text("utf-8"), flags=re.MULTILINE
        )
        + "\nwindow.edits = new Edits();"
    )
    page.evaluate("window.sent = []")
    page.evaluate(
        "edits.update((told) => sent.push(told.edits.map((one) => one.value)), '', 0); edits.add({value: 'a'})"
    )
    page.clock.run_for(8_000)  # after 2.5 and 7.5 seconds
    assert page.evaluate("sent") == [["a"]] * 3
    page.evaluate("edits.add({value: 'b'}); edits.update(edits.say, edits.who, 1)")
    page.clock.run_for(2_600)
    assert page.evaluate("sent.slice(3)") == [["a", "b"], ["b"]]
    page.evaluate("edits.update(edits.say, 'another', 9)")
    page.clock.run_for(5_100)
    page.evaluate("edits.update(edits.say, edits.who, 2)")
    page.clock.run_for(60_000)
    assert page.evaluate("sent.slice(5)") == [["b"]]
