"""Present on screens from small to large, in one page of a real browser.

Nothing in a lane lies over another thing, no text is cut without a sign, and pictures are large.
"""

from __future__ import annotations

import dataclasses
import json
import re
from xml.etree import ElementTree

import pytest

from core.cases.examples import examples
from core.cases.store import comparison_of_case
from pages.parts.board.payload import Board
from tests.pages.board.boxes import faults, picture_shares
from tests.pages.board.room import open_room
from tests.pages.board.still import still
from tests.pages.board.test_board import report  # noqa: F401 - a fixture

SCREENS = ((1280, 720), (1366, 768), (1920, 1080), (3840, 2160), (390, 844))
NARROW = 640  # width up to which the page scrolls
FIRST = "example-demo-1"
SVG = "{http://www.w3.org/2000/svg}"
# Correct answers whose label is not their whole name.
STARS = """() => [...document.querySelectorAll('.lane')].filter(lane => lane.checkVisibility()).map(({ lane }) => lane.graph)
    .flatMap(graph => [...graph.nodes.values()].filter(node => node.role === 'answer')
        .map(({ id, name }) => [name, graph.cy.getElementById(`n${id}`).data('label')]).filter(([name, label]) => name !== label))"""
# Whether the page or the lanes are higher than what shows them.
CUT = """() => [document.scrollingElement, document.querySelector('.lanes')].some(one => one.scrollHeight > one.clientHeight + 1)"""
# Of each lane whether its printed picture lies in it, and the height of the picture.
PRINTED = """lanes => lanes.map(lane => {
    const [inner, outer] = [lane.querySelector('svg.printed'), lane].map(one => one.getBoundingClientRect());
    const inside = inner.left >= outer.left && inner.right <= outer.right + 1 && inner.bottom <= outer.bottom + 1;
    return [inside && outer.right <= innerWidth, inner.height];
})"""
# Of each row over a picture the controls that overlap.
APART = """bars => bars.map(bar => {
    const all = [...bar.querySelectorAll('b, select, button, input, .frame-words')].filter(one => one.checkVisibility());
    const boxes = all.map(one => [one.className, one.getBoundingClientRect()]);
    return boxes.flatMap(([name, a], index) => boxes.slice(index + 1).filter(([, b]) =>
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5)
        .map(([other]) => `${name} lies over ${other}`));
})"""
MOST_LANES = 4


def shown_case(key: str, count: int) -> dict:
    """The presented board of a shipped case, with that many of its lanes."""
    case = comparison_of_case(key)
    lanes = case.lanes[:count]
    data = json.loads(json.dumps(Board(dataclasses.replace(case, lanes=lanes)).payload()))
    while len(data["lanes"]) < count:
        add_lane(data)
    return {**data, "present": True, "most_lanes": MOST_LANES}


def add_lane(data: dict) -> None:
    """One lane more, as a repair adds it: another, under a longer name."""
    model, new = data["lanes"][0], f"lane-{len(data['lanes'])}"
    data["lanes"].append({**model, "id": new, "title": f"{model['title']}, changed"})
    for fates in data["fates"].values():
        if model["id"] in fates:
            fates[new] = fates[model["id"]]
    for node in data["layout"]["nodes"]:
        lanes = (node.get("about") or {}).get("lanes", {})
        if model["id"] in lanes:
            lanes[new] = lanes[model["id"]]


def drawn(page, data: dict) -> None:
    """Draw a presentation, and wait until it is at rest."""
    page.evaluate("payload => present(payload)", data)
    still(page)


def test_no_box_lies_over_another_and_each_picture_has_its_share(browser):
    page = open_room(browser)
    rooms = [
        (key, count, shown_case(key, count))
        for key in [case.id for case, _ in examples()]
        for count in range(1, MOST_LANES + 1)
    ]
    wrong = {}
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        for key, count, data in rooms:
            drawn(page, data)
            room = (key, count, width)
            least = 0.4 if (count, height) == (MOST_LANES, 720) else 0.5
            if faults(page):
                wrong[room] = faults(page)
            if min(picture_shares(page)) < least:
                wrong[(*room, "share")] = picture_shares(page)
            if not data["documents"] and page.evaluate(STARS):
                wrong[(*room, "stars")] = page.evaluate(STARS)
            if width > NARROW and page.evaluate(CUT):
                wrong[(*room, "cut")] = page.evaluate(CUT)
    assert wrong == {}


def test_four_methods_stand_two_by_two_on_a_small_screen(browser):
    page = open_room(browser)
    for width, columns in ((1280, 2), (1399, 2), (1400, 4), (1920, 4)):
        page.set_viewport_size({"width": width, "height": 900})
        drawn(page, shown_case(FIRST, 4))
        lefts = page.locator(".lane").evaluate_all("all => all.map(one => one.offsetLeft)")
        assert len(set(lefts)) == columns


