"""A question is asked on Compare by keys alone, and the focus is seen on the way."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.server import open_page, settle

pytestmark = pytest.mark.usefixtures("browser")
MAX_TABS = 60  # from the top of the page to the lanes
QUESTION = "who directed the film Inception"


def tab_to(page, target) -> None:
    """Press Tab until the element has the focus."""
    for _ in range(MAX_TABS):
        page.keyboard.press("Tab")
        if target.evaluate("one => one.getRootNode().activeElement === one"):
            return
    raise AssertionError(f"{target} is not reached by Tab")


def test_a_question_is_asked_by_keys_alone(app):
    with open_page(f"{app}/?llm=0&lane=lego-1&lane=chain-ranking&q=who+directed+Inferno") as page:
        expect(page.locator(".lane[data-status=done]")).to_have_count(2, timeout=120_000)
        settle(page)
        tab_to(page, page.get_by_label("Question", exact=True))
        page.keyboard.press("Control+a")
        page.keyboard.type(QUESTION)
        ask = page.get_by_role("button", name="Ask", exact=True)
        tab_to(page, ask)
        ring = ask.evaluate(
            "one => [getComputedStyle(one).boxShadow, getComputedStyle(one).outlineStyle]"
        )
        assert ring != ["none", "none"]
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("q=who\\+directed\\+the\\+film\\+Inception"), timeout=60_000)
        expect(page.locator(".lane[data-status=done]")).to_have_count(2, timeout=120_000)
        settle(page)
        replace = page.locator("[aria-label^='Replace']").first
        tab_to(page, replace)
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog")
        expect(dialog).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
