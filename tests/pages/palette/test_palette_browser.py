"""The command palette opens on every page, finds everything by best match, and goes there."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from core.methods.catalogue import delete_method, save_method
from core.operators.text import parse_line
from tests.server import open_page, settle

pytestmark = pytest.mark.usefixtures("browser")
PAGES = ("Compare", "Build", "Texts", "Graphs", "Indexes", "Evaluate", "Cases", "Models")
QUESTION = "who directed the film Inception"
LANES = "?llm=0&lane=lego-1&lane=chain-ranking"
ASKED = f"{LANES}&q=which+person+directed+the+movie+Inception"
LINE = "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep=5) >> Answer()"
HOSTILE = "<img src=x onerror=\"document.title='taken'\"> & *method*"


@pytest.fixture
def compare(app):
    """Yield Compare with two finished lanes."""
    with open_page(app + ASKED) as page:
        expect(page.locator(".lane[data-status=done]")).to_have_count(2, timeout=120_000)
        settle(page)
        yield page


def search(page, words: str):
    """Open the palette, type words, and return the first row once its list is there."""
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search everything")
    expect(field).to_be_focused()
    field.fill(words)
    expect(page.locator(".command-palette .status")).to_have_text(
        re.compile("match"), timeout=60_000
    )
    return page.locator(".command-palette [role=option]").first


def test_it_opens_on_each_page_without_a_run(app):
    """The graph is a small one, whose map is soon laid out."""
    with open_page("about:blank") as page:
        page.add_init_script(
            "const send = WebSocket.prototype.send; window.sent = 0;"
            " WebSocket.prototype.send = function (...all) { window.sent += 1; send.apply(this, all); };"
        )
        page.goto(f"{app}/?graph=nations&llm=0&lane=lego-1")
        for name in PAGES:
            if name != "Compare":
                page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()
                page.wait_for_url(re.compile(f"/{name.lower()}"))
            opens_without_a_run(page, name)


def opens_without_a_run(page, name: str) -> None:
    """Open the palette by its button, and close it; the page sends nothing meanwhile."""
    page.locator(".palette-hint").wait_for(timeout=120_000)
    page.locator(".command-palette").wait_for(state="attached", timeout=120_000)
    # A map that is being laid out, and answers that are being followed, ask for their progress.
    if name == "Graphs":
        page.locator(".map canvas").wait_for(timeout=120_000)
    expect(page.locator("[data-testid=stProgress]")).to_have_count(0, timeout=120_000)
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=120_000)
    settle(page)
    before = page.evaluate("window.sent")
    hint = page.get_by_role("button", name="Search everything")
    hint.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".command-palette")).to_be_visible()
    expect(page.get_by_role("option", name=re.compile("^Compare"))).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".command-palette")).to_be_hidden()
    expect(hint).to_be_focused()
    assert page.evaluate("window.sent") == before > 0, name


def test_an_exact_name_comes_first_and_enter_adds_a_method_that_is_not_compared_yet(compare):
    search(compare, "Chain ranking")
    compare.keyboard.press("Enter")
    compare.get_by_text("Method 2 does this already.").wait_for()
    expect(compare.locator(".lane")).to_have_count(2)
    first = search(compare, "no. 10")
    expect(first).to_have_text(re.compile("No. 10"))
    expect(first).to_have_attribute("aria-selected", "true")
    compare.keyboard.press("Enter")
    expect(compare.locator(".lane[data-status=done]")).to_have_count(3, timeout=120_000)
    expect(compare.locator(".lane h3 .number").last).to_have_text("No. 10")


def test_arrows_move_round_a_method_opens_in_build_and_is_added_from_another_page(compare):
    search(compare, "no. 10")
    field = compare.get_by_role("combobox", name="Search everything")
    compare.keyboard.press("ArrowDown")
    second = compare.locator(".command-palette [role=option]").nth(1)
    expect(second).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", second.get_attribute("id"))
    for key in ("ArrowUp", "ArrowUp"):
        compare.keyboard.press(key)
    expect(compare.locator(".command-palette [role=option]").last).to_have_attribute(
        "aria-selected", "true"
    )
    compare.keyboard.press("ArrowDown")
    compare.keyboard.press("Control+Enter")
    compare.wait_for_url(re.compile("/build.*from=lego-10$"), timeout=60_000)
    compare.locator(".brick").first.wait_for(timeout=60_000)
    settle(compare)
    to_models(compare)
    search(compare, "no. 10")
    compare.keyboard.press("Enter")
    expect(compare.locator(".lane[data-status=done]")).to_have_count(3, timeout=120_000)


def test_pages_questions_and_graphs_are_reached_and_the_comparison_stays(compare):
    question = compare.get_by_label("Question", exact=True)
    done = compare.locator(".lane[data-status=done]")
    to_models(compare)
    search(compare, "compare")
    compare.keyboard.press("Enter")
    expect(done).to_have_count(2, timeout=60_000)
    expect(question).to_have_value(re.compile("Inception"))
    to_models(compare)
    search(compare, QUESTION)
    compare.get_by_role("option", name=re.compile("^Ask “")).click()
    expect(question).to_have_value(QUESTION, timeout=60_000)
    expect(done).to_have_count(2, timeout=120_000)
    first = search(compare, "the director of Inception was")  # of a set, with known answers
    expect(first).to_contain_text("Question", timeout=60_000)
    compare.keyboard.press("Enter")
    expect(question).to_have_value("the director of Inception was", timeout=60_000)
    expect(done).to_have_count(2, timeout=120_000)
    expect(compare.locator(".answers .chip")).to_contain_text("Christopher Nolan")
    search(compare, "nations")
    compare.keyboard.press("Enter")
    expect(compare.get_by_role("combobox", name="Graph or documents")).to_have_value(
        re.compile("Nations"), timeout=60_000
    )


def to_models(page) -> None:
    search(page, "models")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/models$"), timeout=60_000)
    settle(page)


def test_a_half_typed_question_is_not_sent_by_opening_and_it_stays_open_while_one_runs(compare):
    box = compare.get_by_label("Question", exact=True)
    box.fill("who directed")
    compare.keyboard.press("Control+k")
    expect(compare.locator(".command-palette")).to_be_visible()
    compare.keyboard.press("Escape")
    expect(box).to_be_focused()
    settle(compare)
    assert "Inception" in compare.url and "who+directed&" not in compare.url
    expect(box).to_have_value("who directed")
    box.press_sequentially(" Inferno")
    box.press("Enter")
    compare.wait_for_url(re.compile("who\\+directed\\+Inferno"), timeout=60_000)
    settle(compare)
    box.fill(QUESTION)
    box.press("Enter")
    compare.keyboard.press("Control+k")
    field = compare.get_by_role("combobox", name="Search everything")
    field.fill("cases")
    compare.wait_for_url(re.compile("film"), timeout=60_000)
    expect(compare.locator(".lane[data-status=done]")).to_have_count(2, timeout=120_000)
    settle(compare)
    expect(field).to_be_focused()
    expect(field).to_have_value("cases")


def test_it_is_no_wider_than_a_phone(app):
    with open_page(f"{app}/models", width=390) as page:
        page.locator(".command-palette").wait_for(state="attached", timeout=120_000)
        settle(page)
        page.keyboard.press("Control+k")
        for part in (page.locator(".st-key-palette-layer"), page.locator(".command-palette")):
            box = part.bounding_box()
            assert 0 <= box["x"] and box["x"] + box["width"] <= 390
        assert page.locator(".command-palette").bounding_box()["width"] > 340


def test_in_the_presentation_it_opens_cases_and_asks_and_stays(app):
    with open_page(f"{app}/?present=1&llm=0") as page:
        page.locator(".lane[data-status=done]").first.wait_for(timeout=120_000)
        settle(page)
        question = page.locator(".presenter h1").inner_text()
        page.keyboard.press("Control+k")
        expect(page.locator(".command-palette")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(".command-palette")).to_be_hidden()
        expect(page.locator(".presenter h1")).to_have_text(question)
        search(page, QUESTION)
        page.get_by_role("option", name=re.compile("^Ask “")).click()
        expect(page.locator(".presenter h1")).to_have_text(QUESTION, timeout=60_000)
        expect(page.locator(".main-repair")).to_have_count(0)  # that of the case went with it
        assert "present=1" in page.url


def test_titles_are_drawn_as_text(app):
    method = save_method(HOSTILE, parse_line(LINE))
    try:
        with open_page(app) as page:
            page.locator(".command-palette").wait_for(state="attached", timeout=120_000)
            settle(page)
            first = search(page, "onerror")
            expect(first.locator(".title")).to_have_text(HOSTILE)
            assert not page.locator(".command-palette img").count() and "taken" not in page.title()
    finally:
        delete_method(method.id)


def test_letters_with_accents_and_a_set_that_is_missing_do_not_stop_it(app):
    with open_page(app) as page:
        page.route("**/command-palette.json*", lambda route: route.fulfill(status=500, body="no"))
        page.locator(".command-palette").wait_for(state="attached", timeout=120_000)
        settle(page)
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Search everything").fill("évaluate")
        expect(page.locator(".command-palette .status")).to_have_text(
            "The list could not be loaded."
        )
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/evaluate"), timeout=60_000)
