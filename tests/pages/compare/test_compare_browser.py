"""Compare in a real Chromium on a real server: ask, watch three lanes end, hover, replay, share, restore."""

from __future__ import annotations

import json
import re
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import expect

from tests.server import open_page, settle

pytestmark = pytest.mark.usefixtures("browser")
QUESTION = "who acted in the movies directed by the director of Some Mother's Son"
# No. 12, a default lane, reads a thousand paths with the encoder; README's first minutes walk it.
LANES = "lane=lego-14&lane=lego-10&lane=chain-ranking"
HOSTILE = '<img src=x onerror="window.hacked=1"> "quoted" 🎬'


def done(page, lanes: int, question: str = QUESTION) -> None:
    page.locator(
        f"[data-question={json.dumps(question, ensure_ascii=False)}] .lane[data-status=done]"
    ).nth(lanes - 1).wait_for(timeout=180_000, state="attached")


def ask(page, text: str) -> None:
    page.get_by_role("textbox", name="Question").fill(text)
    page.get_by_role("button", name="Ask", exact=True).click()


@pytest.fixture(scope="module")
def asked(app):
    """A page on which the question was typed and asked in three lanes, without the language model."""
    with open_page(f"{app}/?llm=0&{LANES}") as page:
        page.problems = []
        page.on(
            "console",
            lambda m: (
                page.problems.append(m.text) if m.type == "error" and "404" not in m.text else None
            ),
        )
        page.get_by_role("button", name="Ask", exact=True).wait_for(timeout=90_000)
        ask(page, QUESTION)
        done(page, 3)
        yield page


def test_three_lanes_end_with_answers_and_funnels(asked):
    assert asked.locator(".lane h3 .number").all_text_contents() == [
        "No. 14",
        "No. 10",
        "Chain ranking",
    ]
    assert asked.get_by_text("Answer read from the graph (no AI)", exact=True).count() >= 3
    alive = asked.locator(".lane").nth(2).get_by_text("3/3")
    alive.nth(1).wait_for(timeout=20_000)  # all answers in the graph and in the subgraph
    assert not asked.problems


def test_hovering_a_path_tells_its_fate_in_every_lane(asked):
    asked.locator(".lane").nth(1).locator("[data-path]").first.hover()
    fates = [
        lane.locator("[data-fate]").filter(has_text=re.compile("rank|dropped|never")).count()
        for lane in asked.locator(".lane").all()
    ]
    assert len(fates) > 1 and all(fates), fates


def test_the_replay_shows_the_beams_hops(asked):
    slider = asked.get_by_role("slider").first
    slider.focus()
    before = asked.locator("text=/hop \\d/").all_text_contents()
    asked.keyboard.press("ArrowLeft")  # it stands at the end
    expect(asked.locator("text=/hop \\d/")).not_to_have_text(before)


def test_the_exact_prompt_is_there(asked):
    asked.locator(".lane").nth(1).get_by_text(re.compile("^Prompt")).click()
    assert asked.locator(".lane").nth(1).get_by_text(f"Question: {QUESTION}").first.is_visible()


def test_the_permalink_restores_question_and_lanes_in_another_browser(asked, app):
    with open_page(asked.url, scheme="dark") as other:
        done(other, 3)
        # written a moment after it is drawn
        expect(other.get_by_role("textbox", name="Question")).to_have_value(QUESTION)
        assert other.locator(".lane h3 .number").all_text_contents() == [
            "No. 14",
            "No. 10",
            "Chain ranking",
        ]


def test_downloads(asked, tmp_path):
    asked.get_by_role("button", name="Share").click()
    with asked.expect_download(timeout=60_000) as got:
        asked.get_by_role("button", name="Data (JSON)").click()
    data = json.loads(got.value.path().read_text("utf-8"))
    assert [lane["instance"] for lane in data["lanes"]] == [
        "lego-14",
        "lego-10",
        "chain-ranking",
    ] and data["question"] == QUESTION
    with asked.expect_download(timeout=60_000) as got:
        asked.get_by_role("button", name="Report (HTML)").click()
    report = got.value.path().read_text("utf-8")
    assert "Some Mother" in report and "<script src" not in report
    asked.keyboard.press("Escape")


def test_it_does_not_scroll_sideways_when_narrow(asked):
    asked.set_viewport_size({"width": 800, "height": 900})
    settle(asked)
    assert not asked.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth + 2"
    )


def test_one_question_after_another_on_the_same_page_and_hostile_text_never_runs(app):
    with open_page(app + "/?llm=0&lane=lego-1&lane=lego-10") as page:
        problems = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console",
            lambda m: (
                problems.append(m.text) if m.type == "error" and "404" not in m.text else None
            ),
        )
        page.get_by_role("button", name="Ask", exact=True).wait_for(timeout=90_000)
        for question in (
            "when was Inferno released",
            "which person directed the movie Inception",
            "which words describe Her",
        ):
            ask(page, question)
            done(page, 2, question)
        assert not problems
        ask(page, f"who directed Inception {HOSTILE}")
        done(page, 2, f"who directed Inception {HOSTILE}")
        assert page.evaluate("window.hacked") is None


def test_two_people_at_once(app):
    with (
        open_page(app + "/?llm=0&lane=lego-1&q=which+person+directed+the+movie+Inception") as one,
        open_page(app + "/?llm=0&lane=lego-1&q=what+films+did+Mike+Nichols+direct") as two,
    ):
        done(one, 1, "which person directed the movie Inception")
        done(two, 1, "what films did Mike Nichols direct")


def test_the_language_model_answers_after_the_reader(app):
    from tests.real_models import registry

    info = registry().info("answer")
    if not info.present:
        pytest.skip(info.how_to_get)
    short = "EgoNetwork(hops=1) >> ShortestPaths() >> Rank(model='bm25', keep=5) >> Answer()"
    with open_page(
        f"{app}/?q=which+person+directed+the+movie+Inception&lane={quote_plus(short)}"
    ) as page:
        done(page, 1, "which person directed the movie Inception")
        said = page.locator(".lane .answer").first.inner_text()
        assert "Answer read from the graph (no AI)" in said and re.search(
            r"Qwen2\.5\S* *\n+\S", said
        ), said
