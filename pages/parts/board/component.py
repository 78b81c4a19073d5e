"""The board: 1 to 4 lanes on one shared layout, drawn in the browser by assets/board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from core.io.json_text import json_text
from pages.parts.shared.edits import new_edits
from pages.parts.shared.scripts import ASSETS, component, joined, joined_styles
from pages.parts.shared.session_state import Session

FOLDER = ASSETS / "board"
STYLES = ("board", "texts", "prompts", "together")


def script() -> str:
    """The modules of assets/board as one."""
    return joined(FOLDER / "board.js")


def style() -> str:
    """The stylesheets of assets/board as one."""
    return joined_styles(FOLDER / f"{name}.css" for name in STYLES)


@dataclass(frozen=True)
class Pressed:
    """What was pressed on the board and was not done before:

    - `go`: in a node's panel, ``{"node": id, "to": "walk" | "start" | "without" | "rename" | "merge"}``, with the ``name`` or
      the id of the ``other`` node for the last two, or ``{"path": key, "to": "without"}``; the
      buttons are those of ``payload["ways"]``
    - `repair`: the number of the lane whose repair was asked for; ``payload["repairs"] = False`` draws no such button
    - `lane`: what is to be done with a lane: ``{"lane": 0, "do": "change" | "step" | "remove" | "add" | "influence" |
      "influence-stop"}``, of a payload that is ``editable`` or whose lanes have a ``measure``
    - `thumb`: ``{"lane": "lane-0", "verdict": "up" | "down" | "none"}``
    """

    go: dict[str, Any] | None = None
    repair: int | None = None
    lane: dict[str, Any] | None = None
    thumb: dict[str, Any] | None = None


def as_bytes(payload: dict[str, Any]) -> bytes:
    """The payload as JSON. Of a dictionary Streamlit makes JSON twice in each run, once with sorted
    keys to know the component again; bytes are sent as they are."""
    try:
        return orjson.dumps(payload, option=orjson.OPT_NON_STR_KEYS)
    # half a character of UTF-16 in a name, or a number of more than 64 bits
    except orjson.JSONEncodeError:
        return json_text(payload, ensure_ascii=True).encode()


def board(payload: dict[str, Any], key: str) -> Pressed:
    """The mounted board; what was pressed, each press once.

    The browser sends a press again until the page has received it, as a run of the page that
    another one cuts short receives nothing. The code of the board, and Cytoscape from ``static/``,
    are fetched once by the browser, so a run sends the payload.
    """
    received = Session.board_received[key]
    result = component("board", STYLES)(
        key=key,
        data=as_bytes({**payload, **received.value._asdict()}),
        on_pressed_change=lambda: None,
    )
    new, received.value = new_edits(getattr(result, "pressed", None), received.value)
    return Pressed(**{press["kind"]: press["value"] for press in new})
