"""Every page is left and come back to with its state, by click and by the browser's Back."""

from __future__ import annotations

import json
import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from tests.server import open_page, settle

pytestmark = pytest.mark.usefixtures("browser")
GRAPH = "pathquestion-2hop"  # a small one, whose map and costs are soon there
QUESTION = "which nationality is frederica_of_mecklenburg-strelitz 's couple ?"
OTHER = "what is the sex of heir of marie_antoinette ?"
LANES = ("lego-1", "lego-10")
# page, the box that a person fills, what they put there
BOXES = (
    ("Cases", "Search", "words of my own"),
    ("Evaluate", "Questions per set", "7"),
    ("Build", "Name", "mine"),
)


def go(page, name: str) -> None:
    page.get_by_test_id("stSidebarNavLink").filter(has_text=re.compile(name)).click()
    page.wait_for_url(re.compile(r"/(\?.*)?$" if name == "Compare" else name.lower()))


def box_of(page, name: str, box: str):
    """Return a box of a page; on Build it is behind “Save”, on Evaluate in the form.

    The form is folded once the server has an evaluation, which another test may have run.
    """
    go(page, name)
    if name == "Evaluate":
        form = page.locator("details", has_text="New evaluation").first
        form.wait_for(timeout=60_000)
        settle(page)
        if form.get_attribute("open") is None:
            form.locator("summary").first.click()
    if name == "Build":
        page.get_by_role("button", name="Save", exact=True).first.click(timeout=60_000)
    return page.get_by_label(box, exact=True).first


def done(page, question: str) -> None:
    page.locator(f"[data-question={json.dumps(question)}] .lane[data-status=done]").nth(
        len(LANES) - 1
    ).wait_for(timeout=120_000)


def form(page) -> tuple:
    return page.get_by_role("textbox", name="Question").input_value(), tuple(
        page.locator(".lane h3 .number").all_text_contents()
    )


@pytest.fixture(scope="module")
def asked(app):
    lanes = "".join(f"&lane={lane}" for lane in LANES)
    with open_page(f"{app}/?graph={GRAPH}&llm=0&q={quote_plus(QUESTION)}{lanes}") as page:
        done(page, QUESTION)
        yield page


@pytest.mark.parametrize(
    ("name", "way"),
    zip(("Build", "Graphs", "Indexes", "Evaluate", "Cases", "Models"), ("click", "Back") * 3),
)
def test_compare_is_come_back_to_by_click_and_by_back(asked, name, way):
    before = form(asked)
    assert before == (QUESTION, ("No. 1", "No. 10"))
    go(asked, name)
    asked.locator(".lane").first.wait_for(state="detached", timeout=60_000)
    if way == "click":
        go(asked, "Compare")
    else:
        asked.go_back()
    done(asked, QUESTION)
    assert form(asked) == before
    asked.wait_for_url(re.compile("[?].*q="))
    assert not asked.get_by_test_id("stException").count()


def test_back_goes_to_the_question_before(asked):
    asked.get_by_role("textbox", name="Question").fill(OTHER)
    asked.get_by_role("button", name="Ask", exact=True).click()
    done(asked, OTHER)
    asked.go_back()
    done(asked, QUESTION)
    expect(asked.get_by_role("textbox", name="Question")).to_have_value(QUESTION)


@pytest.mark.parametrize(("name", "box", "text"), BOXES)
def test_what_was_filled_in_on_a_page_is_there_again(asked, name, box, text):
    field = box_of(asked, name, box)
    field.fill(text, timeout=60_000)
    field.press("Tab")
    settle(asked)
    go(asked, "Compare")
    done(asked, QUESTION)
    expect(box_of(asked, name, box)).to_have_value(text, timeout=60_000)
