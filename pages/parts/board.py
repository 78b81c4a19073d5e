"""The board: 1 to 4 lanes on one shared layout, drawn in the browser by assets/board."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "board"


def source(name: str) -> str:
    """Text of one file of assets/board."""
    return (ASSETS / name).read_text(encoding="utf-8")


@cache
def _component():
    return st.components.v2.component("hopscope_board", js=source("board.js"), css=source("board.css"))


def board(payload: dict[str, Any], key: str) -> Any:
    """The mounted board; ``result.node`` is the id of the node clicked in this run, else None.

    Cytoscape comes from ``static/`` and is fetched once by the browser, so a re-run sends the payload and two short sources.
    """
    return _component()(key=key, data=payload, on_node_change=lambda: None)
