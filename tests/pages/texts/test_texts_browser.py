"""The Texts screen works in a real browser.

A build is started and watched, and an entity is opened. All is there after a visit elsewhere.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import TimeoutError

from core.builds import find_build, run_build
from core.corpus import new_folder, open_corpus, write_corpus
from pages.parts.shared.session import engine
from tests.core.evaluation.advice.kit import documents
from tests.pages.shared.test_accessibility_browser import serious, serious_in_both
from tests.pages.texts.texts_kit import make
from tests.real_models import models_without_chat
from tests.server import CHROMIUM, open_page, server, settle

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
        models = models_without_chat(home / "models")
        with server(HOPSCOPE_HOME=str(home), HOPSCOPE_MODELS=models) as (address, _):
            yield address


@pytest.fixture(scope="module")
def passages(address):
    """A corpus with a graph of its passages, which needs no encoder."""
    corpus = open_corpus("small")
    run_build(corpus, "passage-names", engine().models)
    return corpus


@pytest.fixture(scope="module")
def built(address, passages):
    """The page with the table of that graph, which each test leaves there."""
    with open_page(f"{address}/texts?corpus=small") as page:
        page.get_by_role("radio", name="Table").click(timeout=60_000)
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


def check(page, part: str) -> None:
    """Nothing serious stands in the way of anybody, and no part is wider than a narrow window."""
    assert not serious_in_both(page), part
    page.set_viewport_size({"width": 800, "height": 900})
    settle(page)
    assert not page.evaluate(WIDER), part
    page.set_viewport_size({"width": 1280, "height": 900})


def test_nothing_serious_stands_in_the_way_of_anybody(built):
    for part in ("Documents", "Add", "Graph"):
        assert open_part(built, part)
        check(built, part)
    change_and_take_back(built)
    check(built, "the steps")
    built.keyboard.press("Escape")


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
    check(built, "an entity")


def change_and_take_back(page) -> None:
    """Take the first step of the build out by keys, and back; the steps stay in sight."""
    page.get_by_role("button", name="Other ways to build…").click()
    page.get_by_role("radio", name="Expert").click()
    page.get_by_text("Steps of this build").click()
    page.locator(".hk .brick .open").first.focus()
    page.keyboard.press("Delete")
    page.get_by_text("These steps make no graph").wait_for(timeout=30_000)
    assert "nothing before it cuts any" in page.locator(".hk .fault").first.inner_text()
    page.keyboard.press("Control+z")
    page.get_by_text("These steps make no graph").wait_for(state="hidden", timeout=30_000)
    page.locator(".hk .entry", has_text="Chunks by sentences").wait_for(timeout=30_000)


def part_choice(page, name: str):
    """The choice of a part, in the head of the page."""
    parts = page.get_by_role("radiogroup", name="What is shown")
    return parts.get_by_role("radio", name=name, exact=True)


def open_part(page, name: str) -> bool:
    """Choose what is shown; return whether it is after one click."""
    choice = part_choice(page, name)
    choice.click()
    settle(page)
    return choice.get_attribute("aria-checked") == "true"


def test_each_click_on_a_part_opens_it(address):
    """The first one while the page still loads."""
    with open_page(f"{address}/texts?corpus=small") as page:
        part_choice(page, "Documents").wait_for(timeout=60_000)
        for name in ("Documents", "Graph", "Add", "Documents", "Graph"):
            assert open_part(page, name)
        title = page.get_by_role("heading", level=2).first  # it stands at the left
        row = page.locator(".st-key-texts-head")
        assert title.bounding_box()["x"] - row.bounding_box()["x"] < 4


def test_the_open_part_is_open_again_after_a_visit_elsewhere(address):
    with open_page(f"{address}/texts?corpus=small") as page:
        part_choice(page, "Documents").wait_for(timeout=60_000)
        for name in ("Add", "Graph", "Documents"):
            assert open_part(page, name)
        page.get_by_role("link", name="Models").click()
        page.get_by_role("heading", name="Models").first.wait_for(timeout=60_000)
        page.get_by_role("link", name="Texts").click()
        page.get_by_role("heading", name="small texts").first.wait_for(timeout=60_000)
        settle(page)
        assert part_choice(page, "Documents").get_attribute("aria-checked") == "true"
        assert open_part(page, "Graph")


CARDS = ("card-graph", "card-advice", "card-questions")


def test_the_cards_stand_right_of_the_graph_or_below_it(address, passages):
    """Nothing is over anything else, or wider than the window. A question is asked from there."""
    with open_page(f"{address}/texts?corpus=small") as page:
        page.locator(".st-key-card-questions").wait_for(timeout=60_000)
        for width in (390, 800, 1920, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            settle(page)
            graph, *boxes = (
                page.locator(f".st-key-{key}").bounding_box() for key in ("texts-view", *CARDS)
            )
            for box in boxes:
                if width > 900:
                    assert box["x"] >= graph["x"] + graph["width"]
                    assert graph["width"] > 1.5 * box["width"]
                else:
                    assert box["y"] >= graph["y"] + graph["height"]
            for upper, lower in zip(boxes, boxes[1:]):
                assert lower["y"] >= upper["y"] + upper["height"]
            assert not page.evaluate(WIDER), width
        page.get_by_role("button", name="Ask", exact=True).click()
        page.wait_for_url("**corpus=small**", timeout=60_000)
        page.get_by_text("small texts").first.wait_for(timeout=60_000)
        settle(page)
        assert (
            "/texts" not in page.url
            and page.get_by_placeholder("Ask a question", exact=False).first.is_visible()
        )


def press(page, name: str, within=None) -> None:
    """Go to a button by Tab, and press it."""
    wanted = (within or page).get_by_role("button", name=name).first
    wanted.wait_for(timeout=60_000)
    settle(page)
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("node => node === document.activeElement"):
            break
    assert wanted.evaluate("node => node === document.activeElement"), name
    page.keyboard.press("Enter")


def go_to_radio(page) -> None:
    """Go to the list of builds by Tab, unless the focus is there."""
    for _ in range(40):
        if page.evaluate("document.activeElement.matches('[role=dialog] input[type=radio]')"):
            return
        page.keyboard.press("Tab")
    raise AssertionError("no radio")


def test_a_graph_is_built_and_looked_at_by_keys_alone(address):
    """The way that needs no encoder is chosen in the dialog; then names are opened for review."""
    write_corpus(new_folder("keys"), documents(4), "Keys")
    with open_page(f"{address}/texts?corpus=keys") as page:
        press(page, "Other ways to build…")
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("radio", name="Passage graph").wait_for(timeout=60_000)
        settle(page)
        for _ in range(5):
            if dialog.get_by_role("radio", name="Passage graph").is_checked():
                break
            go_to_radio(page)
            page.keyboard.press("ArrowDown")
            settle(page)
        assert dialog.get_by_role("radio", name="Passage graph").is_checked()
        press(page, "Build a graph", dialog)
        page.get_by_role("radio", name="Picture").wait_for(timeout=120_000)
        press(page, "How it was built")
        page.get_by_role("button", name="Back to the graph").wait_for(timeout=60_000)
        settle(page)
        assert not page.evaluate("document.querySelector('[role=dialog]')")


def test_names_are_reviewed_by_keys_alone(address):
    corpus = write_corpus(new_folder("named"), documents(4), "Named")
    line = "TokenChunks() >> NamesAndTerms() >> ResolveNames() >> Merge()"  # without vectors
    run_build(corpus, find_build(line), engine().models)
    with open_page(f"{address}/texts?corpus=named") as page:
        press(page, "Review names")
        page.get_by_text("0 suggestions").wait_for(timeout=60_000)


def test_whether_a_graph_is_needed_is_answered_with_one_button(address):
    """One button leads to the answer, and on to the figures that it rests on.

    The answer is there still after the way back.
    """
    write_corpus(new_folder("coast"), documents(4), "The coast")
    with open_page(f"{address}/texts?corpus=coast") as page:
        page.get_by_role("button", name="Find out…").click(timeout=60_000)
        page.get_by_role("button", name="Find out", exact=True).click(timeout=60_000)
        page.get_by_text("All figures and questions").wait_for(timeout=300_000)
        settle(page)
        card = page.locator(".st-key-card-advice").inner_text()
        assert "for questions like these" in card or "helps" in card
        assert page.get_by_text("These are made questions, not yours").is_visible()
        assert not serious(page)
        page.get_by_text("All figures and questions").click()
        page.get_by_text("7 methods on “").wait_for(timeout=60_000)
        page.get_by_role("link", name="Texts").click()
        page.locator(".st-key-card-advice").wait_for(timeout=60_000)
        page.set_viewport_size({"width": 390, "height": 900})
        settle(page)
        assert not page.evaluate(WIDER)
