"""The line of bricks, drawn in the browser by assets/bricks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from pages.parts.shared.scripts import ASSETS, joined

FOLDER = ASSETS / "bricks"
KEY = "bricks"


@cache
def _component():
    return st.components.v2.component("hopscope_bricks", js=joined(FOLDER / "bricks.js"), css=(FOLDER / "bricks.css").read_text("utf-8"))


def bricks(data: dict[str, Any], take: Callable[[dict[str, Any]], None]) -> None:
    """Draw the line; `take` is handed what the browser says, before the next run of the page draws."""
    _component()(key=KEY, data=data, on_said_change=lambda: take(st.session_state[KEY].get("said") or {}))
