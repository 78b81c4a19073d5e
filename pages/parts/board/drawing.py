"""What draws a comparison: on triples or on documents."""

from __future__ import annotations

from core.engine import Comparison
from pages.parts.board.payload import Board
from pages.parts.board.text_payload import TextBoard

Drawing = Board | TextBoard


def drawing_of(comparison: Comparison) -> Drawing:
    """What makes the payload of a comparison, and keeps its picture while its lanes stay the same."""
    return TextBoard(comparison) if comparison.ask.source.documents else Board(comparison)
