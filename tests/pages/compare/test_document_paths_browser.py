"""Paths on documents, and hits on triples, are shown in a real browser.

They are shown on the page of Compare, presented, and replayed hop by hop.
"""

from __future__ import annotations

from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from core.corpus import write_corpus
from core.corpus.catalogue import corpora_folder
from tests.pages.board.test_text_paths import ASKED, CHAIN, DOCUMENTS
from tests.server import open_page

pytestmark = pytest.mark.usefixtures("browser")
BEAM = CHAIN.replace(
    "KhopPaths(hops=5)", "EgoNetwork(hops=2) >> BeamSearch(hops=2, width=4, model='bm25')"
)
PASSAGES = "BuiltGraph(build='chunks') >> SparseChunks(keep=2)"


@pytest.fixture(scope="module")
def address(app):
    write_corpus(corpora_folder() / "uncles", DOCUMENTS, sets={"asked": ("Asked", (ASKED,))})
    lanes = "".join(f"&lane={quote_plus(line)}" for line in (CHAIN, BEAM, PASSAGES))
    return f"{app}/?corpus=uncles&llm=0&reader=0{lanes}&q={quote_plus(ASKED.text)}"


@pytest.mark.parametrize("width", [1280, 800])
def test_paths_come_first_and_tell_their_fate_in_every_lane(address, width):
    with open_page(address) as page:
        page.set_viewport_size({"width": width, "height": 1000})
        lanes = page.locator(".lane[data-status=done]")
        expect(lanes).to_have_count(3, timeout=60_000)
        chain = lanes.nth(0)
        expect(chain.locator(".hit-tab")).to_have_text(
            ["paths 1", "passages 0", "entities 3", "relations 2"]
        )
        row = chain.locator(".paths .row")
        expect(row.locator("b")).to_have_text(["Fred", "Scrooge", "Marley"])
        row.click()
        expect(chain.locator(".fate")).to_have_text("found: rank 1")
        expect(lanes.nth(2).locator(".fate")).to_have_text(
            "never reached: this method finds no paths"
        )
        expect(lanes.nth(1).locator(".fate")).not_to_have_text("")
        chain.locator(".hit-tab", has_text="entities").click()
        expect(chain.locator(".hit")).to_have_count(3)
        expect(row).to_be_hidden()


def test_the_hops_of_a_beam_are_replayed(address):
    with open_page(address) as page:
        beam = page.locator(".lane[data-status=done]").nth(1)
        expect(beam).to_be_visible(timeout=60_000)
        beam.get_by_role("button", name="Next frame").click()
        expect(beam.locator(".frame-list h4")).to_contain_text("hop 1")
        expect(beam.locator(".frame-list .row")).not_to_have_count(0)
        expect(beam.locator(".hit-tabs")).to_be_hidden()
        beam.get_by_role("button", name="Show the kept paths").click()
        expect(beam.locator(".paths .row").first).to_be_visible()


def test_paths_are_presented(address):
    with open_page(f"{address}&present=1") as page:
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(page.locator(".lane[data-status=done]")).to_have_count(3, timeout=60_000)
        # the picture comes first; a list that is cut says how many more there are
        expect(page.locator(".paths .row").first).to_be_in_viewport(ratio=0.5)


def test_hits_on_triples_have_tabs_beside_the_paths(app):
    line = quote_plus("NamesInQuestion(by='names') >> LinkNames() >> NeighbourRelations(few=2)")
    with open_page(
        f"{app}/?graph=metaqa&llm=0&reader=0&lane={line}&lane=lego-14&q=Kismet&entity=Kismet"
    ) as page:
        lanes = page.locator(".lane[data-status=done]")
        expect(lanes).to_have_count(2, timeout=60_000)
        expect(lanes.nth(0).locator(".hit-tab").last).to_contain_text("relations")
        lanes.nth(0).locator(".hit-tab", has_text="entities").click()
        expect(lanes.nth(0).locator(".hit-title")).to_have_text(["Kismet"])
        expect(lanes.nth(1).locator(".hit-tabs")).to_be_hidden()
