"""The look of the board is measured in a real browser.

The tests measure labels, contrast, heights, and what fits where.
"""

from __future__ import annotations

import copy

import pytest

from tests.pages.board import board_payload
from tests.pages.board.still import still
from tests.pages.board.test_board import report, texts  # noqa: F401

# Boxes of labels, and of the stars and diamonds, in each lane, as Cytoscape draws them.
BOXES = """[...document.querySelectorAll('.lane')].map(element => element.lane.graph).filter(graph => graph.cy).map(graph => {
    const box = ({ x1, x2, y1, y2 }) => ({ x1, x2, y1, y2 });
    const labels = graph.cy.nodes().filter(node => node.data('label'));
    return {
        labels: labels.map(node => ({
            of: node.id(), ...box(node.boundingBox({ includeNodes: false, includeLabels: true, includeOverlays: false })),
        })),
        marks: graph.cy.nodes('.question, .answer').map(node => {
            const { x, y } = node.position(), half = node.width() / 2;
            return { of: node.id(), x1: x - half, x2: x + half, y1: y - half, y2: y + half };
        }),
        size: [graph.canvas.clientWidth, graph.canvas.clientHeight],
        font: Number.parseFloat(graph.cy.nodes()[0].style('font-size')),
        nodes: graph.cy.nodes().length,
    };
})"""
# Colours of the canvas: each text with what lies behind it.
INKS = """[...document.querySelectorAll('.lane')].map(element => element.lane.graph).filter(graph => graph.cy).flatMap(graph => [
    ...graph.cy.nodes().filter(node => node.data('label')),
    ...graph.cy.edges().filter(edge => edge.data('step') && !edge.hasClass('dim')),
]).map(one => [one.style('color'), one.style('text-background-color'), one.classes().join(' ')])"""


def overlap(one: dict, other: dict, slack: float = 1.5) -> bool:
    """Return whether two boxes share more than the air around them."""
    wide = min(one["x2"], other["x2"]) - max(one["x1"], other["x1"])
    high = min(one["y2"], other["y2"]) - max(one["y1"], other["y1"])
    return wide > slack and high > slack


