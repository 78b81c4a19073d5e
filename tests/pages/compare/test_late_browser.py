"""A person may act before the browser has heard what came of the last action.

Nothing of what the person did is lost.
"""

from __future__ import annotations

import json
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from tests.pages.compare.slow_line import slow_line
from tests.server import open_page

pytestmark = pytest.mark.usefixtures("browser")
FIRST, SECOND = "which person directed the movie Inception", "when was Inferno released"
OF_A_SET = "who acted in the movies directed by the director of Some Mother's Son"
LATE = 1.5  # seconds


def box(page):
    return page.get_by_role("textbox", name="Question")


def ask(page, text: str) -> None:
    box(page).fill(text)
    page.get_by_role("button", name="Ask", exact=True).click()


def done(page, question: str) -> None:
    page.locator(f"[data-question={json.dumps(question)}] .lane[data-status=done]").first.wait_for(
        timeout=60_000
    )


@pytest.fixture
def line(app):
    with slow_line(app) as opened:
        yield opened


def test_a_new_question_stays_where_a_lane_is_changed_at_once(line):
    """The click on the board is heard with the address of the question before."""
    with open_page(f"{line.address}/?llm=0&lane=lego-1&q={quote_plus(FIRST)}") as page:
        done(page, FIRST)
        line.late = LATE
        ask(page, SECOND)
        page.get_by_role("button", name="Replace").first.click()
        page.get_by_role("dialog").wait_for(timeout=30_000)
        line.late = 0.0
        page.keyboard.press("Escape")
        done(page, SECOND)
        expect(box(page)).to_have_value(SECOND)


def test_a_set_s_question_asked_before_the_first_page_is_whole_has_its_answers(line):
    with open_page(f"{line.address}/?llm=0&lane=lego-1") as page:
        line.late = 0.3
        ask(page, OF_A_SET)
        done(page, OF_A_SET)
        expect(page.locator(".answers .chip .name")).to_have_count(3)
        expect(box(page)).to_have_value(OF_A_SET)