def test_four_methods_on_compare_keep_the_controls_of_a_replay_apart(browser):
    page = open_room(browser)
    page.set_viewport_size({"width": 1280, "height": 720})
    data = {**shown_case(FIRST, 4), "present": False}
    story = {"title": "Search", "frames": [{"title": "hop 1", "paths": []}] * 2}
    data["lanes"][0]["stories"] = [{**story, "title": "PageRank"}, story]
    data["lanes"][1]["stories"] = [story]
    page.evaluate("document.getElementById('board').style.width = '965px'")  # beside the sidebar
    drawn(page, data)
    for _ in range(2):  # at rest, and playing
        assert page.locator(".graph-bar").evaluate_all(APART) == [[]] * 4
        assert page.locator(".stories:visible").evaluate("one => one.offsetWidth") >= 80
        page.get_by_title("Previous frame").first.click()
        still(page)


def test_times_are_shown_on_demand_and_words_of_stages_where_there_is_room(browser):
    page = open_room(browser)
    page.set_viewport_size({"width": 1280, "height": 799})
    drawn(page, shown_case(FIRST, 3))
    words, times = page.locator(".stage-name:visible"), page.locator(".times:visible")
    assert words.count() == times.count() == 0
    assert page.locator(".stage").first.get_attribute("title") == "graph: 6 of 6"
    page.get_by_role("button", name="Where the time of each method went").click()
    still(page)
    assert times.count() == 3 and faults(page) == []
    page.set_viewport_size({"width": 1280, "height": 800})
    assert words.count() == 15


def test_a_list_that_is_cut_says_how_much_is_below(browser):
    page = open_room(browser)
    page.set_viewport_size({"width": 1280, "height": 720})
    drawn(page, shown_case("example-documents-1", 4))
    signs = page.locator(".found").evaluate_all(
        "all => all.map(one => [one.classList.contains('goes-on'), one.querySelector('.hit-tabs').dataset.below])"
    )
    assert signs[0] == [True, "4 more below"]


def test_a_slash_asks_and_escape_closes_the_field_before_it_leaves(browser):
    page = open_room(browser)
    drawn(page, shown_case(FIRST, 3))
    page.keyboard.press("/")
    field = page.get_by_label("Question from the room", exact=True)
    box, band = field.bounding_box(), page.locator(".band").bounding_box()
    assert box["y"] + box["height"] <= band["y"] and field.input_value() == ""
    page.keyboard.press("Escape")
    assert field.count() == 0 and page.evaluate("pressed") == []
    page.get_by_role("button", name="Ask a question from the room").click()
    page.keyboard.type("who directed /Alien/?")
    page.keyboard.press("Enter")
    assert page.evaluate("pressed.at(-1).edits.map(edit => edit.ask)") == ["who directed /Alien/?"]
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    assert page.evaluate("pressed.at(-1).edits.at(-1).leave")


@pytest.mark.parametrize("what", ["This picture", "All methods"])
def test_pictures_are_saved_as_svg_and_png(browser, what):
    page = open_room(browser)
    data = shown_case(FIRST, 3)
    data["layout"]["nodes"][0]["name"] = "<b>Police</b> & \x00 Academy"
    drawn(page, data)
    files = []
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            page.get_by_label("Save a picture").first.select_option(f"{what} as {kind}")
        files.append(download.value)
    svg, png = (file.path().read_bytes() for file in files)
    root = ElementTree.fromstring(svg)
    texts = [text.text for text in root.iter(f"{SVG}text")]
    lanes = 1 if what == "This picture" else 3
    assert sum("<b>Police</b>" in (text or "") for text in texts) == lanes
    assert all(texts.count(year) == lanes for year in data_years(data))
    assert png.startswith(b"\x89PNG") and int.from_bytes(png[16:20]) == round(
        2 * float(root.get("width"))
    )
    assert files[0].suggested_filename.startswith("when-did-the-movies") and all(
        file.suggested_filename.endswith(end) for file, end in zip(files, (".svg", ".png"))
    )


def data_years(data: dict) -> list[str]:
    """The correct answers."""
    return [node["name"] for node in data["layout"]["nodes"] if node["role"] == "answer"]


@pytest.mark.parametrize("present", [True, False])
def test_printed_it_is_one_page_with_whole_pictures(browser, present):
    page = open_room(browser)
    page.set_viewport_size({"width": 1920, "height": 1080})
    drawn(page, {**shown_case(FIRST, 4), "present": present})
    page.evaluate("document.getElementById('head').hidden = true")  # the app prints the board alone
    assert pages_of(page) == 1
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1060, "height": 730})  # of a page
    lanes = page.locator(".lane").evaluate_all(PRINTED)
    assert len(lanes) == 4 and all(inside and height >= 120 for inside, height in lanes)


def test_a_printed_report_is_one_page(report):  # noqa: F811
    assert pages_of(report(shown_case(FIRST, 3))) == 1


def pages_of(page) -> int:
    """The number of pages that the browser prints."""
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True)))
