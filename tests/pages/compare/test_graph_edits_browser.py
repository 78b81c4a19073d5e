"""A person takes something away and asks again, in a real browser.

It is taken away from a node's panel, from a path or by a link. It is undone, and it is saved.
"""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from core.graph.edits import Edit
from tests.server import open_page, settle

pytestmark = pytest.mark.usefixtures("browser")
QUESTION = "the films acted by Jon Hamm were directed by who"
LINE = "EgoNetwork(hops=2) >> ShortestPaths(hops=2)"
ASKED = {"q": QUESTION, "e": "Jon Hamm", "lane": LINE, "llm": "0"}
PLACE = """(lane, name) => {
    const graph = lane.lane.graph, node = [...graph.nodes.values()].find(one => one.name === name);
    const at = graph.cy.getElementById(`n${node.id}`).renderedPosition(), box = graph.cy.container().getBoundingClientRect();
    return [box.left + at.x, box.top + at.y];
}"""


def answered(page) -> None:
    page.locator(".lane[data-status=done]").first.wait_for(timeout=90_000)
    settle(page)


def says(page) -> list[str]:
    return page.locator(".voice-reader").first.inner_text().split("\n")


def open_panel(page, lane, name: str) -> None:
    """Click a node of the picture until its panel is there.

    Under load the picture may still be moving.
    """
    panel = page.get_by_role("dialog", name=f"About {name}")
    for _ in range(10):
        page.mouse.click(*lane.evaluate(PLACE, name))
        page.wait_for_timeout(300)
        if panel.is_visible():
            return
        page.keyboard.press("Escape")
    raise AssertionError(f"no panel of {name}")


def test_a_node_is_taken_away_and_put_back(app):
    with open_page(f"{app}/?{urlencode(ASKED)}") as page:
        answered(page)
        before = says(page)
        name = page.locator(".lane").first.evaluate(
            "lane => lane.lane.data.paths.map(one => lane.lane.board.path(one.key).steps)[0][2]"
        )
        page.mouse.click(*page.locator(".lane").first.evaluate(PLACE, name))
        page.get_by_role("button", name="Remove this and ask again").click()
        page.locator(".beside").wait_for(timeout=60_000)
        assert re.match(
            "Against before: (Same answer|No longer says|Now says)",
            page.locator(".beside").inner_text(),
        )
        assert "Without " in page.locator(".band").inner_text()
        expect(page).to_have_url(re.compile("edit="))
        page.reload()  # the address holds it
        page.locator(".beside").wait_for(timeout=60_000)
        page.get_by_role("button", name=f"Without {name}").click()
        page.locator(".beside").wait_for(state="detached", timeout=60_000)
        answered(page)
        assert says(page) == before and "edit=" not in page.url


def test_a_path_is_taken_away_by_its_row(app):
    with open_page(f"{app}/?{urlencode(ASKED)}") as page:
        answered(page)
        row = page.locator(".paths .row").first
        text = row.locator(".steps").inner_text()
        row.click()
        page.get_by_role("button", name="Remove this path and ask again").click()
        page.locator(".beside").wait_for(timeout=60_000)
        settle(page)
        assert text not in [one.inner_text() for one in page.locator(".paths .row .steps").all()]


def test_a_node_is_merged_into_one_that_is_clicked_then_renamed_and_both_are_undone(app):
    with open_page(f"{app}/?{urlencode(ASKED)}") as page:
        answered(page)
        before, lane = says(page), page.locator(".lane").first
        plain = "lane => [...lane.lane.graph.nodes.values()].filter(one => one.role === 'plain').sort((a, b) => a.x - b.x).map(one => one.name)"
        one, *_, other = lane.evaluate(plain)
        open_panel(page, lane, one)
        page.get_by_role("button", name="Merge into").click()
        page.mouse.click(*lane.evaluate(PLACE, other))
        page.get_by_role("button", name=f"With {one} merged into {other}").wait_for(timeout=60_000)
        page.locator(".beside").wait_for(timeout=60_000)
        settle(page)
        open_panel(page, lane, other)
        page.get_by_role("button", name="Rename").click()
        page.get_by_label("New name").fill("<b>New</b>")
        page.get_by_label("New name").press("Enter")
        page.get_by_role("button", name=f"With {other} renamed to <b>New</b>").wait_for(
            timeout=60_000
        )
        expect(page.locator(".band")).to_contain_text("<b>New</b>")
        assert page.url.count("edit=") == 2
        page.get_by_role("button", name="Undo all").click()
        page.locator(".beside").wait_for(state="detached", timeout=60_000)
        answered(page)
        assert says(page) == before and "edit=" not in page.url


def test_what_a_link_takes_away_and_is_not_there_is_said_be_it_nonsense(app):
    edits = [Edit("node", ("Nobody at all",)).to_text(), "nonsense"]
    with open_page(f"{app}/?{urlencode(ASKED | {'edit': edits}, doseq=True)}") as page:
        page.locator(".beside").wait_for(timeout=90_000)
        assert (
            "Its graph has no “Nobody at all” and “nonsense”, so nothing changed."
            in page.locator(".beside").inner_text()
        )
        assert page.get_by_role("button", name="Without").count() == 2


def test_without_its_start_the_question_says_why_it_cannot_be_asked(app):
    with open_page(
        f"{app}/?{urlencode(ASKED | {'edit': Edit('node', ('Jon Hamm',)).to_text()})}"
    ) as page:
        page.get_by_text("Every entity that the question starts at was removed").wait_for(
            timeout=60_000
        )
        page.get_by_role("button", name="Without Jon Hamm").click()
        answered(page)
