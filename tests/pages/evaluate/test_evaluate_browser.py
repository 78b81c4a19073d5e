"""A real browser shows an evaluation on three documents.

A band of questions is pressed and lists them. A repair is tried and evaluated.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlparse

import pytest

from core.engine import Engine
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.store import Store, evaluations_file
from core.methods.catalogue import find_method
from tests.pages.compare.three_documents import LINE, NAME, QUESTION, WIDE, made
from tests.pages.shared.test_accessibility_browser import serious, serious_in_both
from tests.server import open_page, server, settle

pytestmark = pytest.mark.usefixtures("browser")
# names as they are typed, and the chips that they choose
TYPED_METHODS = {
    "passages by meaning": "Passages by meaning (VanillaRAG)",
    "passages by words": "Passages by words (BM25 passages)",
}
TAB = "/evaluate?run=1&part="


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """Yield the address of an app of its own with one run.

    One line of the run keeps one passage of the two that count, and the other keeps three.
    """
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOPSCOPE_HOME", str(home))
        made()
        engine, store = Engine(), Store(evaluations_file())
        job = evaluate(
            engine,
            store,
            make_plan(
                [find_method(LINE), find_method(WIDE)], "asked", None, engine.graph, model=False
            ),
        )
        assert job.wait(120) and not job.error and job.number == 1
        engine.evaluations.stop()
        store.close()
    with server(HOPSCOPE_HOME=str(home)) as (address, _):
        yield address


def test_a_band_is_pressed_and_lists_its_questions(evaluated):
    with open_page(f"{evaluated}{TAB}What+changed") as page:  # an address of a former tab
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        band = page.locator(".flow .band.won")
        band.wait_for(timeout=60_000)
        assert page.locator(".flow .label").inner_text() == "1 gained: no longer ranked too low"
        assert [one.inner_text() for one in page.locator(".flow .stage").all()] == [
            "not retrieved 1",
            "all evidence found 1",
        ]
        band.focus()
        page.keyboard.press("Enter")
        page.get_by_text(re.compile("^Why .+ loses them: ranked too low 1\\.$")).wait_for(
            timeout=30_000
        )
        listed = page.locator(".st-key-flow-questions")
        assert listed.get_by_text(QUESTION).count() == 1
        asked = parse_qs(
            urlparse(
                listed.get_by_role("link", name="Ask again on Compare").get_attribute("href")
            ).query
        )
        assert (
            asked["corpus"] == [NAME]
            and asked["lane"] == [repr(find_method(LINE).line), repr(find_method(WIDE).line)]
            and asked["q"] == [QUESTION]
        )
        assert page.locator(".flow .band.won[aria-pressed=true]").count() == 1
        assert not serious_in_both(page)
        listed.get_by_role("button", name="Open").click()
        page.locator(".lane[data-status=done]").nth(1).wait_for(timeout=60_000)
        page.get_by_role("button", name="The evaluation").click()
        page.locator(".flow .band.won").click()  # by the mouse, after coming back
        settle(page)
        assert (
            page.locator(".st-key-flow-questions").get_by_text(QUESTION).count() == 1
            and not problems
        )


def test_the_first_screen_of_a_result_overlaps_nowhere(evaluated):
    """Names, dots and costs of the plot keep to themselves, and nothing is wider than the page."""
    with open_page(f"{evaluated}/evaluate?run=1", width=390) as page:
        page.locator(".st-key-dot-plot .main-svg").first.wait_for(timeout=60_000)
        for width in (390, 800, 1440, 1920):
            page.set_viewport_size({"width": width, "height": 900})
            settle(page)
            boxes = page.locator(".st-key-dot-plot").evaluate(
                """box => [...box.querySelectorAll('.yaxislayer-above text, .annotation text, .textpoint text')]
                  .map(one => one.getBoundingClientRect()).map(b => [b.left, b.top, b.right, b.bottom])"""
            )
            assert len(boxes) >= 6  # two methods with their numbers and costs
            for index, (left, top, right, bottom) in enumerate(boxes):
                for other in boxes[index + 1 :]:
                    apart_x = right <= other[0] + 1 or other[2] <= left + 1
                    apart_y = bottom <= other[1] + 1 or other[3] <= top + 1
                    assert apart_x or apart_y, (width, boxes[index], other)
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            if width in (390, 1920):
                assert not serious_in_both(page), width


def test_a_repair_is_tried_and_evaluated_beside_the_others(evaluated):
    """The line that keeps one passage finds the other one further down.

    The change that keeps as many as that takes is evaluated with both lines.
    """
    with open_page(f"{evaluated}{TAB}Repairs") as page:
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.get_by_role("button", name="Try changes").click(timeout=60_000)
        page.get_by_text(re.compile("^Of 1 question .+ loses 1: ranked too low 1\\.$")).wait_for(
            timeout=120_000
        )
        page.get_by_text(re.compile("loses none of 1 question\\.$")).wait_for()
        change = page.get_by_text(
            re.compile(r"^Keep \d passages: brings 1 of 1 back, tested\.$")
        ).first
        change.wait_for()
        settle(page)
        assert not serious_in_both(page)
        page.reload()
        # what was found is there after a reload
        page.get_by_role("button", name="Evaluate with the others").first.click(timeout=60_000)
        page.get_by_role("heading", name="3 methods on “Asked”").wait_for(timeout=60_000)
        page.wait_for_url(re.compile("run=2"))
        page.get_by_text("What each step is worth").wait_for(timeout=60_000)
        page.get_by_text(re.compile(r"^\d chunks by BM25 in place of 1$")).first.wait_for()
        # the evaluation has ended
        page.get_by_role("button", name="Delete").wait_for(timeout=60_000)
        found = serious(page)
        assert not found, found
        assert not problems


def type_methods(page):
    """Take the methods by their names, in place of the proposed ones."""
    methods = page.get_by_role("combobox", name="Methods")
    methods.focus()
    for _ in range(3):  # those that are proposed
        page.keyboard.press("Backspace")
        settle(page)
    page.keyboard.press("Escape")
    for name, chip in TYPED_METHODS.items():
        methods.focus()
        page.keyboard.type(name)
        page.get_by_role("option").first.wait_for()
        assert page.get_by_text(re.compile("^Select (all|.* matches)$")).count() == 0
        page.keyboard.press("Enter")
        settle(page)
        page.keyboard.press("Escape")
        # the method of that name, and no other that matches
        page.get_by_text(chip, exact=True).first.wait_for()


def test_a_typed_number_takes_the_method_of_that_number(evaluated):
    with open_page(f"{evaluated}/evaluate") as page:
        form = page.locator("summary", has_text="New evaluation")
        form.wait_for(timeout=60_000)
        settle(page)
        methods = page.get_by_role("combobox", name="Methods")
        if not methods.is_visible():  # folded once another test has run an evaluation
            form.click()
        methods.wait_for(timeout=60_000)
        settle(page)
        methods.focus()
        page.keyboard.type("No. 10")
        page.get_by_role("option").first.wait_for()
        page.keyboard.press("Enter")
        settle(page)
        page.keyboard.press("Escape")
        page.get_by_text("Shortest paths, relations filtered (No. 10)", exact=True).wait_for()


def test_by_keys_alone_an_evaluation_is_begun_and_its_tabs_are_read(evaluated):
    """A set, two methods, Start, then each tab of the result; no Select all is in the way."""
    with open_page(f"{evaluated}/evaluate?corpus={NAME}") as page:
        form = page.get_by_text("New evaluation", exact=True)
        form.wait_for(timeout=60_000)
        settle(page)
        page.locator("summary", has_text="New evaluation").focus()
        page.keyboard.press("Enter")
        sets = page.get_by_role("combobox", name="Questions about")
        sets.wait_for()
        sets.focus()
        page.keyboard.press("Backspace")
        settle(page)
        page.keyboard.type("Asked")
        page.keyboard.press("Enter")
        settle(page)
        page.keyboard.press("Escape")
        type_methods(page)
        start = page.get_by_role("button", name=re.compile("Start: about"))
        start.focus()
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="2 methods on “Asked”").wait_for(timeout=120_000)
        page.get_by_role("button", name="Delete").wait_for(timeout=120_000)
        settle(page)
        for tab in ("Reading", "Questions", "Figures", "Export"):
            page.get_by_role("tab", selected=True).focus()
            page.keyboard.press("ArrowRight")
            page.get_by_role("tab", name=tab, selected=True).wait_for()
            settle(page)
        page.get_by_role("button", name="Table (LaTeX)").wait_for()
