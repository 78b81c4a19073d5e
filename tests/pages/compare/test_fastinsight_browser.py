"""FastInsight is replayed batch by batch in a real browser.

It is ordered anew by alpha and beta beside what was asked.
"""

from __future__ import annotations

import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from tests.pages.compare.three_documents import NAME, QUESTION, made
from tests.server import open_page

pytestmark = pytest.mark.usefixtures("browser")
LINE = (
    "BuiltGraph(build='links-terms') >> EmbedQuery() >> VectorNodes(keep=1) >> GraphRerank() >> "
    "Loop(body=ExpandNodes(keep=1) >> GraphRerank(), budget=3) >> DocumentsOfNodes(keep=2) >> AnswerFromTables()"
)


@pytest.fixture
def page(app):
    made()
    with open_page(
        f"{app}/?corpus={NAME}&llm=0&reader=0&lane={quote_plus(LINE)}&q={quote_plus(QUESTION)}"
    ) as opened:
        expect(opened.locator(".lane[data-status=done]")).to_have_count(1, timeout=60_000)
        yield opened


def test_each_batch_is_replayed_with_what_came_in(page):
    bar = page.get_by_role("group", name="Replay")
    frame = bar.get_by_role("slider")
    frames = int(frame.get_attribute("max"))
    assert frames >= 3  # the first search, then two rounds of one document each
    for _ in range(frames):  # the first press begins
        bar.get_by_role("button", name="Next frame").click()
        expect(bar.locator(".frame-words")).to_contain_text("read")
    assert int(frame.input_value()) == frames - 1
    expect(page.locator(".frame-list .hit-title, .frame-list li")).not_to_have_count(0)
    page.locator(".frame-list .more").click()
    expect(page.locator(".frame-list")).to_be_hidden()


def test_alpha_orders_anew_and_a_lane_of_its_own_has_it(page):
    page.get_by_role("button", name="Alpha, beta").click()
    own = page.get_by_role("button", name="Add as a new method")
    expect(own).to_be_disabled()
    alpha = page.get_by_role("slider", name=re.compile("alpha"))
    alpha.press("End")
    expect(alpha).to_have_value("1")
    expect(own).to_be_enabled()
    own.click()
    expect(page.locator(".lane[data-status=done]")).to_have_count(2, timeout=60_000)
    expect(page).to_have_url(re.compile(r"alpha%3D1\.0"))
