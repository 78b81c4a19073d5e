"""The chooser of methods in a browser: its search, its facets, and the keyboard alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.server import open_page, settle

pytestmark = pytest.mark.usefixtures("browser")
ADDRESS = "/?llm=0&lane=lego-1&q=which+person+directed+the+movie+Inception"


@pytest.fixture(scope="module")
def one_page(app):
    with open_page(app + ADDRESS) as page:
        page.locator(".lane[data-status=done]").first.wait_for(timeout=120_000)
        yield page


@pytest.fixture
def page(one_page):
    """Compare with the chooser open, as it is at first."""
    open_chooser(one_page)
    yield one_page
    if one_page.locator(".chooser").count():
        one_page.keyboard.press("Escape")
        expect(one_page.locator(".chooser")).to_have_count(0)
    settle(one_page)


def open_chooser(page) -> None:
    page.locator("text=Add method >> visible=true").first.click()
    expect(page.get_by_role("searchbox", name="Search methods")).to_be_focused()


def first_ids(page, count: int) -> list[str]:
    return page.locator(".chooser .row").evaluate_all(
        "(rows, count) => rows.slice(0, count).map((row) => row.dataset.id)", count
    )


def test_best_matches_first_and_facets_narrow_the_list(page):
    assert first_ids(page, 4) == ["chain-ranking", "lego-12", "lego-14", "lego-1"]
    search = page.get_by_role("searchbox", name="Search methods")
    for typed, first in {
        "no. 1": "lego-1",
        "No. 14": "lego-14",
        "chain rank": "chain-ranking",
        "rank by meaning": "lego-12",
        "lego-12-rbs": "lego-12-rbs",
        "pagerank-beam": "lego-14",
        "think": "tog",
    }.items():
        search.fill(typed)
        assert first_ids(page, 1) == [first], typed
    search.fill("no such method")
    expect(page.locator(".chooser .none")).to_be_visible()
    search.fill("")
    no_ai = page.locator("[data-facet=ai-no]")
    count = int(no_ai.locator(".count").inner_text())
    no_ai.click()
    expect(page.locator(".chooser .row")).to_have_count(count)
    expect(page.locator("[data-facet=ai-no]")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[data-facet=ai-no]")).to_be_focused()
    page.locator("[data-facet='paper-Walk&Retrieve']").click()
    assert first_ids(page, 9) == ["vanilla-triples"]
    page.locator("[data-facet=ai-no]").click()
    page.locator("[data-facet='paper-Walk&Retrieve']").click()
    expect(page.locator(".chooser .row")).not_to_have_count(1)
    assert len(first_ids(page, 999)) > 90


def test_methods_for_documents_are_found_on_a_graph_but_not_chosen(page):
    graph, documents = (page.locator(f"[data-facet=source-{kind}]") for kind in ("graph", "corpus"))
    expect(graph).to_have_attribute("aria-pressed", "true")
    assert page.locator(".chooser .row:disabled").count() == 0
    documents.click()
    rows = page.locator(".chooser .row")
    expect(rows).to_have_count(int(documents.locator(".count").inner_text()))
    page.get_by_role("searchbox", name="Search methods").fill("hipporag")
    expect(rows.first).to_be_disabled()
    page.keyboard.press("Enter")
    expect(page.locator(".chooser")).to_be_visible()  # there is nothing to choose
    documents.click()  # of both kinds those that can be asked come first
    page.get_by_role("searchbox", name="Search methods").fill("search")
    states = rows.evaluate_all("rows => rows.map((row) => row.disabled)")
    assert states == sorted(states) and len(set(states)) == 2


def test_a_method_is_added_by_keys_alone(page):
    page.keyboard.type("shortest")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".chooser .row").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("searchbox", name="Search methods")).to_be_focused()
    page.get_by_role("searchbox", name="Search methods").fill("")
    page.keyboard.press("ArrowDown")
    page.keyboard.type("chain rank")  # typing on a row goes on searching
    expect(page.get_by_role("searchbox", name="Search methods")).to_have_value("chain rank")
    page.keyboard.press("Enter")
    expect(page.locator(".chooser")).to_have_count(0)
    expect(page.locator(".lane")).to_have_count(2)
    expect(page.locator(".lane").nth(1)).to_contain_text("Relation chains")


def test_nothing_of_the_chooser_is_wider_than_its_dialog(page):
    for width in (1920, 800, 390):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        dialog = page.get_by_role("dialog").bounding_box()
        for part in (".facets", ".search", ".list", ".row >> nth=0"):
            box = page.locator(f".chooser {part}").bounding_box()
            assert dialog["x"] <= box["x"] and box["width"] > 100
            assert box["x"] + box["width"] <= dialog["x"] + dialog["width"]
        facets = page.locator(".chooser .facets").bounding_box()
        found = page.locator(".chooser .found").bounding_box()
        is_left = facets["x"] + facets["width"] <= found["x"]
        assert is_left or facets["y"] + facets["height"] <= found["y"]
