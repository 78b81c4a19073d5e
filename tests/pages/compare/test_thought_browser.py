"""A language model's thought before its answer is shown folded, in a real browser.

It is folded in its lane and in a saved case, and is no part of the answer.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from tests.core.models.chat.test_thoughts import sent, texts
from tests.core.models.chat_server import serving, stream
from tests.server import open_page, server

pytestmark = pytest.mark.usefixtures("browser")
LINE = "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep=5) >> Answer()"
QUESTION, CUT = "which person directed the movie Inception", "when was Inferno released"
THOUGHT, ANSWER = "Is it Ridley Scott? No.", "It is Christopher Nolan."


def answer(handler, body):
    whole = "Inception" in body["messages"][-1]["content"]
    text = f"<think>{THOUGHT}</think>\n\n{ANSWER}" if whole else "<think>\nWell, when was"
    stream(handler, sent(*texts(text), finish="stop" if whole else "length"))


@pytest.fixture(scope="module")
def page(movies, tmp_path_factory):
    """A page of an app whose language model thinks."""
    home = tmp_path_factory.mktemp("thinking")
    (home / "graphs").symlink_to(Path(os.environ["HOPSCOPE_HOME"]) / "graphs")
    with serving(answer) as (url, _):
        row = f'kind = "chat"\nbackend = "openai"\ntitle = "Thinker"\nurl = "{url}"\nmodel = "thinker"\n'
        (home / "models.toml").write_text(
            f'[roles]\nanswer = "thinker"\n\n[model.thinker]\n{row}', "utf-8"
        )
        with (
            server(HOPSCOPE_HOME=str(home)) as (address, _),
            open_page(f"{address}/?q={quote_plus(QUESTION)}&lane={quote_plus(LINE)}") as opened,
        ):
            yield opened


def done(page):
    """The lane, once it is answered."""
    page.locator(".lane[data-status=done]").first.wait_for(timeout=120_000)
    return page.locator(".lane").first


def folded(lane) -> None:
    """The thought is there, closed, and not in the answer; opened it is read."""
    expect(lane.locator(".answer")).to_contain_text(ANSWER)
    expect(lane.locator(".answer")).not_to_contain_text("Ridley Scott")
    summary = lane.locator("summary").filter(has_text="Thought")
    expect(summary).to_contain_text("no part of the answer")
    expect(lane.get_by_text(THOUGHT)).not_to_be_visible()
    summary.click()
    expect(lane.get_by_role("region", name="The language model's thought")).to_have_text(THOUGHT)


def test_a_thought_is_folded_and_is_so_after_reload_and_in_a_saved_case(page):
    folded(done(page))
    page.reload()
    folded(done(page))
    page.get_by_role("button", name="Save").click()
    page.get_by_role("button", name="Save as case").click()
    page.get_by_text("Open it on Cases").click()
    page.get_by_role("button", name="All cases").wait_for(timeout=60_000)
    folded(done(page))
    page.go_back()


def test_an_answer_that_ends_inside_a_thought_says_so(page):
    page.get_by_role("textbox", name="Question").fill(CUT, timeout=60_000)
    page.get_by_role("button", name="Ask", exact=True).click()
    lane = page.locator(f"[data-question='{CUT}'] .lane[data-status=done]").first
    lane.wait_for(timeout=120_000)
    said = lane.locator(".answer")
    expect(said).to_contain_text("The model was still thinking when its 4,352 tokens were used up.")
    expect(said).to_contain_text("no answer")
    expect(said).not_to_contain_text("Well, when")
    lane.locator("summary").filter(has_text="Thought").click()
    expect(lane.get_by_role("region", name="The language model's thought")).to_have_text(
        "Well, when was"
    )
