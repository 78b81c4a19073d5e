"""Present on screens from small to large, in one page of a real browser.

Nothing in a lane lies over another thing, no text is cut without a sign, and pictures are large.
"""

from __future__ import annotations

import dataclasses
import json
import re
from itertools import product
from xml.etree import ElementTree

import pytest

from core.cases.examples import examples
from core.cases.store import comparison_of_case
from pages.parts.board.payload import Board
from tests.pages.board.boxes import faults, picture_shares
from tests.pages.board.room import open_room
from tests.pages.board.still import still
from tests.pages.board.test_board import report  # noqa: F401 - a fixture

SCREENS = ((1280, 720), (1920, 1080), (3840, 2160), (390, 844))
LARGEST = 3840  # pixels of the widest screen, where only the fewest and the most lanes are drawn
NARROW = 640  # width up to which the page scrolls
FIRST = "example-demo-1"
SVG = "{http://www.w3.org/2000/svg}"
# Correct answers whose label is not their whole name.
STARS = """() => [...document.querySelectorAll('.lane')].filter(lane => lane.checkVisibility()).map(({ lane }) => lane.graph)
    .flatMap(graph => [...graph.nodes.values()].filter(node => node.role === 'answer')
        .map(({ id, name }) => [name, graph.cy.getElementById(`n${id}`).data('label').replace(/\\n/g, ' ')])
        .filter(([name, label]) => name !== label))"""
# Names that are cut or left out although the whole name, in one row or two, has a free place beside, over or under its mark.
CUT_NAMES = """air => [...document.querySelectorAll('.lane')].filter(lane => lane.checkVisibility()).flatMap(({ lane }) => {
    const { cy, canvas, nodes } = lane.graph;
    const pen = document.createElement('canvas').getContext('2d');
    const box = (x, y, width, height) => ({ x1: x - width / 2, x2: x + width / 2, y1: y - height / 2, y2: y + height / 2 });
    const meet = (one, other) => one.x1 < other.x2 && other.x1 < one.x2 && one.y1 < other.y2 && other.y1 < one.y2;
    const taken = cy.nodes().toArray().flatMap(node => [
        [node.id(), box(node.position('x'), node.position('y'), node.width(), node.height())],
        ...(node.data('label') ? [[node.id(), node.boundingBox({ includeNodes: false, includeOverlays: false, includeUnderlays: false })]] : []),
    ]);
    return [...nodes.values()].flatMap(({ id, name }) => {
        const node = cy.getElementById(`n${id}`), label = node.data('label').replace(/\\n/g, ' ');
        if (label === name.replace(/\\s+/g, ' ').trim()) return [];
        const size = node.numericStyle('font-size'), { x, y } = node.position(), words = name.split(/\\s+/);
        pen.font = `${node.style('font-weight')} ${size}px ${node.style('font-family')}`;
        const wide = text => pen.measureText(text).width;
        const halves = words.slice(1).map((_, i) => Math.max(wide(words.slice(0, i + 1).join(' ')), wide(words.slice(i + 1).join(' '))));
        const sizes = [[wide(name), size], ...(halves.length ? [[Math.min(...halves), 2.2 * size]] : [])];
        return sizes.flatMap(([width, height]) => {
            const [aside, down] = [(node.width() + width) / 2 + air, (node.height() + height) / 2 + air];
            const free = [[aside, 0], [-aside, 0], [0, down], [0, -down]]
                .map(([dx, dy]) => box(x + dx, y + dy, width + 2 * air, height + 2 * air))
                .filter(one => one.x1 > 0 && one.y1 > 0 && one.x2 < canvas.clientWidth && one.y2 < canvas.clientHeight)
                .filter(one => !taken.some(([id, other]) => id !== node.id() && meet(one, other)));
            return free.length ? [`${label || 'nothing'} for ${name}`] : [];
        });
    });
})"""
AIR = 8  # pixels around a name
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
# The width of a select, and of the longest name in it.
STORY = """one => {
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = getComputedStyle(one).font;
    return [one.clientWidth, Math.max(...[...one.options].map(option => pen.measureText(option.text).width))];
}"""
ARROW = 20  # pixels of a select beside its text
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
    page.evaluate("text => present(JSON.parse(text))", json.dumps(data))  # cheaper than as it is
    still(page)


def wrong_in(page, data: dict, size: tuple[int, int]) -> list:
    """Return the faults of a presentation as it is drawn on a screen of that size."""
    width, height = size
    least = 0.4 if (len(data["lanes"]), height) == (MOST_LANES, 720) else 0.5
    shares = picture_shares(page)
    return [
        *faults(page),
        *([f"shares {shares}"] if min(shares) < least else []),
        *([] if data["documents"] else page.evaluate(STARS)),
        *(["cut"] if width > NARROW and page.evaluate(CUT) else []),
    ]


def test_no_box_lies_over_another_and_each_picture_has_its_share(browser):
    page = open_room(browser)
    keys = [case.id for case, _ in examples()]
    rooms = {room: shown_case(*room) for room in product(keys, range(1, MOST_LANES + 1))}
    wrong = {}
    for size in SCREENS:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for room, data in rooms.items():
            if size[0] < LARGEST or room[1] in (1, MOST_LANES):
                drawn(page, data)
                wrong[(*room, size)] = wrong_in(page, data, size)
    assert not {room: found for room, found in wrong.items() if found}


def test_no_name_is_cut_where_it_has_room(browser):
    page = open_room(browser)
    page.set_viewport_size({"width": 1280, "height": 720})
    cut = {}
    for key in [case.id for case, _ in examples()]:
        drawn(page, shown_case(key, 3))
        cut[key] = page.evaluate(CUT_NAMES, AIR)
    assert cut == dict.fromkeys(cut, [])
    drawn(page, shown_case(FIRST, 3))
    names = page.locator(".lane").evaluate_all(
        "lanes => lanes.map(({ lane }) => lane.graph.cy.nodes().map(node => node.data('label')))"
    )
    for labels in names:
        whole = {" ".join(label.split("\n")) for label in labels}
        assert {"Rustlers' Rhapsody", "Guarding Tess", "The First Wives Club"} <= whole


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


@pytest.mark.parametrize("present", [False, True])
def test_three_methods_show_the_name_of_a_story_whole(browser, present):
    page = open_room(browser)
    page.set_viewport_size({"width": 1280, "height": 720})
    data = {**shown_case(FIRST, 3), "present": present}
    frames = [{"title": "hop 1", "paths": []}] * 2
    titles = ("Beam search", "PageRank")
    data["lanes"][0]["stories"] = [{"title": title, "frames": frames} for title in titles]
    if not present:
        page.evaluate(
            "document.getElementById('board').style.width = '965px'"
        )  # beside the sidebar
    drawn(page, data)
    width, text = page.locator(".stories:visible").evaluate(STORY)
    assert width - ARROW >= text
    assert page.locator(".graph-bar").evaluate_all(APART) == [[]] * 3


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
