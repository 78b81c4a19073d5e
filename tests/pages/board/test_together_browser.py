"""The searches of all lanes in step, and PageRank's mass as it spreads, in a real browser."""

from __future__ import annotations

import copy

import pytest

from tests.pages.board import board_payload
from tests.pages.board.test_board import report, texts  # noqa: F401 - a fixture

MASS = {
    "title": "PageRank",
    "of": "mass",
    "frames": [
        {
            "title": "at the start",
            "paths": [],
            "mass": [[1, 1.0]],
            "best": [{"name": "Some Mother's Son", "share": 1.0}],
        },
        {
            "title": "after 1 step",
            "paths": [],
            "mass": [[1, 0.5], [2, 0.25], [9, 0.05]],
            "best": [
                {"name": "Some Mother's Son", "share": 0.5},
                {"name": "<b>Terry</b> George", "share": 0.25},
            ],
        },
    ],
}


@pytest.fixture
def data():
    found = copy.deepcopy(board_payload.finished(3))
    for lane in found["lanes"]:
        lane["stories"] = []
    found["lanes"][0]["stories"] = [MASS]
    found["lanes"][1]["stories"] = [
        {
            "title": "Beam",
            "frames": [
                {"title": f"hop {n}", "considered": 9, "paths": [key]}
                for n, key in enumerate(["george", "cheadle", "phoenix"], 1)
            ],
        }
    ]
    return found


def massive(page, lane: int) -> dict[str, float]:
    return page.evaluate(
        """lane => Object.fromEntries(document.getElementById("board").hopscopeBoard.lanes.get(`lane-${lane}`).graph.cy.nodes(".mass")
          .map(n => [n.id(), Math.round(100 * n.data("mass")) / 100]))""",
        lane,
    )


def test_all_lanes_go_in_step_and_a_shorter_search_stays_at_its_end(report, data):  # noqa: F811
    page = report(data)
    bar = page.get_by_role("group", name="All searches together")
    slider = bar.get_by_role("slider")
    slider.fill("1")  # PageRank's part comes first, two moments long
    assert texts(page, ".replay .frame-words")[:2] == ["after 1 step", ""]
    # the square root of the share of the largest: of 0.25 in 0.5 it is 0.71, of 0.05 in 0.5 it is 0.32
    assert massive(page, 0) == {"n1": 1.0, "n2": 0.71, "n9": 0.32} and massive(page, 1) == {}
    assert texts(page, ".mass-row b") == ["Some Mother's Son", "<b>Terry</b> George"] and texts(
        page, ".mass-share"
    ) == ["50 %", "25 %"]
    # then the second hop of the beam; the lane without a search shows what it kept
    slider.fill("3")
    assert (
        texts(page, ".replay .frame-words")[:2] == ["", "hop 2: 1 of 9 kept"]
        and massive(page, 0) == {}
    )
    data["lanes"][0]["stories"] = [
        {"title": "Beam", "frames": data["lanes"][1]["stories"][0]["frames"][:1]},
        MASS,
    ]
    page.evaluate("payload => hopscopeReport(payload)", data)
    slider.fill("4")
    assert texts(page, ".replay .frame-words")[:2] == ["hop 1: 1 of 9 kept", "hop 3: 1 of 9 kept"]
    slider.fill("0")
    assert texts(page, ".replay .frame-words")[:2] == ["at the start", ""] and massive(page, 0) == {
        "n1": 1.0
    }
    bar.get_by_role("button", name="Show result").click()
    assert massive(page, 0) == {} and page.locator(".replay.playing").count() == 0


