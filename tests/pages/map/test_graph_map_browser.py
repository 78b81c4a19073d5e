"""The map in a real browser: what is drawn where, and what a click, a key and a search do."""

from __future__ import annotations

import pytest

from core.graph.building.build import build
from core.indexes.graph_maps import load_map
from tests.server import CHROMIUM, open_page, server

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")
CANVAS = ".map canvas"


def made_graph(folder):
    """Twelve stars of 40 leaves whose hubs are in a ring."""
    triples = [
        (f"hub {h:02}", "holds", f"leaf {h:02}-{i:02}") for h in range(12) for i in range(40)
    ]
    triples += [(f"hub {h:02}", "near", f"hub {(h + 1) % 12:02}") for h in range(12)]
    return build(triples, folder, "stars", "both")


@pytest.fixture(scope="module")
def stars(browser, tmp_path_factory):
    """Yield the address of the page Graphs with the stars, their graph and its map."""
    home = tmp_path_factory.mktemp("map-browser")
    graph = made_graph(home / "graphs" / "stars")
    with server(HOPSCOPE_HOME=str(home)) as (address, _):
        yield f"{address}/graphs?graph=stars", graph, load_map(graph)


@pytest.fixture(scope="module")
def page(stars):
    """A page with the map. Each test finds the whole of it there, unmoved."""
    with open_page(stars[0]) as opened:
        yield opened


@pytest.fixture
def whole(page):
    """The picture of the whole map."""
    canvas = page.locator(CANVAS)
    canvas.wait_for(timeout=60_000)
    canvas.focus()
    page.keyboard.press("0")
    return drawn(page, "nodes === 492")


def drawn(page, condition="true"):
    """Numbers and view of the picture, once it is sharp, has its names and fulfils a condition."""
    canvas = page.locator(CANVAS)
    canvas.wait_for(timeout=60_000)
    return page.wait_for_function(
        f"""(canvas) => {{
            const told = canvas.dataset;
            if (told.named !== "true" || told.moving !== "false") return null;
            const names = ["nodes", "edges", "names", "scale", "x", "y"];
            const [nodes, edges, texts, scale, x, y] = names.map((name) => Number(told[name]));
            return {condition} && {{ nodes, edges, names: texts, scale, x, y }};
        }}""",
        arg=canvas.element_handle(),
        timeout=60_000,
    ).json_value()


def place(page, stars, name, picture):
    """Position of a node in the window."""
    _, graph, graph_map = stars
    number = graph_map.nodes.tolist().index(graph.nodes_named(name)[0])
    x, y = graph_map.xy[number].tolist()
    box = page.locator(CANVAS).bounding_box()
    return (
        box["x"] + picture["x"] + x * picture["scale"],
        box["y"] + picture["y"] + y * picture["scale"],
    )


def test_all_is_drawn(whole):
    assert whole["nodes"] == 492 and whole["edges"] == 492 and whole["names"] >= 12


def test_a_nearer_picture_leaves_out_what_is_outside(page, stars, whole):
    page.mouse.move(*place(page, stars, "leaf 03-11", whole))
    for _ in range(5):
        page.mouse.wheel(0, -400)
    near = drawn(page, f"scale > {7 * whole['scale']}")
    assert 0 < near["nodes"] < 120 and near["edges"] < whole["edges"]
    # The node under the pointer stays there; the pointer is at a whole pixel.
    tolerance = near["scale"] / whole["scale"]
    for before, after in zip(
        place(page, stars, "leaf 03-11", whole), place(page, stars, "leaf 03-11", near)
    ):
        assert abs(before - after) <= tolerance


def test_keys_move_and_zoom_the_map(page, whole):
    page.keyboard.press("+")
    near = drawn(page, f"scale > {whole['scale']} + 1")
    assert near["scale"] == pytest.approx(1.5 * whole["scale"])
    page.keyboard.press("ArrowRight")
    right = drawn(page, f"x < {near['x']} - 1")
    assert right["x"] == pytest.approx(near["x"] - 60) and right["y"] == near["y"]
    page.keyboard.press("-")
    page.keyboard.press("0")
    assert drawn(page, f"Math.abs(scale - {whole['scale']}) < 1") == whole


def test_a_drag_moves_the_map_and_opens_nothing(page, stars, whole):
    x, y = place(page, stars, "hub 02", whole)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 25, steps=4)
    page.mouse.up()
    moved = drawn(page, f"x > {whole['x']} + 30")
    assert (moved["x"], moved["y"]) == pytest.approx((whole["x"] + 60, whole["y"] + 25))
    assert "entity" not in page.url


def test_a_click_on_a_node_opens_it(page, stars, whole):
    x, y = place(page, stars, "hub 07", whole)
    page.mouse.move(x, y)
    page.locator(".map .tip", has_text="hub 07 · 42 relations").wait_for()
    page.mouse.click(x, y)
    page.wait_for_url("**entity=hub*07**", timeout=30_000)
    page.get_by_text("Shown: ").wait_for(timeout=30_000)


def test_a_narrow_window_holds_the_whole_map(stars):
    """In it, too, a name is found without a mouse."""
    with open_page(stars[0], width=390) as page:
        picture = drawn(page)
        box = page.locator(CANVAS).bounding_box()
        assert picture["nodes"] == 492 and box["x"] >= 0 and box["x"] + box["width"] <= 390
        assert picture["scale"] <= box["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        # The page Graphs has a search of its own, and hides that of the map.
        page.locator(".map .finder").evaluate("finder => { finder.hidden = false; }")
        search = page.get_by_label("Search the map by name")
        search.fill("-39")
        hits = page.locator(".map .hit")
        hits.first.wait_for()
        assert hits.count() == 8 and all("-39" in text for text in hits.all_inner_texts())
        search.fill("LEAF 05-3")
        page.locator(".map .hit", has_text="leaf 05-30").wait_for()
        search.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**entity=leaf*05-31**", timeout=30_000)
