"""README's first five minutes, step by step, on a projector of 1280 by 720."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from core.io.home import ROOT
from tests.server import open_page, settle

pytestmark = pytest.mark.usefixtures("browser")
README = (ROOT / "README.md").read_text("utf-8")
ACTOR_QUESTION = "who acted in the movies directed by the director of Some Mother's Son"
WAIT = 180_000


def readme_steps() -> list[str]:
    """Return the numbered steps of README's section, in order."""
    section = README.partition("## The first five minutes")[2].partition("[A first hour]")[0]
    return re.findall(r"^\d\. (.*(?:\n   .*)*)", section, re.MULTILINE)


def lanes(page, status: str = ""):
    return page.locator(f".lane[data-status={status}]" if status else ".lane")


@pytest.fixture(scope="module")
def first_page(app):
    with open_page(app) as page:
        page.set_viewport_size({"width": 1280, "height": 720})
        lanes(page).nth(2).wait_for(timeout=WAIT)
        settle(page)
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        assert not errors


def test_the_steps_are_those_that_are_walked_here():
    names = [re.match(r"\*\*(\w+)\.?\*\*", step).group(1) for step in readme_steps()]
    assert names == ["Look", "Point", "Repair", "Present", "Ask", "Replace"]
    assert ACTOR_QUESTION in " ".join(readme_steps()[4].split())


def test_look_one_fails_one_finds_most_one_finds_all(first_page):
    share = first_page.get_by_text(re.compile(r"^\d of 6$"))
    shares = [lane.locator(share).first.inner_text() for lane in lanes(first_page).all()]
    assert shares == ["0 of 6", "5 of 6", "6 of 6"]
    expect(first_page.get_by_text("finds all six").first).to_be_visible()


def test_point_at_a_path_and_every_method_tells_its_fate(first_page):
    first_page.locator(".row").first.hover()
    expect(first_page.locator(".fate:visible")).to_have_count(3)


def test_repair_adds_a_method_and_leaves_the_others(first_page):
    before = first_page.locator(".lane h3").all_inner_texts()
    first_page.locator(".main-repair").click()
    lanes(first_page, "done").nth(3).wait_for(timeout=WAIT)
    after = first_page.locator(".lane h3").all_inner_texts()
    assert len(after) == 4 and [name for name in after if name in before] == before


def test_present_steps_asks_and_leaves(first_page):
    first_page.get_by_role("button", name="Present", exact=True).first.click()
    first_page.wait_for_url(re.compile("present=1"))
    case = first_page.get_by_text(re.compile(r"case \d of \d"))
    shown = case.first.inner_text(timeout=WAIT)
    settle(first_page)
    first_page.keyboard.press("ArrowRight")
    expect(case.first).not_to_have_text(shown, timeout=WAIT)
    wider = "document.documentElement.scrollHeight - document.documentElement.clientHeight"
    assert first_page.evaluate(wider) <= 1
    settle(first_page)
    first_page.get_by_role("button", name="Where the time of each method went").click()
    expect(first_page.locator(".times:visible").first).to_be_visible()
    first_page.keyboard.press("/")
    first_page.keyboard.type("who directed Inception")
    first_page.keyboard.press("Enter")
    expect(first_page.get_by_text("Christopher Nolan").first).to_be_visible(timeout=WAIT)
    first_page.keyboard.press("Escape")
    first_page.wait_for_url(lambda address: "present=1" not in address, timeout=WAIT)


def test_ask_and_replace(first_page):
    question = first_page.get_by_role("textbox", name="Question")
    question.fill(ACTOR_QUESTION, timeout=WAIT)
    question.press("Enter")
    lanes(first_page, "done").nth(2).wait_for(timeout=WAIT)
    expect(first_page.locator(".lane", has_text="Joaquin Phoenix").first).to_contain_text(
        re.compile("Bill Paxton|Don Cheadle")
    )
    for name in ("Replace", "Edit steps", "+ Add method"):
        assert first_page.get_by_role("button", name=name).count() or (
            first_page.get_by_text(name, exact=True).count()
        )
