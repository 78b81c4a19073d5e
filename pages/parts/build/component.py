"""Browser component that draws a line as blocks, one per operator (assets/bricks)."""

from __future__ import annotations

from typing import Any

from pages.parts.build.bench import Bench
from pages.parts.build.fields import check_expression
from pages.parts.shared.scripts import component
from pages.parts.shared.session_state import Session, SessionKey


def draw_bricks(bench: Bench, data: dict[str, Any], said: SessionKey[Any] = Session.bricks) -> None:
    """Draw the line.

    `bench` applies the message under the key `said` before the next drawing.
    """

    def apply_message() -> None:
        bench.apply_message((said.value or {}).get("said") or {}, check_expression)

    component("bricks")(key=said.name, data=data, on_said_change=apply_message)
