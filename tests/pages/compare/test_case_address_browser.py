"""A case on Compare is there again in a real browser.

The ways to it are Back, Forward, loading it again, a second tab, another page and another corpus.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from core.cases.examples import demo
from core.sources import CorpusSource
from tests.server import open_page, settle

pytestmark = pytest.mark.usefixtures("browser")
CORPUS = "hotpotqa"
CASES = demo(CorpusSource(CORPUS))
WELCOME = "What graph retrieval finds, and where it goes wrong"


def bar(page):
    return page.get_by_role("textbox", name="Question")


def on_first_page(page) -> None:
    """The first page of the corpus, where nothing was asked."""
    page.get_by_role("heading", name=WELCOME).wait_for(timeout=60_000)
    page.get_by_text("Saved examples, which open at once").wait_for()
    expect(bar(page)).to_have_value("")


def showing(page, case) -> None:
    page.locator(".lane[data-status=done]").nth(len(case.methods) - 1).wait_for(timeout=60_000)
    expect(bar(page)).to_have_value(case.question, timeout=30_000)
    expect(page).to_have_url(re.compile(f"[?]case={case.id}$"))
    page.get_by_text("Saved example.").wait_for()


def press(page, case) -> None:
    page.get_by_role("button", name=case.question[:40]).first.click()


def to(page, name: str) -> None:
    page.get_by_test_id("stSidebarNavLink").filter(has_text=re.compile(name)).click()


@pytest.fixture(scope="module")
def one_page(app):
    with open_page(f"{app}/?corpus={CORPUS}&llm=0") as opened:
        on_first_page(opened)
        yield opened


@pytest.fixture
def page(one_page):
    """The first page of the corpus."""
    if "case=" in one_page.url:
        one_page.get_by_role("button", name="Try your own").click()
    on_first_page(one_page)
    return one_page


def test_back_and_forward_go_through_the_cases_that_were_opened(page):
    first, second = CASES[:2]
    press(page, first)
    showing(page, first)
    page.go_back()
    on_first_page(page)
    press(page, second)
    showing(page, second)
    page.go_back()
    on_first_page(page)
    page.go_forward()
    showing(page, second)
    page.get_by_role("button", name="Try your own").click()
    on_first_page(page)
    page.go_back()
    showing(page, second)
    assert not page.get_by_test_id("stException").count()


def test_a_case_is_there_when_loaded_again_in_a_second_tab_and_after_another_page(page):
    case = CASES[0]
    press(page, case)
    showing(page, case)
    page.reload()
    showing(page, case)
    second = page.context.new_page()
    second.goto(page.url)
    showing(second, case)
    second.close()
    to(page, "Cases")
    page.get_by_role("heading", name="Cases", exact=True).wait_for(timeout=60_000)
    to(page, "Compare")
    showing(page, case)
    page.go_back()
    page.get_by_role("heading", name="Cases", exact=True).wait_for(timeout=60_000)
    page.go_back()
    showing(page, case)
    page.go_back()
    on_first_page(page)


def test_a_case_that_is_presented_has_its_address_when_the_presentation_is_left(page):
    press(page, CASES[0])
    showing(page, CASES[0])
    page.get_by_role("button", name="Present").click()
    page.wait_for_url(re.compile("present=1"))
    # lanes are there before, those of the screen that is left
    page.get_by_role("button", name="Next case").wait_for(timeout=60_000)
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(f"show={CASES[1].id}"), timeout=30_000)
    # before that, Escape leaves the case on the screen
    page.get_by_role("heading", name=CASES[1].question).wait_for(timeout=30_000)
    page.keyboard.press("Escape")
    showing(page, CASES[1])
    page.reload()
    showing(page, CASES[1])


def test_a_case_brings_its_corpus_along_and_another_graph_chosen_by_hand_is_come_back_from(app):
    case = CASES[0]
    with open_page(f"{app}/?case={case.id}") as page:
        showing(page, case)
        choice = page.get_by_role("combobox", name="Graph or documents")
        expect(choice).to_have_value(re.compile("HotpotQA"))
        choice.click()
        page.get_by_role("option", name="WikiMovies (MetaQA)").click()
        page.get_by_role("heading", name=WELCOME).wait_for(timeout=60_000)
        expect(bar(page)).to_have_value("")
        page.go_back()
        showing(page, case)
        expect(choice).to_have_value(re.compile("HotpotQA"))


def test_back_from_an_empty_question_shows_the_example_of_the_first_page_again(app):
    example = demo()[0].question
    with open_page(app) as page:
        expect(bar(page)).to_have_value(example, timeout=60_000)
        page.get_by_role("button", name="Try your own").click()
        page.get_by_role("heading", name=WELCOME).wait_for(timeout=60_000)
        page.reload()
        page.get_by_role("heading", name=WELCOME).wait_for(timeout=60_000)
        page.go_back()
        expect(bar(page)).to_have_value(example, timeout=60_000)
        page.get_by_text("Saved example.").wait_for()


@pytest.mark.parametrize("case", [demo()[0], CASES[0]], ids=["triples", "documents"])
def test_on_a_narrow_screen_a_presented_picture_lies_on_no_words(app, case):
    with open_page(f"{app}/?present=1&show={case.id}", width=420) as page:
        lane = page.locator(".lane[data-status=done]").first
        lane.wait_for(timeout=60_000)
        settle(page)
        picture, words = lane.locator(".stage-box"), lane.locator(".said")
        if picture.is_visible():
            box = picture.bounding_box()
            assert box["height"] >= 160 and box["y"] + box["height"] <= words.bounding_box()["y"]
        words.scroll_into_view_if_needed()
        expect(words).to_be_in_viewport(ratio=0.99)  # a scroll ends on whole pixels
