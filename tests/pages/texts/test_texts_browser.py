"""The Texts screen works in a real browser.

A build is started and watched, and an entity is opened. All is there after a visit elsewhere.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import TimeoutError

from core.corpus import new_folder, write_corpus
from tests.core.evaluation.advice.kit import documents
from tests.pages.shared.test_accessibility_browser import serious
from tests.pages.texts.texts_kit import make
from tests.server import CHROMIUM, open_page, server, settle, take_scheme

pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed"),
    pytest.mark.usefixtures("browser"),
]
TABLE = "[data-testid=stDataFrame]"
WIDER = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        home = tmp_path_factory.mktemp("texts-browser")
        patched.setenv("HOPSCOPE_HOME", str(home))
        make()
        with server(HOPSCOPE_HOME=str(home)) as (address, _):
            yield address


@pytest.fixture()
def built(address):
    """The page with the graph of the small corpus, which needs no encoder."""
    with open_page(f"{address}/texts?corpus=small") as page:
        page.get_by_role("radio", name="Passage graph").wait_for(timeout=60_000)
        settle(page)
        page.get_by_role("radio", name="Passage graph").click()
        page.get_by_text("Passage graph, by names").wait_for(timeout=60_000)
        settle(page)
        build = page.get_by_role("button", name="Build", exact=True)
        build.or_(page.locator(TABLE)).first.wait_for(timeout=60_000)
        if build.is_visible():
            build.click()
        page.locator(TABLE).first.wait_for(timeout=120_000)
        settle(page)
        yield page


def enter(page) -> None:
    """Click the first row of the table, again where it was not drawn yet."""
    heading = page.get_by_role("heading", level=3).first
    for _ in range(6):
        page.locator(TABLE).first.scroll_into_view_if_needed()
        box = page.locator(TABLE).first.bounding_box()
        page.mouse.click(box["x"] + 60, box["y"] + 52)
        try:
            heading.wait_for(timeout=5_000)
            break
        except TimeoutError:
            continue
    assert heading.is_visible()
    settle(page)


def test_a_question_is_asked_on_compare_about_these_texts(built):
    built.get_by_role("button", name="Ask about it").click()
    built.wait_for_url("**corpus=small**", timeout=60_000)
    built.get_by_text("small texts").first.wait_for(timeout=60_000)
    settle(built)
    assert (
        "/texts" not in built.url
        and built.get_by_placeholder("Ask a question", exact=False).first.is_visible()
    )


def test_what_was_looked_at_is_there_after_a_visit_elsewhere(built):
    enter(built)
    heading = built.get_by_role("heading", level=3).first.inner_text()
    built.get_by_role("link", name="Models").click()
    built.get_by_role("heading", name="Models").first.wait_for(timeout=60_000)
    built.get_by_role("link", name="Texts").click()
    built.get_by_role("heading", level=3).first.wait_for(timeout=60_000)
    settle(built)
    assert (
        built.get_by_role("heading", level=3).first.inner_text() == heading
        and "corpus=small" in built.url
    )


@pytest.mark.parametrize("tab", ["Graph", "an entity", "the steps", "Documents", "Add"])
def test_nothing_serious_stands_in_the_way_of_anybody(built, tab):
    if tab == "an entity":
        enter(built)
    elif tab == "the steps":
        change_and_take_back(built)
    elif tab != "Graph":
        built.get_by_test_id("stTab").filter(
            has_text=tab
        ).last.click() if tab == "Add" else built.get_by_test_id("stTab").nth(1).click()
        settle(built)
    for scheme in ("light", "dark"):
        take_scheme(built, scheme)
        assert not serious(built), (tab, scheme)
    built.set_viewport_size({"width": 800, "height": 900})
    settle(built)
    assert not built.evaluate(WIDER)


def change_and_take_back(page) -> None:
    """Take the first step of the build out by keys, and back; the steps stay in sight."""
    page.get_by_text("Steps of this build").click()
    page.locator(".hk .brick .open").first.focus()
    page.keyboard.press("Delete")
    page.get_by_text("These steps make no graph").wait_for(timeout=30_000)
    assert "nothing before it cuts any" in page.locator(".hk .fault").first.inner_text()
    page.keyboard.press("Control+z")
    page.get_by_text("These steps make no graph").wait_for(state="hidden", timeout=30_000)
    page.locator(".hk .entry", has_text="Chunks by sentences").wait_for(timeout=30_000)


TAB = "[data-testid=stTab]"


def opened_tab(page, name: str) -> str:
    """The tab that is open after one click on `name`."""
    page.locator(TAB).filter(has_text=re.compile(f"{name}$")).click()
    settle(page)
    return page.locator(f"{TAB}[aria-selected=true]").inner_text()


@pytest.mark.parametrize(
    "way",
    [("Documents", "Graph", "Add", "Documents", "Graph"), ("Add", "Graph")],
)
def test_each_click_on_a_tab_opens_it(address, way):
    """The first one while the page still loads."""
    with open_page(f"{address}/texts?corpus=small") as page:
        page.locator(TAB).first.wait_for(timeout=60_000)
        for name in way:
            assert opened_tab(page, name).endswith(name)


def test_the_open_tab_is_open_again_after_a_visit_elsewhere(address):
    with open_page(f"{address}/texts?corpus=small") as page:
        page.locator(TAB).first.wait_for(timeout=60_000)
        opened_tab(page, "Documents")
        page.get_by_role("link", name="Models").click()
        page.get_by_role("heading", name="Models").first.wait_for(timeout=60_000)
        page.get_by_role("link", name="Texts").click()
        page.get_by_role("heading", name="Texts").first.wait_for(timeout=60_000)
        settle(page)
        assert page.locator(f"{TAB}[aria-selected=true]").inner_text().endswith("Documents")
        assert opened_tab(page, "Graph").endswith("Graph")


def test_whether_a_graph_is_needed_is_answered_with_one_button(browser, tmp_path):
    """One button leads to the answer, and on to the figures that it rests on.

    The answer is there still after the way back.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOPSCOPE_HOME", str(tmp_path))
        write_corpus(new_folder("coast"), documents(4), "The coast")
        with server(HOPSCOPE_HOME=str(tmp_path), HOPSCOPE_MODELS=str(tmp_path / "none")) as (
            address,
            _,
        ):
            with open_page(f"{address}/texts?corpus=coast") as page:
                title = page.get_by_text("Do I need a graph at all?")
                title.wait_for(timeout=60_000)
                settle(page)
                title.click()
                page.get_by_role("button", name="Find out").click(timeout=60_000)
                page.get_by_text("All figures and questions").wait_for(timeout=300_000)
                settle(page)
                assert (
                    "for questions like these" in title.inner_text()
                    or "helps" in title.inner_text()
                )
                assert page.get_by_text(
                    "These are made questions, not yours"
                ).is_visible() and not serious(page)
                page.get_by_text("All figures and questions").click()
                page.get_by_text("7 methods on “").wait_for(timeout=60_000)
                page.get_by_role("link", name="Texts").click()
                title.wait_for(timeout=60_000)
                page.set_viewport_size({"width": 390, "height": 900})
                settle(page)
                assert not page.evaluate(WIDER)
