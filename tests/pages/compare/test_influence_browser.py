"""A real browser shows the items that an answer rests on.

Those of the graph reader's answer are there at once, with a bar at each path, drawn as text.
"""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.server import open_page

pytestmark = pytest.mark.usefixtures("browser")
LINE = "EgoNetwork(hops=2) >> ShortestPaths(hops=2)"
ASKED = {
    "q": "the films acted by Jon Hamm were directed by who",
    "e": "Jon Hamm",
    "lane": LINE,
    "llm": "0",
}


def test_what_the_graph_reader_rests_on_is_there_at_once_with_a_bar_at_each_path(app):
    with open_page(f"{app}/?{urlencode(ASKED)}") as page:
        said = page.locator(".said .influence")
        said.wait_for(timeout=90_000)
        expect(said).to_contain_text("Answer read from the graph (no AI): ")
        expect(said).to_contain_text("no longer says “")
        bars = page.locator(".paths .row:visible .weight")
        assert bars.count() == page.locator(".paths ol .row:visible").count() > 0
        # no language model answered
        assert page.get_by_role("button", name="Measure what").count() == 0
        text = bars.first.inner_text()
        assert text.split(" ")[0].isdecimal() and " %" in text
        chip = said.locator(".needed-item").first
        chip.click()
        assert chip.get_attribute("aria-pressed") == "true"
        assert (
            page.locator(
                f".paths .row[data-path='{chip.get_attribute('data-path')}']"
            ).get_attribute("aria-pressed")
            == "true"
        )
