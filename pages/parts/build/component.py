"""The line of bricks, drawn in the browser by assets/bricks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pages.parts.shared.scripts import ASSETS, component
from pages.parts.shared.session_state import Key, Session

FOLDER = ASSETS / "bricks"


def _component():
    return component("bricks", FOLDER / "bricks.js", (FOLDER / "bricks.css",))


def bricks(
    data: dict[str, Any], take: Callable[[dict[str, Any]], object], said: Key[Any] = Session.bricks
) -> None:
    """Draw the line; `take` is handed what the browser says under the key `said`, before the next run of the page draws."""
    _component()(
        key=said.name, data=data, on_said_change=lambda: take((said.value or {}).get("said") or {})
    )
