"""A file of edges and a file of nodes are dropped on Graphs in a real browser.

They are looked at, built, asked, and taken out again.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.graph.building.build import build
from tests.server import CHROMIUM, open_page, server, settle
from tests.triples import read_triples

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")
NODES = 'Id,Label,Type,Description\n1,Anna,person,"<b>A sailor</b> of Turku."\n2,The Gull,ship,Old.\n3,Turku,city,\n4,Nobody,person,\n'
EDGES = "Source,Target,Type,Id,Label,Weight\n1,2,Directed,0,sails,2.5\n2,3,Directed,1,built in,1\n2,9,Directed,2,near,1\n"
DROP = """([name, text]) => {
    const files = new DataTransfer(), zone = document.querySelector('[data-testid=stFileUploaderDropzone]');
    for (let place = 0; place < name.length; place++) files.items.add(new File([text[place]], name[place], {type: 'text/csv'}));
    for (const kind of ['dragenter', 'dragover', 'drop']) zone.dispatchEvent(new DragEvent(kind, {dataTransfer: files, bubbles: true}));
}"""


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    home = tmp_path_factory.mktemp("drop-browser")
    build([("A", "r", "B")], home / "graphs" / "small", "small", "both")
    with server(HOPSCOPE_HOME=str(home)) as (address, _):
        yield address


def test_edges_and_nodes_are_dropped_looked_at_built_asked_and_taken_out(address, tmp_path):
    with open_page(f"{address}/graphs?graph=small") as page:
        page.get_by_role("tab", name="Add").click(timeout=60_000)
        page.locator("[data-testid=stFileUploaderDropzone]").first.wait_for()
        page.evaluate(DROP, [["ships.csv", "nodes.csv"], [EDGES, NODES]])
        page.get_by_text("known by “id”, called by “label”").wait_for(timeout=60_000)
        settle(page)
        page.get_by_role("button", name="Build the graph").click()
        page.get_by_role("button", name="Open it").click(timeout=60_000)
        expect(page.get_by_role("heading", name="ships")).to_be_visible(timeout=60_000)
        page.get_by_role("tab", name="Walk").click()
        page.get_by_role("button", name="Anna").first.click()
        page.get_by_text("<b>A sailor</b> of Turku.").wait_for(timeout=60_000)
        settle(page)
        page.get_by_role("tab", name="Shape").click()
        with page.expect_download() as got:
            page.get_by_role("button", name="Download").click()
        written = got.value.path().rename(tmp_path / got.value.suggested_filename)
        assert written.name == "ships.graphml" and ("Anna", "sails", "The Gull") in list(
            read_triples(written)
        )
        page.get_by_role("link", name="Compare").click()
        question = page.get_by_placeholder("Ask a question")
        question.first.fill("Where was The Gull built in?", timeout=60_000)
        question.first.press("Enter")
        page.get_by_text("Answer read from the graph (no AI)").first.wait_for(timeout=120_000)
        page.locator(".answer, .lane").get_by_text("Turku").first.wait_for(timeout=120_000)
