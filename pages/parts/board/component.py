"""The board: 1 to 4 lanes on one shared layout, drawn in the browser by assets/board."""

from __future__ import annotations

from functools import cache
from typing import Any

import streamlit as st

from pages.parts.shared.scripts import ASSETS, joined

FOLDER = ASSETS / "board"


def source(name: str) -> str:
    """Text of one file of assets/board."""
    return (FOLDER / name).read_text(encoding="utf-8")


def script() -> str:
    """The modules of assets/board as one."""
    return joined(FOLDER / "board.js")


def style() -> str:
    """The stylesheets of assets/board as one."""
    return source("board.css") + source("texts.css") + source("prompts.css") + source("together.css")


@cache
def _component():
    return st.components.v2.component("hopscope_board", js=script(), css=style())


def board(payload: dict[str, Any], key: str) -> Any:
    """The mounted board; what was pressed in this run, else None:

    - ``result.go``: in a node's panel, ``{"node": id, "to": "walk" | "start" | "without" | "rename" | "merge"}``, with the ``name`` or
      the id of the ``other`` node for the last two, or ``{"path": key, "to": "without"}``; the buttons are those of ``payload["ways"]``
    - ``result.repair``: the number of the lane whose repair was asked for; ``payload["repairs"] = False`` draws no such button
    - ``result.lane``: what is to be done with a lane: ``{"lane": 0, "do": "change" | "step" | "remove" | "add" | "influence" |
      "influence-stop"}``, of a payload that is ``editable`` or whose lanes have a ``measure``
    - ``result.thumb``: ``{"lane": "lane-0", "verdict": "up" | "down" | "none"}``

    Cytoscape comes from ``static/`` and is fetched once by the browser, so a re-run sends the payload and two short sources.
    """
    nothing = lambda: None
    return _component()(
        key=key, data=payload, on_go_change=nothing, on_repair_change=nothing, on_lane_change=nothing, on_thumb_change=nothing
    )
