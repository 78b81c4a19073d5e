"""“Starts at” and the correct answers are edited in a real Chromium.

The tests are of completing, removing, swapping, and names that look like code.
"""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import expect

from tests.server import open_page, settle, take_scheme

pytestmark = pytest.mark.usefixtures("browser")
QUESTION = "who acted in the movies directed by the director of Some Mother's Son"
METHOD = "llm=0&lane=lego-1"
PERSON = re.compile("Quentin Tarantino")  # not the tag in lower case
HOSTILE = "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def page(app):
    """One page for all; a new question starts with entities and answers of its own."""
    with open_page(f"{app}/?{METHOD}") as opened:
        opened.problems = []
        opened.on("pageerror", lambda error: opened.problems.append(str(error)))
        entities(opened).wait_for(timeout=90_000)
        yield opened
        assert not opened.problems


def entities(page):
    return page.get_by_role("combobox", name="Starts at: add an entity")


def answers(page):
    return page.get_by_role("combobox", name="Add a correct answer")


def chips(page, group: str):
    return page.locator(f".{group} .chip .name")


def remove_last_entity(page) -> None:
    entities(page).press("Backspace")
    expect(chips(page, "entities")).to_have_count(0)
    settle(page)


def ask(page, text: str) -> None:
    page.get_by_role("textbox", name="Question").fill(text)
    page.get_by_role("button", name="Ask", exact=True).click()
    lanes = page.locator(f"[data-question={json.dumps(text)}] .lane[data-status=done]")
    lanes.first.wait_for(timeout=90_000)
    settle(page)


def test_enter_right_after_typing_waits_for_the_first_suggestion(page):
    entities(page).fill("Some Mothers So")
    page.keyboard.press("Enter")
    expect(chips(page, "entities")).to_have_text(["Some Mother's Son"], timeout=20_000)
    assert entities(page).input_value() == ""
    remove_last_entity(page)


def test_escape_closes_and_then_clears(page):
    entities(page).fill("nolan")
    expect(page.get_by_role("option").first).to_be_visible(timeout=20_000)
    page.keyboard.press("Escape")
    expect(page.get_by_role("option")).to_have_count(0)
    assert entities(page).input_value() == "nolan"
    page.keyboard.press("Escape")
    assert entities(page).input_value() == ""


def test_typing_completes_and_the_arrows_choose(page):
    entities(page).press_sequentially("tarant", delay=20)
    options = page.get_by_role("option")
    expect(options.filter(has_text=PERSON)).to_have_count(1, timeout=20_000)
    assert "writer, director" in options.filter(has_text=PERSON).inner_text()
    assert entities(page).get_attribute("aria-expanded") == "true"
    wanted = options.filter(has_text=PERSON).get_attribute("id")
    for _ in range(8):
        if entities(page).get_attribute("aria-activedescendant") == wanted:
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(chips(page, "entities")).to_have_text(["Quentin Tarantino"])
    page.get_by_role("textbox", name="Question").fill("what films did he direct")
    expect(page.get_by_role("option")).to_have_count(0)
    remove_last_entity(page)


def test_what_is_removed_and_added_is_what_is_asked(page):
    ask(page, QUESTION)
    expect(chips(page, "entities")).to_have_text(["Some Mother's Son"])
    expect(chips(page, "answers")).to_have_count(3)
    for name in ("Don Cheadle", "Bill Paxton"):  # both in one moment: neither is lost
        page.get_by_role("button", name=f"Remove {name}").evaluate(
            "button => queueMicrotask(() => button.click())"
        )
    expect(chips(page, "answers")).to_have_text(["Joaquin Phoenix"])
    answers(page).fill("helen mirren")
    page.keyboard.press("Enter")
    expect(chips(page, "answers")).to_have_text(
        ["Joaquin Phoenix", re.compile("^helen mirren$", re.IGNORECASE)]
    )
    settle(page)  # what the browser shows ahead of Python stays when that has answered
    expect(chips(page, "answers")).to_have_count(2)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_url(
        lambda url: "Joaquin" in url and "Cheadle" not in url and "Paxton" not in url,
        timeout=30_000,
    )


def test_what_was_read_is_told_and_swapped_by_a_click(page):
    ask(page, "which films did quentin tarantino direct")
    expect(chips(page, "entities")).to_have_text(["Quentin Tarantino"])
    meant = page.locator(".he .meant")
    expect(meant).to_contain_text("Started at Quentin Tarantino (writer, director")
    expect(meant).to_contain_text("did you mean quentin tarantino (tag")
    page.locator(".he .swap").click()
    # asked again at once
    page.wait_for_url(lambda url: "e=quentin+tarantino" in url, timeout=60_000)
    expect(chips(page, "entities")).to_have_text(["quentin tarantino"])
    expect(meant).to_contain_text("did you mean Quentin Tarantino")


def test_a_typing_error_is_told(page):
    ask(page, "who acted in pulp fictoin")
    expect(chips(page, "entities")).to_have_text(["Pulp Fiction"])
    expect(page.locator(".he .meant")).to_contain_text("Read “pulp fictoin” as Pulp Fiction")


def test_what_is_certain_is_not_asked(page):
    ask(page, "what films did Mike Nichols direct")
    expect(chips(page, "entities")).to_have_text(["Mike Nichols"])
    expect(page.locator(".he .meant")).to_have_count(0)


def test_every_text_has_contrast(page):
    ask(page, QUESTION)
    entities(page).fill("nolan")
    for scheme in ("light", "dark"):
        take_scheme(page, scheme)
        settle(page)
        expect(page.get_by_role("option").first).to_be_visible(timeout=20_000)
        ratios = page.locator(".he").evaluate(CONTRASTS)
        assert len(ratios) > 20 and min(ratios.values()) >= 4.5, (
            scheme,
            sorted(ratios.items(), key=lambda one: one[1])[:5],
        )


def test_long_and_hostile_names_are_text(app, page):
    page.goto(f"{app}/?{METHOD}")
    entities(page).fill("x" * 20_000)
    page.keyboard.press("Enter")
    expect(chips(page, "entities")).to_have_count(1, timeout=20_000)
    answers(page).fill(HOSTILE)
    page.keyboard.press("Enter")
    expect(chips(page, "answers")).to_have_text([HOSTILE])
    settle(page)
    assert page.evaluate("window.hacked") is None
    assert not page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth + 2"
    )


# For each element that shows text of its own (or is an input): the contrast of its colour to what is painted behind it.
CONTRASTS = """(root) => {
  const pixel = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const paint = (colours) => {
    pixel.clearRect(0, 0, 1, 1);
    for (const colour of colours) { pixel.fillStyle = colour; pixel.fillRect(0, 0, 1, 1); }
    return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3).map((c) => c / 255);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    const found = [];
    for (let at = node; at; at = at.parentElement ?? at.getRootNode().host) found.unshift(getComputedStyle(at).backgroundColor);
    return ["#fff", ...found];
  };
  const told = {};
  for (const [place, node] of [...root.querySelectorAll("*")].entries()) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
    if (!own && node.tagName !== "INPUT") continue;
    if (!node.getClientRects().length || node.closest(".sr-only")) continue;
    const style = getComputedStyle(node, node.tagName === "INPUT" && !node.value ? "::placeholder" : undefined);
    const [a, b] = [light(paint([...behind(node), style.color])), light(paint(behind(node)))];
    told[`${place} ${node.className} ${node.textContent.slice(0, 20)}`] = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }
  return told;
}"""
