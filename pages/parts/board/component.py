"""Browser component of the board, whose code is in assets/board.

It shows one to four lanes on one shared layout. A lane is one retrieval method that answers the
question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from core.io.json_text import json_text
from pages.parts.shared.edits import new_edits
from pages.parts.shared.scripts import ASSETS_FOLDER, component, join_modules, join_styles
from pages.parts.shared.session_state import Session

BOARD_FOLDER = ASSETS_FOLDER / "board"
BOARD_STYLES = ("board", "texts", "prompts", "together")


def join_board_script() -> str:
    """Return the modules of assets/board as one text."""
    return join_modules(BOARD_FOLDER / "board.js")


def join_board_styles() -> str:
    """Return the style sheets of assets/board as one text."""
    return join_styles(BOARD_FOLDER / f"{name}.css" for name in BOARD_STYLES)


@dataclass(frozen=True)
class BoardClicks:
    """Clicks on the board that the page has not handled yet.

    A field is None if nothing of its kind was clicked.

    Attributes
    ----------
    go : a button in a node's panel, ``{"node": id, "to": "walk" | "start" | "without" | "rename" |
        "merge"}``. The last two also have the ``name`` or the id of the ``other`` node. A path to
        leave out is ``{"path": key, "to": "without"}``. The buttons are those of
        ``payload["ways"]``.
    repair : index of the lane whose repair was clicked. ``payload["repairs"] = False`` draws no
        such button.
    lane : a button of a lane, given by its index, ``{"lane": 0, "do": "change" | "step" |
        "remove" | "add" | "influence" | "influence-stop" | "reading" |
        "reading-stop"}``. The payload must be “editable”, or
        its lanes must have a ``measure``.
    thumb : a rating, ``{"lane": "lane-0", "verdict": "up" | "down" | "none"}``.
    """

    go: dict[str, Any] | None = None
    repair: int | None = None
    lane: dict[str, Any] | None = None
    thumb: dict[str, Any] | None = None


def as_bytes(payload: dict[str, Any]) -> bytes:
    """Return the payload as JSON bytes, which Streamlit sends unchanged.

    Streamlit converts a dictionary to JSON twice in each run, once with sorted keys to identify the
    component.
    """
    try:
        return orjson.dumps(payload, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:  # for lone surrogates, and for numbers of more than 64 bits
        return json_text(payload, ensure_ascii=True).encode()


def board(payload: dict[str, Any], key: str) -> BoardClicks:
    """Mount the board and return the new clicks, each once.

    The browser repeats a click until the page has received it, because an interrupted run of the
    page receives nothing. It loads the code of the board, and Cytoscape from ``static/``, only
    once, so each run sends only the payload.
    """
    received = Session.board_received[key]
    result = component("board", BOARD_STYLES)(
        key=key,
        data=as_bytes({**payload, **received.value._asdict()}),
        on_pressed_change=lambda: None,
    )
    new_clicks, received.value = new_edits(getattr(result, "pressed", None), received.value)
    return BoardClicks(**{press["kind"]: press["value"] for press in new_clicks})
