"""A corpus is asked in a real browser.

What documents hold is text, gold passages are starred, and a hit tells of every lane.
"""

from __future__ import annotations

import json
import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from pages.parts.board.html_report import report_html
from tests.pages.compare.three_documents import LATE, LINE, NAME, QUESTION, WIDE, made
from tests.server import open_page

pytestmark = pytest.mark.usefixtures("browser")
LANES = "".join(f"&lane={quote_plus(line)}" for line in (LINE, WIDE))


@pytest.fixture
def page(app):
    made()
    with open_page(f"{app}/?corpus={NAME}&llm=0&reader=0{LANES}") as opened:
        yield opened


def test_a_question_to_three_documents(page):
    page.get_by_role("textbox", name="Question").fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    lanes = page.locator(f"[data-question={json.dumps(QUESTION)}] .lane[data-status=done]")
    expect(lanes).to_have_count(2, timeout=60_000)
    expect(lanes.nth(1).get_by_role("tab")).to_have_text("passages 3")
    women = lanes.nth(1).locator(".hit", has_text=LATE)
    expect(women).to_contain_text("<script>document.title = 'gone'</script> with {braces} and {0}.")
    expect(women.locator(".gold")).to_have_text("★ evidence")
    expect(women.locator("mark", has_text="started")).to_have_count(1)
    expect(lanes.nth(1).locator("mark.known").first).to_have_text("Arthur's Magazine")
    assert page.title() != "gone"
    expect(lanes.nth(0).locator(".lost-hits")).to_contain_text("rank 2; only the top 1 is kept")
    women.get_by_role("button", name=LATE).click()
    expect(lanes.nth(0).locator(".fate")).to_have_text("rank 2; only the top 1 is kept")
    expect(lanes.nth(1).locator(".fate")).to_have_text("found: rank 2")
    expect(page).to_have_url(re.compile(f"q=Which.*corpus={NAME}|corpus={NAME}.*q=Which"))
    women.get_by_role("button", name="Remove this passage and ask again").click()
    undo = page.get_by_role("button", name=re.compile(LATE)).first
    expect(undo).to_be_visible(timeout=60_000)
    expect(page).to_have_url(re.compile("women"))
    expect(lanes).to_have_count(2, timeout=60_000)
    expect(lanes.nth(1).get_by_role("tab")).to_have_text("passages 2")


def test_a_title_that_heads_its_text_is_not_repeated(browser, tmp_path):
    titled = [("Radio City\nA station in India.", "A station in India."),
              ("Radio City: a station.", "a station."),
              ("Radio City is a station.", "Radio City is a station.")]  # fmt: skip
    rows = [
        {"key": f"chunk {i}", "title": "Radio City", "text": text, "score": 1.0,
         "sources": [{"title": "Radio City"}]}
        for i, (text, _) in enumerate(titled)
    ]  # fmt: skip
    lane = {"id": "lane-0", "title": "One", "status": "done", "retrieved": True, "paths": None}
    lane["hits"] = [{"kind": "passage", "rows": rows}]
    empty = {"layout": {"nodes": [], "edges": []}, "paths": {}, "fates": {}}
    payload = {"question": "?", "documents": True, "lanes": [lane], **empty}
    file = tmp_path / "report.html"
    file.write_text(report_html(payload, "?", {}), encoding="utf-8")
    opened = browser.new_page()
    opened.goto(file.as_uri())
    texts = opened.locator(".hit-text")
    expect(texts).to_have_text([text for _, text in titled])
    expect(opened.locator(".hit-source")).to_have_count(0)


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_what_was_retrieved_is_presented_on_one_screen(page, app, width, height):
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{app}/?corpus={NAME}&llm=0{LANES}&q={quote_plus(QUESTION)}&present=1")
    lanes = page.locator(".lane[data-status=done]")
    expect(lanes).to_have_count(2, timeout=60_000)
    parts = "[document.scrollingElement, ...document.querySelectorAll('[data-testid=stMain]')]"
    page.wait_for_function(f"() => {parts}.every(one => one.scrollHeight <= one.clientHeight + 1)")
    for i, titles in enumerate((["Arthur's Magazine"], ["Arthur's Magazine", LATE, "Radio City"])):
        lane = lanes.nth(i)
        assert lane.locator(".hit-rows:not(.lost-hits) .hit-title").all_text_contents() == titles
        for part in (
            lane.locator(".funnel"),
            lane.locator(".hit .gold").first,
            lane.locator(".hit").last,
            lane.locator(".said"),
        ):
            expect(part).to_be_in_viewport(ratio=1.0)
    assert lanes.first.locator(".graph").is_visible()
    expect(lanes.nth(0).locator(".said")).to_contain_text(
        "Never read “First for Women”: it had rank 2, and only the top 1 is kept."
    )