def contrast(one: str, other: str) -> float:
    """The contrast of two colours `rgb(r,g,b)`, as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [
            int(float(part)) / 255
            for part in colour.removeprefix("rgb(").removesuffix(")").split(",")
        ]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("present", [False, True])
@pytest.mark.parametrize("width", [1024, 1280, 1920])
def test_no_label_lies_under_a_star_or_another_label(report, width, present):  # noqa: F811
    page = report({**board_payload.finished(3), "present": present, "height": 600}, width=width)
    still(page)
    lanes = page.evaluate(BOXES)
    assert len(lanes) == 3
    for lane in lanes:
        assert lane["labels"] and lane["font"] >= (16 if present else 11)
        for i, label in enumerate(lane["labels"]):
            assert (
                label["x1"] >= -1
                and label["x2"] <= lane["size"][0] + 1
                and label["y2"] <= lane["size"][1] + 1
            )
            assert not [
                other["of"] for other in lane["labels"][i + 1 :] if overlap(label, other)
            ], label
            assert not [
                mark["of"]
                for mark in lane["marks"]
                if mark["of"] != label["of"] and overlap(label, mark)
            ], label


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("present", [False, True])
def test_text_stands_out_at_least_four_and_a_half_to_one(report, scheme, present):  # noqa: F811
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    ).Axe()
    data = {**board_payload.finished(4), "present": present, "height": 600}
    data["lanes"][3].update(
        status="running", progress={"text": "Ranking", "fraction": 0.4, "best": "War", "left": 12.0}
    )
    page = report(data, color_scheme=scheme)
    if not present:
        page.locator("summary").first.click()
        page.locator("[data-path='cheadle']").first.click()
    still(page)
    found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
    serious = [
        (rule["id"], node["html"][:120], node.get("failureSummary", "")[:300])
        for rule in found
        for node in rule["nodes"]
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []
    for ink, behind, classes in page.evaluate(INKS):
        assert contrast(ink, behind) >= 4.5, (classes, ink, behind)


def test_the_contrast_of_known_colours():
    assert contrast("rgb(0,0,0)", "rgb(255,255,255)") == pytest.approx(21)
    # the well-known #777
    assert contrast("rgb(119,119,119)", "rgb(255,255,255)") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("width", [1280, 1920])
def test_three_lanes_for_a_room_fit_one_screen(report, width):  # noqa: F811
    data = {**board_payload.finished(3), "present": True}
    page = report(data, width=width)
    assert page.evaluate("document.documentElement.scrollHeight") == 900
    assert page.evaluate("document.documentElement.scrollWidth") == width
    small = page.evaluate("""[...document.querySelectorAll('.hb *')].filter(node => node.checkVisibility() && !node.closest('.sr-only')
        && [...node.childNodes].some(child => child.nodeType === 3 && child.textContent.trim())
        && Number.parseFloat(getComputedStyle(node).fontSize) < 16)
        .map(node => node.className + ': ' + node.textContent)""")
    assert small == []
    cut = page.evaluate(
        "[...document.querySelectorAll('.lane')].filter(lane => lane.scrollHeight > lane.clientHeight + 1).length"
    )
    assert cut == 0 and page.locator(".row:visible, .foot:visible").count() == 0
    assert [lane["nodes"] for lane in page.evaluate(BOXES)] == [9] * 3
    page.get_by_label("Show 5 more nodes for every method").first.click()
    assert [lane["nodes"] for lane in page.evaluate(BOXES)] == [14] * 3
    page.get_by_label("Frame of Beam search").press("Home")
    page.get_by_label("Frame of Beam search").press("ArrowRight")
    assert page.locator(".frame-words:visible").inner_text() == "hop 2: 2 of 212 kept"
    data["height"] = 560
    page.evaluate("payload => hopscopeReport(payload)", data)
    assert page.locator(".lanes").evaluate("lanes => lanes.offsetHeight") == 560


def test_lanes_scroll_sideways_and_their_parts_stand_at_one_height(report):  # noqa: F811
    page = report(board_payload.finished(4), width=900)
    assert page.evaluate("document.documentElement.scrollWidth") == 900
    tops = page.evaluate("""['.head', '.answer', '.funnel', '.graph', '.said', '.times', '.found', '.foot']
        .map(part => [...document.querySelectorAll('.lane > ' + part)].map(node => Math.round(node.getBoundingClientRect().top)))
        .map(tops => new Set(tops).size)""")
    assert tops == [1] * 8
    lanes = page.locator(".lanes")
    assert lanes.evaluate("box => box.scrollWidth > box.clientWidth")
    tabs = page.locator(".tab")
    assert [tab.get_attribute("aria-pressed") for tab in tabs.all()] == [
        "true",
        "true",
        "true",
        "false",
    ]
    tabs.nth(3).click()
    page.locator(".tab:nth-child(4)[aria-pressed=true]").wait_for()
    assert lanes.evaluate("box => box.scrollLeft") > 0


@pytest.mark.parametrize("width", [420, 800])
def test_a_narrow_screen_switches_between_lanes(report, width):  # noqa: F811
    page = report(board_payload.finished(3), width=width)
    assert texts(page, ".tab .tag") == ["1 of 3", "0 of 3", "3 of 3"]
    assert (
        page.locator(".lane:visible").count() == 1
        and page.locator(".lane:visible").get_attribute("aria-label") == "No. 12"
    )
    page.locator(".tab", has_text="Chain ranking").click()
    assert page.locator(".lane:visible").get_attribute("aria-label") == "Chain ranking"
    # its name stands once
    assert page.get_by_text("Chain ranking", exact=True).filter(visible=True).count() == 1
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator(".lane").nth(1).wait_for()
    assert page.locator(".tabs:visible").count() == 0


def test_what_all_lanes_agree_on_is_grey(report):  # noqa: F811
    page = report(board_payload.finished(3))
    kinds = page.evaluate(
        "[...document.querySelectorAll('.funnel')].map(row => [...row.querySelectorAll('.bar')].map(bar => bar.className.slice(8)))"
    )
    assert kinds == [
        ["same", "same", "warn", "warn", "warn"],
        ["same", "same", "bad", "bad", "bad"],
        ["same", "same", "good", "good", "good"],
    ]
    alone = board_payload.finished(1)
    page = report(alone)
    assert page.locator(".bar-same").count() == 0
    agreed = copy.deepcopy(board_payload.finished(2))
    agreed["lanes"][1].update(
        {
            key: agreed["lanes"][0][key]
            for key in ("funnel", "paths", "verdict", "reader_verdict", "lost")
        }
    )
    agreed["fates"] = {
        key: {lane: {"fate": "found", "text": "rank 1"} for lane in ("lane-0", "lane-1")}
        for key in agreed["fates"]
    }
    page = report(agreed)
    right = agreed["lanes"][0]["verdict"]
    tone = "good" if right["right"] == right["of"] else "warn" if right["right"] else "bad"
    assert (
        page.locator(f".voice-model .tag-{tone}").count()
        == page.locator(".voice-model .tag").count()
        == 2  # what is wrong everywhere is as red
        and page.locator(".row:not(.same) .row-fate:visible").count()
        == page.locator("ul .row:visible").count()
    )


def test_a_headline_that_is_counted_again_says_so(report):  # noqa: F811
    payload = board_payload.finished(3)
    payload["verdict"] = {
        "text": "Only A finds it. B loses it.",
        "pending": "It is counted again once C has run.",
        "repair": None,
    }
    page = report(payload)
    assert (
        page.locator(".band-text").inner_text()
        == "Only A finds it. B loses it. It is counted again once C has run."
    )


def test_one_graph_takes_the_whole_screen_and_escape_gives_it_back(report):  # noqa: F811
    page = report(board_payload.finished(3))
    before = page.locator(".graph").nth(1).bounding_box()
    page.get_by_role("button", name="Full screen").nth(1).click()
    graph = page.locator(".graph.full")
    graph.wait_for()
    still(page)
    assert graph.locator(".full-title").inner_text().startswith("No. 14")
    assert page.evaluate(BOXES)[1]["font"] >= 16
    x, y = (
        page.locator(".stage-box")
        .nth(1)
        .evaluate(
            "box => { const at = box.closest('.lane').lane.graph.places.get(2); return [at.x, at.y]; }"
        )
    )
    page.locator(".stage-box").nth(1).click(position={"x": x, "y": y})
    assert (
        page.locator(".panel h4").inner_text() == "Terry George"
        and graph.locator(".panel").is_visible()
    )
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    graph.wait_for(state="detached")
    still(page)
    assert page.locator(".graph").nth(1).bounding_box() == before


def near(lane: dict) -> list[tuple]:
    """The marks of a lane that lie on one another."""
    found = []
    for i, one in enumerate(lane["marks"]):
        for other in lane["marks"][i + 1 :]:
            away = (
                (one["x1"] + one["x2"] - other["x1"] - other["x2"]) ** 2
                + (one["y1"] + one["y2"] - other["y1"] - other["y2"]) ** 2
            ) ** 0.5 / 2
            if away < (one["x2"] - one["x1"] + other["x2"] - other["x1"]) / 2:
                found.append((one["of"], other["of"], away))
    return found


@pytest.mark.parametrize("height", [420, 560])
@pytest.mark.parametrize("answers", [1, 6, 9, 14])
def test_no_mark_lies_on_another_in_a_crowded_column_and_what_is_named_is_labelled(
    report,  # noqa: F811
    answers,
    height,
):
    """All answers stand one hop from the question, in one column.

    The screen is 1280 x 720, as in a room. The last of the answers is named.
    """
    data = {**board_payload.finished(3), "present": True, "height": height}
    nodes = [
        {"id": 1, "name": "The question", "x": 0.1, "y": 0.5, "at": [0, 0.5], "role": "question"}
    ]
    for i in range(answers):
        place = {"x": 0.8 + 0.002 * i, "y": 0.5, "at": [1, (i + 0.5) / answers]}
        nodes.append(
            {
                "id": 2 + i,
                "name": f"Answer {i}",
                **place,
                "role": "answer",
                "named": i == answers - 1,
            }
        )
    data["layout"] = {
        "nodes": nodes,
        "edges": [
            {"id": i, "source": 1, "target": 2 + i, "relation": "is"} for i in range(answers)
        ],
    }
    for lane in data["lanes"]:
        lane.update(
            nodes=[node["id"] for node in nodes], edges=list(range(answers)), paths=[], lost=[]
        )
    page = report(data)
    page.set_viewport_size({"width": 1280, "height": 720})
    still(page)
    lanes = page.evaluate(BOXES)
    assert len(lanes) == 3
    for lane in lanes:
        assert len(lane["marks"]) == answers + 1 and near(lane) == []
        assert f"n{answers + 1}" in [label["of"] for label in lane["labels"]]
        assert all(mark["x2"] - mark["x1"] >= 11 for mark in lane["marks"])
    data["present"] = False  # where all would lie on one another
    page.evaluate("payload => hopscopeReport(payload)", data)
    still(page)
    lanes = page.evaluate(BOXES)
    assert len(lanes) == 3
    for lane in lanes:
        assert len(lane["marks"]) == answers + 1 and near(lane) == []


def test_an_answer_that_a_lane_at_work_has_not_found_yet_is_neither_found_nor_lost(report):  # noqa: F811
    data = board_payload.finished(3)
    found = {"alive": [4], "so_far": "9 of 99 paths read", "status": "running"}
    star = next(node["name"] for node in data["layout"]["nodes"] if node["id"] == 4)
    data["lanes"][0].update(found, reader=[star])
    page = report(data)
    stars = """[...document.querySelectorAll('.lane')].map(({ lane }) => ['lost', 'open'].map(
        kind => lane.graph.cy.nodes(`.answer.${kind}`).map(node => node.id())))"""
    assert page.evaluate(stars)[0] == [[], ["n6", "n8"]]
    data["lanes"][0].update(reader=["Helen Mirren"])  # its answer has not that star yet
    page.evaluate("payload => hopscopeReport(payload)", data)
    assert page.evaluate(stars)[0] == [[], ["n4", "n6", "n8"]]
    data["lanes"][0].update(so_far=None, status="done")
    page.evaluate("payload => hopscopeReport(payload)", data)
    assert page.evaluate(stars)[0] == [["n6", "n8"], []]


@pytest.mark.parametrize("room", [1125])  # of a window of 1440 with the sidebar
def test_four_lanes_stand_side_by_side_in_a_window_of_1440(report, room):  # noqa: F811
    data = board_payload.finished(4)
    page = report({**data, "editable": True})
    page.set_viewport_size({"width": 1440, "height": 900})
    page.locator("#board").evaluate("(board, room) => { board.style.width = `${room}px`; }", room)
    still(page)
    lanes = page.locator(".lanes")
    assert lanes.evaluate("box => box.clientWidth") == room
    assert lanes.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert page.locator(".tabs:visible").count() == 0
