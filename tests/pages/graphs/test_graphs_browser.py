"""The Graphs screen works in a real browser.

What is chosen stays, and every control has a name.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.graph.building.build import build
from tests.server import CHROMIUM, open_page, server, settle, take_scheme

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")
NAMELESS = """() => [...document.querySelectorAll('input, textarea, button, select, iframe, [role=tab]')]
  .filter(one => one.checkVisibility() && !one.closest('[aria-hidden=true]'))
  .filter(one => !(one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.title || one.labels?.length
    || one.textContent.trim()))
  .map(one => one.outerHTML.slice(0, 200))"""


WHERE = (
    "graphs?graph=films",
    "graphs?graph=films&add=questions",
    "evaluate",
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


@pytest.fixture(scope="module", params=WHERE)
def opened(address, request):
    """(a page, its path)."""
    with open_page(f"{address}/{request.param}") as page:
        page.locator("[data-testid=stHeading]").first.wait_for(timeout=60_000)
        settle(page)
        yield page, request.param


def test_every_control_has_a_name(opened):
    page, where = opened
    assert page.evaluate(NAMELESS) == []
    if "add=questions" in where:
        page.get_by_text("question,answers,entities").first.wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_stands_in_the_way_of_anybody(opened, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()
    page, _ = opened
    take_scheme(page, scheme)
    settle(page)
    found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [
        (rule["id"], rule["nodes"][0]["html"][:160])
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ] == []
