"""The line of bricks, drawn in the browser by assets/bricks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from pages.parts.shared.scripts import ASSETS, joined
from pages.parts.shared.session_state import Key, Session

FOLDER = ASSETS / "bricks"


@cache
def _component():
    return st.components.v2.component("hopscope_bricks", js=joined(FOLDER / "bricks.js"), css=(FOLDER / "bricks.css").read_text("utf-8"))


def bricks(data: dict[str, Any], take: Callable[[dict[str, Any]], None], said: Key[Any] = Session.bricks) -> None:
    """Draw the line; `take` is handed what the browser says under the key `said`, before the next run of the page draws."""
    _component()(key=said.name, data=data, on_said_change=lambda: take((said.value or {}).get("said") or {}))
