"""A sentence of an answer shows the passage that it rests on.

It does so by pointer and by keyboard, in a report of a case that was saved.
"""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from core.cases.comparison_data import freeze, thaw
from core.corpus import open_corpus
from core.engine import Engine
from core.methods.catalogue import find_method
from core.sources import CorpusSource
from pages.parts.board.payload import Board
from pages.parts.board.static_board import comparison_html
from tests.films import Bag, Parrot, Written
from tests.pages.compare.three_documents import KNOWN, LINE, WIDE, made

ANSWER = "Radio City plays songs by night and by day. 1844. Nothing of this 🌊 is anywhere."


@pytest.fixture(scope="module")
def saved(movies):
    """A comparison of two lanes that answered, saved and opened again without models."""
    engine = Engine(Written(Parrot(ANSWER), encoder=Bag()))
    ask = engine.prepare_question(CorpusSource.of(open_corpus(made())), KNOWN)
    job = engine.compare(ask, [find_method(spec, {}) for spec in (WIDE, LINE)], try_repairs=True)
    until = time.monotonic() + 60
    assert job.wait(60)
    while job.comparison.is_repairing and time.monotonic() < until:
        time.sleep(0.05)
    return thaw(freeze(job.comparison))


def test_what_each_sentence_rests_on_is_told(saved):
    wide, narrow = (lane["rests"] for lane in Board(saved).payload()["lanes"])
    assert [rest["key"] for rest in wide] == ["chunk radio", "chunk arthur", None]
    assert wide[1]["text"] == "Its words are in “Arthur's Magazine”."
    assert wide[2]["text"].startswith("From no passage that was read: the nearest, “")
    # the wave counts as two letters
    assert ANSWER[: wide[2]["start"]].endswith("1844. ") and wide[2]["end"] == len(ANSWER) + 1
    assert [rest["key"] for rest in narrow][0] is None  # that lane did not read of the station


@pytest.mark.usefixtures("browser")
def test_a_sentence_shows_its_passage(saved, browser, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(comparison_html(saved, Board(saved)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1280, "height": 700})
    page.goto(file.as_uri())
    lane = page.locator(".lane").first
    said = lane.locator(".sentence")
    expect(said).to_have_count(3)
    said.nth(0).click()
    expect(lane.locator(".rest-note")).to_contain_text("from “Radio City”: ")
    expect(lane.locator("mark.rest")).to_contain_text("plays songs by night")
    expect(lane.locator("mark.rest")).to_be_in_viewport()
    said.nth(1).focus()
    page.keyboard.press("Enter")
    expect(lane.locator("mark.rest")).to_have_text(
        "Arthur's Magazine was a magazine started in 1844."
    )
    expect(said.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(said.nth(0)).to_have_attribute("aria-pressed", "false")
    said.nth(2).focus()
    page.keyboard.press(" ")
    expect(lane.locator("mark.rest")).to_have_count(0)
    expect(lane.locator(".rest-note")).to_contain_text("From no passage that was read")
    page.keyboard.press("Escape")
    expect(lane.locator(".rest-note")).to_be_hidden()
    page.close()
