"""Compare on documents is left and come back to by the browser's Back, as it is on triples."""

from __future__ import annotations

import json
import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from tests.pages.compare.three_documents import LINE, NAME, QUESTION, WIDE, made
from tests.server import open_page

pytestmark = pytest.mark.usefixtures("browser")
OTHER = "Which station plays songs by night?"
LANES = "".join(f"&lane={quote_plus(line)}" for line in (LINE, WIDE))
TRIPLES = ("which person directed the movie Inception", "when was Inferno released")
KINDS = {
    "documents": (f"corpus={NAME}&llm=0&reader=0{LANES}", (QUESTION, OTHER)),
    "triples": ("graph=metaqa&llm=0&lane=lego-1&lane=lego-10", TRIPLES),
}


def bar(page):
    return page.get_by_role("textbox", name="Question")


def ask(page, question: str) -> None:
    bar(page).fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(f"[data-question={json.dumps(question)}]").wait_for(timeout=100_000)


def done(page, question: str) -> None:
    page.locator(f"[data-question={json.dumps(question)}] .lane[data-status=done]").nth(1).wait_for(
        timeout=100_000
    )
    expect(bar(page)).to_have_value(question)


def leave_for(page, name: str) -> None:
    page.get_by_test_id("stSidebarNavLink").filter(has_text=re.compile(name)).click()
    page.wait_for_url(re.compile(name.lower()), timeout=100_000)
    expect(page.get_by_role("heading", level=2)).not_to_have_count(0, timeout=100_000)
    # Streamlit makes an entry of a page whose run begins after the person went back from it, within a tenth of a second
    page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=100_000)


@pytest.mark.parametrize("kind", KINDS)
def test_back_goes_through_what_was_asked(app, kind):
    made()
    address, (first, second) = KINDS[kind]
    with open_page(f"{app}/?{address}") as page:
        bar(page).wait_for(timeout=60_000)
        ask(page, first)
        ask(page, second)  # not waiting for the first one's lanes
        left_for = "Texts" if kind == "documents" else "Graphs"
        leave_for(page, left_for)
        expect(page).to_have_url(re.compile("texts[?]corpus=" if kind == "documents" else "graphs"))
        page.wait_for_timeout(500)
        page.go_back()
        done(page, second)
        page.go_back()
        done(page, first)
        page.go_back()
        expect(bar(page)).to_have_value("", timeout=100_000)
        page.get_by_role(
            "heading", name="What graph retrieval finds, and where it goes wrong"
        ).wait_for()
        page.go_forward()
        done(page, first)
        assert not page.get_by_test_id("stException").count()


def test_a_page_that_is_come_to_by_a_click_has_its_address(app):
    made()
    with open_page(f"{app}/?{KINDS['documents'][0]}&q={quote_plus(QUESTION)}") as page:
        done(page, QUESTION)
        leave_for(page, "Texts")
        page.get_by_test_id("stSidebarNavLink").filter(has_text=re.compile("Compare")).click()
        done(page, QUESTION)
        expect(page).to_have_url(re.compile("q=Which"))


def test_a_saved_case_is_asked_again_of_its_documents_where_a_visit_begins_with_it(app):
    made()
    with open_page(f"{app}/?{KINDS['documents'][0]}&q={quote_plus(QUESTION)}") as page:
        done(page, QUESTION)
        page.get_by_role("button", name="Save", exact=False).first.click()
        page.get_by_role("button", name="Save as case").click()
        page.get_by_text("Open it on Cases").click()
        page.wait_for_url(re.compile("cases[?]case="), timeout=60_000)
        address = page.url
    with open_page(address) as page:
        page.get_by_text("Ask again").click(timeout=100_000)
        done(page, QUESTION)
        expect(page).to_have_url(re.compile(f"corpus={NAME}"))
        expect(page.get_by_text("Three documents").first).to_be_visible()
