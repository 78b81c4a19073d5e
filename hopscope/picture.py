"""HTML of a comparison without scripts: one card per lane and one SVG picture of the paths.

Notebooks show it for a `Comparison`. A lane is the result of one method.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from operator import itemgetter
from typing import Any

from core.errors import shorten
from core.graph.algorithms.layout import kamada_kawai
from core.languages.spelling import name_key, normalize

MAX_LISTED_ITEMS = 5  # paths or hits that a card names
MAX_DRAWN_NODES = 24
# All lengths are in pixels.
SVG_WIDTH = 960
SVG_HEIGHT = 360
SVG_MARGINS = (110, 36)  # at the left and right, and at the top and bottom
EDGE_PARTS = 24  # parts of an edge, between which labels should not cover it
LETTER_WIDTH = 6.2  # of a label, on average
LABEL_ASCENT = 10  # height of a label above its baseline
LABEL_DESCENT = 3  # and below
# Candidate positions of a label, preferred first: offset to the right and downwards from its node,
# and its anchor.
LABEL_SIDES = (
    (11, 4, "start"),
    (-11, 4, "end"),
    (0, -11, "middle"),
    (0, 20, "middle"),
    (8, -9, "start"),
    (-8, -9, "end"),
    (8, 17, "start"),
    (-8, 17, "end"),
    (0, -25, "middle"),
    (0, 34, "middle"),
)
# Share of a label's width that is left of its position, by anchor.
LEFT_SHARES = {"start": 0.0, "middle": 0.5, "end": 1.0}
Box = tuple[float, float, float, float]  # left, top, right, bottom in pixels
# Colours of the lanes, used in turn.
LANE_COLOURS = (
    "#1d6fa5",
    "#b3541e",
    "#2e7d4f",
    "#7a4fa3",
    "#8a6d1c",
    "#a8324a",
    "#3c6e71",
    "#5c5c5c",
)
CARD_STYLE = """<style>
.hopscope { font: 13px/1.45 system-ui, sans-serif; color: #1f2933; background: #fff; \
padding: 8px 10px; max-width: 1100px; }
.hopscope h4 { margin: 0 0 6px; font-size: 15px; }
.hopscope .lanes { display: flex; flex-wrap: wrap; gap: 10px; }
.hopscope .lane { flex: 1 1 260px; min-width: 0; border: 1px solid #dbe1e7; border-top: 3px solid; \
border-radius: 8px; padding: 7px 10px; }
.hopscope .name { font-weight: 600; overflow-wrap: anywhere; }
.hopscope .answer { font-size: 15px; margin: 3px 0; overflow-wrap: anywhere; }
.hopscope ol { margin: 4px 0; padding-left: 20px; }
.hopscope li, .hopscope .small { color: #52606d; font-size: 12px; overflow-wrap: anywhere; \
text-align: left; }
.hopscope .wrong { color: #a8324a; }
.hopscope svg { display: block; max-width: 100%; height: auto; margin-top: 8px; }
.hopscope svg text { font: 11px system-ui, sans-serif; fill: #1f2933; paint-order: stroke; \
stroke: #fff; stroke-width: 3px; }
@media (prefers-color-scheme: dark) {
  .hopscope { color: #e4e9ee; background: #161d25; }
  .hopscope .lane { border-color: #303b47; }
  .hopscope li, .hopscope .small { color: #9aa5b1; }
  .hopscope svg text { fill: #e4e9ee; stroke: #161d25; }
}
</style>"""


def html(data: Mapping[str, Any]) -> str:
    """Return a comparison as a piece of HTML.

    All names in it are escaped.

    Parameters
    ----------
    data : dict
        The object that `core.results.comparison_dict` returns.

    Returns
    -------
    str
        A style sheet, one card per lane, and the picture.
    """
    cards = "".join(
        _card(lane, LANE_COLOURS[index % len(LANE_COLOURS)], data)
        for index, lane in enumerate(data["lanes"])
    )
    return (
        f'{CARD_STYLE}<div class="hopscope"><h4>{escape(data["question"])}</h4>'
        f'<div class="lanes">{cards}</div>{svg(data)}</div>'
    )


def _card(lane: Mapping[str, Any], colour: str, data: Mapping[str, Any]) -> str:
    seconds = sum(step["seconds"] for step in lane["operators"])
    tokens = sum(step["tokens_in"] + step["tokens_out"] for step in lane["operators"])
    cost = f"{seconds:.2f} s" + (f", {tokens:,} tokens" if tokens else "")
    parts = [f'<div class="name">{escape(shorten(lane["instance"], 80))}</div>']
    if lane["beside"]:  # what changed after something was taken away
        parts.append(f'<div class="small">{escape(lane["beside"]["text"])}</div>')
    if lane["error"]:
        parts.append(f'<div class="wrong">{escape(lane["error"])}</div>')
    else:
        parts += [
            f'<div class="answer">{_answer_html(lane, data["answers"])}</div>',
            _items_html(lane),
            _funnel_html(lane),
        ]
    return (
        f'<div class="lane" style="border-top-color:{colour}">{"".join(parts)}'
        f'<div class="small">{cost}</div></div>'
    )


def _answer_html(lane: Mapping[str, Any], known_answers: Sequence[str]) -> str:
    """Return the answer of a lane, with a tick or cross if answers are known."""
    names = [lane["answer"]] if lane["answer"] else (lane["reader_answers"] or [])[:3]
    text = ", ".join(names) or (lane["excerpt"] or {}).get("text", "")
    if not text:
        return '<span class="small">no answer</span>'
    mark = ""
    if known_answers and names and names[0]:
        is_correct = normalize(names[0]) in set(map(normalize, known_answers))
        mark = " ✓" if is_correct else " ✗"
    return escape(shorten(text, 240)) + mark


def _items_html(lane: Mapping[str, Any]) -> str:
    """Return the first paths of a lane, else its first hits, as a list."""
    texts = [path["text"] for path in lane["paths"]] or [
        hit["text"] for hits in lane["hits"].values() for hit in hits
    ]
    items = "".join(f"<li>{escape(shorten(text, 160))}</li>" for text in texts[:MAX_LISTED_ITEMS])
    unlisted = len(texts) - MAX_LISTED_ITEMS
    more = f'<div class="small">and {unlisted:,} more</div>' if unlisted > 0 else ""
    return f"<ol>{items}</ol>{more}"


def _funnel_html(lane: Mapping[str, Any]) -> str:
    """Return how many known answers are left after each stage. Empty if none are known."""
    funnel = {stage: names for stage, names in (lane["funnel"] or {}).items() if names is not None}
    counts = ", ".join(f"{escape(stage)} {len(names)}" for stage, names in funnel.items())
    return f'<div class="small">correct answers left: {counts}</div>' if counts else ""


def svg(data: Mapping[str, Any]) -> str:
    """Return one SVG picture of the first paths of all lanes. Empty without paths.

    A node has the same position for all lanes. The edges of a lane have the lane's colour.

    Parameters
    ----------
    data : dict
        The object that `core.results.comparison_dict` returns.

    Returns
    -------
    str
        An SVG element, or an empty text.
    """
    steps, nodes = _steps(data["lanes"])
    if not steps:
        return ""
    positions = _positions(list(nodes), steps)
    answers = set(map(name_key, data["answers"]))
    starts = set(map(name_key, data["entities"]))
    elements = []
    for (head, tail, relation), lanes in steps.items():
        (x, y), (to_x, to_y) = positions[head], positions[tail]
        title = f"<title>{escape(head)} → {escape(relation)} → {escape(tail)}</title>"
        for index, lane in enumerate(sorted(lanes)):
            shift = 3 * (index - (len(lanes) - 1) / 2)  # the lanes' lines lie next to each other
            line = (
                f'x1="{x + shift:.0f}" y1="{y + shift:.0f}" '
                f'x2="{to_x + shift:.0f}" y2="{to_y + shift:.0f}"'
            )
            elements.append(
                f'<line {line} stroke="{LANE_COLOURS[lane % len(LANE_COLOURS)]}" '
                f'stroke-width="2" opacity=".75">{title}</line>'
            )
    for name, (x, y) in positions.items():
        key = name_key(name)
        colour, radius = "#9aa5b1", 5
        if key in answers:
            colour, radius = "#2e7d4f", 7
        elif key in starts:
            colour, radius = "#1d4e71", 7
        elements.append(
            f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{radius}" fill="{colour}">'
            f"<title>{escape(name)}</title></circle>"
        )
    for text, (x, y), anchor in _labels(positions, steps):
        elements.append(
            f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'
        )
    return (
        f'<svg viewBox="0 0 {SVG_WIDTH} {SVG_HEIGHT}" width="{SVG_WIDTH}" role="img" '
        f'aria-label="What the methods retrieved">{"".join(elements)}</svg>'
    )


def _labels(
    positions: Mapping[str, tuple[float, float]], steps: Iterable[tuple[str, str, str]]
) -> Iterator[tuple[str, tuple[float, float], str]]:
    """Yield the label of each node with the position at which it covers least.

    A label gets the position of `LABEL_SIDES` at which it covers the smallest area of nodes, edges,
    earlier labels and the outside of the picture. Of equal ones, the earlier position is chosen.

    Yields
    ------
    The shortened name, the position in pixels, and the anchor of the label.
    """
    taken_boxes = [(x - 8, y - 8, x + 8, y + 8) for x, y in positions.values()]
    for head, tail, _ in steps:
        (x, y), (to_x, to_y) = positions[head], positions[tail]
        dots = [
            (x + share * (to_x - x), y + share * (to_y - y))
            for share in (step / EDGE_PARTS for step in range(1, EDGE_PARTS))
        ]
        taken_boxes += [(dot_x - 3, dot_y - 3, dot_x + 3, dot_y + 3) for dot_x, dot_y in dots]
    for name, (x, y) in positions.items():
        text = shorten(name, 28)
        width = len(text) * LETTER_WIDTH
        candidates: list[tuple[float, Box, tuple[float, float], str]] = []
        for right, down, anchor in LABEL_SIDES:
            left = x + right - width * LEFT_SHARES[anchor]
            box = (left, y + down - LABEL_ASCENT, left + width, y + down + LABEL_DESCENT)
            # Width and height of the part beyond the picture. A cut above or below is weighted by
            # the picture's width, so that it is avoided most.
            cut_width = max(0.0, -box[0], box[2] - SVG_WIDTH)
            cut_height = max(0.0, -box[1], box[3] - SVG_HEIGHT)
            covered = cut_width * (LABEL_ASCENT + LABEL_DESCENT) + cut_height * SVG_WIDTH
            covered += sum(_overlap(box, other) for other in taken_boxes)
            candidates.append((covered, box, (x + right, y + down), anchor))
        _, box, point, anchor = min(candidates, key=itemgetter(0))
        taken_boxes.append(box)
        yield text, point, anchor


def _overlap(one: Box, other: Box) -> float:
    """The area that two boxes share, in square pixels."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(0.0, width) * max(0.0, height)


def _steps(
    lanes: Sequence[Mapping[str, Any]],
) -> tuple[dict[tuple[str, str, str], set[int]], dict[str, None]]:
    """Collect the edges and nodes to draw from the paths of all lanes.

    Lanes are read in turn: the best path of each, then the second best, and so on. A path with
    which there would be more than `MAX_DRAWN_NODES` nodes is skipped.

    Returns
    -------
    For each edge (head, tail, relation), the indices of the lanes whose paths have it; and the
    nodes.
    """
    steps: dict[tuple[str, str, str], set[int]] = {}
    nodes: dict[str, None] = {}
    for rank in range(max((len(lane["paths"]) for lane in lanes), default=0)):
        for index, lane in enumerate(lanes):
            path = lane["paths"][rank] if rank < len(lane["paths"]) else None
            if path is None or len(nodes.keys() | set(path["nodes"])) > MAX_DRAWN_NODES:
                continue
            nodes |= dict.fromkeys(path["nodes"])
            for head, tail, relation in zip(path["nodes"], path["nodes"][1:], path["relations"]):
                steps.setdefault((head, tail, relation), set()).add(index)
    return steps, nodes


def _positions(
    nodes: list[str], steps: Mapping[tuple[str, str, str], Any]
) -> dict[str, tuple[float, float]]:
    """Return a position in pixels for each node, the same in every process."""
    indices = {name: index for index, name in enumerate(nodes)}
    pairs = [(indices[head], indices[tail]) for head, tail, _ in steps]
    points = kamada_kawai(len(nodes), pairs).tolist() if len(nodes) > 1 else [(0.0, 0.0)]
    lows = [min(axis) for axis in zip(*points)]
    highs = [max(axis) for axis in zip(*points)]

    def scale(value: float, axis: int, size: int) -> float:
        extent = highs[axis] - lows[axis]
        share = (value - lows[axis]) / extent if extent > 1e-9 and math.isfinite(value) else 0.5
        return SVG_MARGINS[axis] + share * (size - 2 * SVG_MARGINS[axis])

    return {
        name: (scale(x, 0, SVG_WIDTH), scale(y, 1, SVG_HEIGHT))
        for name, (x, y) in zip(nodes, points)
    }