def test_they_play_by_themselves_and_end_on_what_was_kept(report, data):  # noqa: F811
    page = report(data)
    kept = lit(page)
    bar = page.get_by_role("group", name="All searches together")
    bar.get_by_role("button", name="Play the searches together").click()
    assert bar.get_by_role("button", name="Pause").is_visible() and playing(page) > 0
    bar.get_by_role("button", name="Play the searches together").wait_for(timeout=20_000)
    assert playing(page) == 0 and lit(page) == kept
    assert "5 steps" in bar.inner_text() and at_the_end(bar.get_by_role("slider"))
    bar.get_by_role("slider").fill("4")
    bar.get_by_role("button", name="Play the searches together").click()  # on from the last step
    assert playing(page) == 0 and at_the_end(bar.get_by_role("slider"))


def test_every_slider_stands_where_the_picture_is(report, data):  # noqa: F811
    page = report(data)
    sliders = page.locator(".slider:visible")
    assert sliders.count() == 3 and all(at_the_end(slider) for slider in sliders.all())
    own = page.get_by_label("Frame of Beam")
    own.fill("1")
    assert playing(page) == 1 and at_the_end(sliders.first)
    own.fill("3")  # past its last frame
    assert playing(page) == 0 and all(at_the_end(slider) for slider in sliders.all())


def test_a_lane_that_comes_in_ends_what_was_played_in_step(report, data):  # noqa: F811
    page = report(data)
    bar = page.get_by_role("group", name="All searches together")
    bar.get_by_role("slider").fill("3")
    assert playing(page) == 1 and "step 4 of 5" in bar.inner_text()
    new = {**data["lanes"][2], "id": "lane-3", "title": "Beam, changed"}
    new["stories"] = data["lanes"][1]["stories"]
    page.evaluate("payload => hopscopeReport(payload)", {**data, "lanes": [*data["lanes"], new]})
    assert playing(page) == 0 and at_the_end(bar.get_by_role("slider"))


def test_a_repair_ends_the_replay_of_one_lane_too(report, data):  # noqa: F811
    page = report({**data, "present": True})
    page.get_by_label("Frame of Beam").fill("1")
    assert playing(page) == 1
    new = {**data["lanes"][2], "id": "lane-3", "title": "Beam, changed"}
    lanes = [*data["lanes"], new]
    page.evaluate("payload => hopscopeReport(payload)", {**data, "present": True, "lanes": lanes})
    sliders = page.locator(".slider:visible").all()
    assert playing(page) == 0 and all(at_the_end(slider) for slider in sliders)


def test_a_repair_in_the_place_of_its_lane_ends_its_replay(report, data):  # noqa: F811
    page = report(data)
    page.get_by_label("Frame of Beam").fill("1")
    data["lanes"][1]["title"] = "Beam, changed"
    page.evaluate("payload => hopscopeReport(payload)", data)
    assert playing(page) == 0


def test_in_a_room_play_and_cost_are_the_footer(report, data):  # noqa: F811
    page = report(data)
    assert page.locator(".band + .together").count() == 1
    page.evaluate("payload => hopscopeReport(payload)", {**data, "present": True})
    assert page.locator(".lanes + .together").count() == 1
    page.evaluate("payload => hopscopeReport(payload)", data)
    assert page.locator(".band + .together").count() == 1


def test_a_lane_that_becomes_another_plays_no_frame_of_the_one_before(report, data):  # noqa: F811
    page = report(data)
    page.get_by_label("Frame of Beam").fill("2")
    first, second, third = data["lanes"]
    data["lanes"] = [first, {**third, "id": "lane-1"}, {**second, "id": "lane-2"}]
    page.evaluate("payload => hopscopeReport(payload)", data)
    assert playing(page) == 0


def playing(page) -> int:
    return page.locator(".replay.playing").count()


def at_the_end(slider) -> bool:
    return slider.input_value() == slider.get_attribute("max")


def lit(page) -> list:
    return page.evaluate(
        "[...document.querySelectorAll('.lane')].map(({ lane }) => lane.graph.cy.edges('.path').map(edge => edge.id()))"
    )


def test_one_search_alone_has_no_bar(report, data):  # noqa: F811
    data["lanes"][1]["stories"] = []
    assert report(data).get_by_role("group", name="All searches together").count() == 0
