"""The Graphs screen works in a real browser.

What is chosen stays, and every control has a name.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.graph.building.build import build
from tests.pages.shared.test_accessibility_browser import serious_in_both
from tests.server import CHROMIUM, open_page, server, settle

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")
NAMELESS = """() => [...document.querySelectorAll('input, textarea, button, select, iframe, [role=tab]')]
  .filter(one => one.checkVisibility() && !one.closest('[aria-hidden=true]'))
  .filter(one => !(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.title || one.labels?.length
    || one.textContent.trim()))
  .map(one => one.outerHTML.slice(0, 200))"""


WHERE = (
    "graphs?graph=films",
    "graphs?graph=films&add=questions",
    "evaluate?graph=films",
)


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    home = tmp_path_factory.mktemp("graphs-browser")
    films = [
        (f"film {i:02}", "has_genre", genre)
        for i in range(60)
        for genre in ("Drama", "Crime")[i % 2 :]
    ]
    build(
        [*films, ("film 00", "directed_by", "<b>Ann</b>")],
        home / "graphs" / "films",
        "films",
        "both",
    )
    with server(HOPSCOPE_HOME=str(home)) as (address, _):
        yield address


def test_what_was_chosen_on_evaluate_is_there_after_a_visit_elsewhere(address):
    with open_page(f"{address}/evaluate") as page:
        # Find me a method, in the other tab, has a field of the same name.
        size = page.get_by_role("spinbutton", name="Questions per set", exact=True).first
        size.wait_for(timeout=60_000)
        settle(page)
        assert page.evaluate(NAMELESS) == []
        size.fill("7")
        size.press("Enter")
        settle(page)
        page.get_by_text("Measure speed one by one (slow)", exact=True).click()
        expect(page.get_by_role("switch", name="Measure speed one by one (slow)")).to_be_checked()
        settle(page)
        page.get_by_role("link", name="Models").click()
        page.get_by_role("heading", name="Models").first.wait_for(timeout=60_000)
        page.go_back()
        size.wait_for(timeout=60_000)
        expect(size).to_have_value("7", timeout=30_000)
        expect(page.get_by_role("switch", name="Measure speed one by one (slow)")).to_be_checked(
            timeout=30_000
        )


@pytest.mark.parametrize("where", WHERE)
def test_every_control_has_a_name_and_nothing_serious_stands_in_the_way(address, where):
    with open_page(f"{address}/{where}") as page:
        page.locator("[data-testid=stHeading]").first.wait_for(timeout=60_000)
        settle(page)
        assert page.evaluate(NAMELESS) == []
        if "add=questions" in where:
            page.get_by_text("question,answers,entities").first.wait_for()
        assert not serious_in_both(page)
