"""The panel of a clicked node opens in a real browser without any server.

A word of an answer lights what it rests on.
"""

from __future__ import annotations

import pytest

from tests.pages.board import board_payload
from tests.pages.board.test_board import lit_edges, press, report, texts  # noqa: F401


def test_each_click_shows_its_own_node_at_once(report):  # noqa: F811
    page = report(board_payload.finished(3))
    press(page, 0, 2)
    panel = page.locator(".panel")
    assert panel.locator("h4").inner_text() == "Terry George" and panel.is_visible()
    press(page, 1, 3)
    assert panel.locator("h4").inner_text() == "Hotel Rwanda" and panel.is_visible()
    assert (
        "4 edges" in panel.inner_text()
        and "directed" in panel.inner_text()
        and "and 1 more relation" in panel.inner_text()
    )
    assert (
        panel.locator(".panel-lanes li").count() == 3
        and panel.locator(".panel-lanes .is-in").count() == 3
    )
    assert panel.locator(".way").count() == 0  # a report leads nowhere else
    page.keyboard.press("Escape")
    assert panel.is_hidden()
    press(page, 0, 14)
    assert panel.locator("h4").inner_text() == board_payload.HOSTILE
    page.locator(".band").click()
    assert panel.is_hidden()


def test_the_keyboard_reaches_the_panel_and_comes_back(report):  # noqa: F811
    page = report(board_payload.finished(2))
    page.locator(".stage-box").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".panel h4").inner_text() == "Some Mother's Son"
    page.keyboard.press("Enter")  # the button that closes has the focus
    assert page.locator(".panel").is_hidden()
    assert page.locator(".stage-box").first.evaluate("stage => stage === document.activeElement")


def test_a_word_of_the_answer_lights_what_it_rests_on_and_back(report):  # noqa: F811
    page = report(board_payload.finished(3))
    page.locator("summary", has_text="Prompt").first.click()
    word = page.locator(".word", has_text="Don Cheadle").first
    word.hover()
    page.locator(".row.active").first.wait_for()
    assert lit_edges(page, 0) == ["e1", "e2", "e3"] and lit_edges(page, 1) == []
    assert texts(page, ".row.active b")[0] == "Some Mother's Son"
    assert (
        page.locator(".line.lit").count() == 1
        and page.locator("details.lit .fact").inner_text() == "line 3 of the prompt"
    )
    page.mouse.move(5, 5)
    page.locator(".word.lit").first.wait_for(state="detached")
    assert page.locator(".line.lit").count() == 0
    page.locator("[data-path='cheadle']").first.hover()
    page.locator(".word.lit").first.wait_for()
    page.mouse.move(5, 5)
    page.locator(".word.lit").first.wait_for(state="detached")
    word.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert page.locator(".word.lit").count() > 0


@pytest.mark.parametrize("status", ["running", "done"])
def test_sentences_times_and_progress_are_drawn_where_they_are_given(report, status):  # noqa: F811
    data = board_payload.finished(3)
    data["lanes"][0].update(
        status=status,
        progress={
            "text": "Ranking 960 texts",
            "fraction": 0.4,
            "best": "Hotel Rwanda",
            "left": 11.2,
        },
    )
    page = report(data)
    assert (
        page.locator(".band").inner_text() == "Only chains find all three. The beam leaves early."
    )
    assert texts(page, ".said b") == [
        "Lost in the paths:",
        "Lost in the subgraph:",
        "All three found:",
    ]
    assert texts(page, ".legend")[1] == "retrieval 0.05 s\nranking 0.7 s\nmodel 1.9 s"
    widths = page.evaluate(
        "[...document.querySelectorAll('.times-bar')]"
        ".map(bar => [...bar.children].reduce((sum, i) => sum + i.offsetWidth, 0) / bar.clientWidth)"
    )
    # one scale for all
    assert widths[0] == pytest.approx(1, abs=0.02) and widths[2] == pytest.approx(
        1.22 / 3.9, abs=0.03
    )
    assert page.locator(".repair").count() == 0  # nobody could hear it in a report
    heads = page.locator(".head.telling")
    assert heads.count() == (status == "running")
    if status == "running":
        assert heads.locator(".status").inner_text() == "Ranking 960 texts · 40 % · about 12 s left"
        assert heads.locator(".progress-best").inner_text() == "Best so far: Hotel Rwanda"
        assert heads.locator(".track i").evaluate("fill => fill.style.width") == "40%"


def test_lanes_without_them_have_no_empty_frames(report):  # noqa: F811
    page = report(board_payload.payload(3))
    assert page.locator(".band:visible").count() == 0
    assert (
        page.evaluate(
            "[...document.querySelectorAll('.said, .times')].map(part => part.offsetHeight)"
        )
        == [0] * 6
    )


def test_the_type_and_the_description_of_a_node_are_shown_as_text(report):  # noqa: F811
    payload = board_payload.finished(2)
    for node in payload["layout"]["nodes"]:
        node["about"] |= {
            "type": "film <i>maker</i>",
            "text": f"{board_payload.HOSTILE} {'He directs. ' * 30}",
        }
    page = report(payload)
    press(page, 0, 2)
    panel = page.locator(".panel")
    assert panel.locator(".panel-type").inner_text() == "film <i>maker</i>"
    assert panel.locator(".panel-text").inner_text().startswith(board_payload.HOSTILE)
