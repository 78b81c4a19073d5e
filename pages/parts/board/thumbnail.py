"""Thumbnail of a saved case: its picture without names, as SVG.

It is saved in the person's folder when the case is saved or opened, and deleted with the case.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from html import escape
from typing import Any

from core.cases.store import thumbnail_file
from core.io.durable_files import write_whole

THUMBNAIL_SIZE = (360, 190)  # pixels, as a list shows it
THUMBNAIL_MARGIN = 18  # pixels
# An image has no style sheet of its page. These colours can be seen on light and dark.
IMAGE_TAG = '<svg xmlns="http://www.w3.org/2000/svg" '
IMAGE_STYLE = (
    "<style>line{stroke:#8a96a2;stroke-opacity:.5}.path{stroke:#4b8fc0;stroke-width:2;"
    "stroke-opacity:1}circle{fill:#8a96a2;r:3.5px}.question{fill:#d9822b;r:6px}"
    ".answer,.gold{fill:#2f9e6b;r:6px}</style></svg>"
)


def thumbnail_svg(payload: Mapping[str, Any]) -> str:
    """Return the board's picture without names, as an SVG element. Empty without nodes.

    The edges of the best paths of all lanes are marked.
    """
    width, height = THUMBNAIL_SIZE
    points: dict[Any, tuple[str, str]] = {}
    for node in payload["layout"]["nodes"]:
        left = THUMBNAIL_MARGIN + node["x"] * (width - 2 * THUMBNAIL_MARGIN)
        top = THUMBNAIL_MARGIN + node["y"] * (height - 2 * THUMBNAIL_MARGIN)
        points[node["id"]] = (f"{left:.0f}", f"{top:.0f}")
    marked = set()
    for lane in payload["lanes"]:
        for item in lane["paths"] or ():
            marked.update(payload["paths"][item["key"]]["edges"])
    lines = []
    # Marked edges come last, so that they lie over the others.
    for edge in sorted(payload["layout"]["edges"], key=lambda edge: edge["id"] in marked):
        x, y = points[edge["source"]]
        to_x, to_y = points[edge["target"]]
        css = ' class="path"' if edge["id"] in marked else ""
        lines.append(f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}"{css}/>')
    circles = []
    for node in payload["layout"]["nodes"]:
        x, y = points[node["id"]]
        circles.append(f'<circle cx="{x}" cy="{y}" r="5" class="{escape(node["role"])}"/>')
    if not circles:
        return ""
    marks = "".join((*lines, *circles))
    return f'<svg viewBox="0 0 {width} {height}" aria-hidden="true">{marks}</svg>'


def save_thumbnail(case_id: str, payload: Mapping[str, Any]) -> None:
    """Save the thumbnail of a case, from its board's payload. Nothing happens on a full disk."""
    svg = thumbnail_svg(payload)
    if svg:
        image = svg.replace("<svg ", IMAGE_TAG, 1).replace("</svg>", IMAGE_STYLE)
        file = thumbnail_file(case_id)
        with suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            write_whole(file, lambda path: path.write_text(image, "utf-8"), durable=False)


def thumbnail_address(case_id: str) -> str | None:
    """Return the thumbnail of a case as a data address. None if there is none."""
    try:
        image = thumbnail_file(case_id).read_bytes()
    except OSError:
        return None
    return f"data:image/svg+xml;base64,{b64encode(image).decode()}"
