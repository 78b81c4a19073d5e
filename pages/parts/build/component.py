"""Browser component that draws a line as blocks, one per operator (assets/bricks)."""

from __future__ import annotations

from typing import Any

from pages.parts.build.bench import Bench
from pages.parts.build.fields import check_expression
from pages.parts.shared.scripts import component
from pages.parts.shared.session_state import Session, SessionKey


def draw_bricks(
    bench: Bench, data: dict[str, Any], message_key: SessionKey[Any] = Session.bricks
) -> None:
    """Draw the line of an editor, which applies the browser's edits.

    Parameters
    ----------
    data : the drawing, as `line_data` returns it.
    message_key : session key of the component; the browser's edits arrive under this key.
    """

    def apply_message() -> None:
        bench.apply_message((message_key.value or {}).get("said") or {}, check_expression)

    component("bricks")(key=message_key.name, data=data, on_said_change=apply_message)
