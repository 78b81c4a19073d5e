"""Map of communities: one tile for each, with an area by its number of entities.

A click on a tile opens the community.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import streamlit as st

from pages.parts.shared.session_state import Session, session

MAP_ASPECT = 2.4  # assumed ratio of the map's width to its height
SIZE_EXPONENT = 0.75  # exponent of the sizes; below 1, small tiles get more space for words
TileBox = tuple[float, float, float, float]  # left, top, width, height in percent of the map

# Tiles are buttons, so that the map can be used by keyboard. Titles are set as text, not HTML.
_JS = """export default function({data, parentElement, setTriggerValue}) {
  let map = parentElement.querySelector(".map");
  if (!map) { map = document.createElement("div"); map.className = "map"; \
parentElement.append(map); }
  const rows = document.createElement("div");
  rows.className = "rows";
  map.setAttribute("role", "group");
  map.setAttribute("aria-label", data.label);
  map.replaceChildren(rows);
  rows.append(...data.tiles.map(tile => {
    const button = document.createElement("button");
    const [left, top, width, height] = tile.place;
    Object.assign(button.style, {left: left + "%", top: top + "%", width: width + "%", height: \
height + "%"});
    button.style.setProperty("--heat", tile.heat + "%");
    button.title = tile.title + " · " + tile.words;
    const title = document.createElement("b"), words = document.createElement("span");
    title.textContent = tile.title;
    words.textContent = tile.words;
    button.append(title, words);
    button.setAttribute("aria-label", button.title);
    button.onclick = () => setTriggerValue("opened", tile.row);
    return button;
  }));
}"""
# On a narrow screen, tiles would be too small for words, so they are listed in rows, largest first.
_CSS = """.map { width: 100%; font-family: var(--st-font); container: map / inline-size; }
.map button { position: absolute; box-sizing: border-box; overflow: hidden; padding: .3rem .45rem; \
text-align: left; cursor: pointer;
  display: flex; flex-direction: column; justify-content: flex-start; font: inherit; font-size: \
.86rem; line-height: 1.25;
  color: var(--st-text-color); border: 2px solid var(--st-background-color); border-radius: 8px; \
container: tile / size;
  background: color-mix(in srgb, var(--st-primary-color) var(--heat), \
var(--st-secondary-background-color)); }
.map button:hover, .map button:focus-visible { border-color: var(--st-primary-color); outline: \
none; }
.map b { font-weight: 600; overflow-wrap: break-word; overflow: hidden; display: -webkit-box; \
-webkit-box-orient: vertical;
  -webkit-line-clamp: 4; flex-shrink: 0; }
@container tile (max-height: 90px) { .map b { -webkit-line-clamp: 3; } .map span { display: none; \
} }
@container tile (max-height: 55px) { .map b { -webkit-line-clamp: 2; } }
@container tile (max-height: 34px) { .map b { -webkit-line-clamp: 1; } }
@container tile (max-width: 42px) or (max-height: 16px) { .map b, .map span { display: none; } }
.rows { position: relative; height: 400px; }
@container map (max-width: 700px) {
  .rows { display: flex; flex-wrap: wrap; gap: .2rem; height: auto; }
  .rows button { position: static; width: auto !important; max-width: 100%; height: auto \
!important; container-type: normal; }
  .rows b, .rows span { display: block !important; }
}"""


@cache
def _component():
    return st.components.v2.component("hopscope_communities", js=_JS, css=_CSS)


def draw_map(tiles: Sequence[dict[str, Any]], label: str, on_open: Callable[[int], None]) -> None:
    """Draw a map with a tile for each community.

    Parameters
    ----------
    tiles : for each community a dict with its `row`, `title`, `words`, `size` (number of entities)
        and `heat` (percent of the colour); largest first.
    label : name of the map, for screen readers.
    on_open : called with the row of a tile that is clicked.
    """
    boxes = layout_tiles([tile["size"] ** SIZE_EXPONENT for tile in tiles])

    def open_clicked() -> None:
        row = session.texts_map.opened
        if row is not None:
            on_open(int(row))

    tile_data = [{**tile, "place": box} for tile, box in zip(tiles, boxes)]
    _component()(
        key=Session.texts_map.name,
        data={"tiles": tile_data, "label": label},
        on_opened_change=open_clicked,
    )


def layout_tiles(sizes: Sequence[float]) -> list[TileBox]:
    """Return the box of a tile for each size.

    The areas of the boxes are proportional to the sizes, and together they fill the map. Each box
    is as close to a square as rows of tiles allow (squarified treemaps; Bruls, Huizing and van
    Wijk). The sizes must be positive and in descending order.

    >>> from pages.parts.texts.community_map import layout_tiles
    >>> layout_tiles([1.0])
    [(0.0, 0.0, 100.0, 100.0)]
    """
    total = sum(sizes)
    areas = [size * MAP_ASPECT / total for size in sizes]  # The map has height 1.
    # The part of the map that is still empty.
    left, top, width, height = 0.0, 0.0, MAP_ASPECT, 1.0
    tiles = []
    start = 0
    while start < len(areas):
        # A row lies along the shorter side. It gets longer while its tiles become more square.
        is_wide = height <= width
        side = min(width, height)
        end = start + 1
        while end < len(areas) and _worst_aspect(areas[start : end + 1], side) <= _worst_aspect(
            areas[start:end], side
        ):
            end += 1
        row = areas[start:end]
        thickness = sum(row) / side
        offset = 0.0
        for area in row:
            length = area / thickness
            if is_wide:
                x, y, w, h = left, top + offset, thickness, length
            else:
                x, y, w, h = left + offset, top, length, thickness
            tiles.append((100 * x / MAP_ASPECT, 100 * y, 100 * w / MAP_ASPECT, 100 * h))
            offset += length
        if is_wide:
            left += thickness
            width -= thickness
        else:
            top += thickness
            height -= thickness
        start = end
    return tiles


def _worst_aspect(row: Sequence[float], side: float) -> float:
    """Return the largest aspect ratio of the tiles of a row.

    `row` has the areas of the tiles, and `side` is the length of the row.
    """
    thickness = sum(row) / side
    return max(max(thickness * thickness / area, area / (thickness * thickness)) for area in row)
