"""The gold passages that a lane did not find, as rows under its passages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.diagnosis.causes import Cause, Fate
from core.diagnosis.passages import chunk_rows
from core.engine import Lane
from pages.parts.board.keys import Key
from pages.parts.board.text_hits import passage

Tables = list[dict[str, Any]]


def with_lost(tables: Tables, lane: Lane, fates: Sequence[Fate]) -> Tables:
    """The tables, each with its `lost` rows: gold passages that were ranked too late, or not at all; none in a lane that reads nothing."""
    if not tables:
        return tables
    # a hit, which says so itself
    inside = lambda fate: (
        fate.cause is Cause.FOUND or (fate.cause is Cause.NO_ROOM and fate.retained is None)
    )
    missing = [fate for fate in fates if fate.chunk and not inside(fate)]
    lost = [
        _row(lane, fate)
        for fate in sorted(missing, key=lambda fate: (fate.place is None, fate.place or 0))
    ]
    if lost and not any(table["kind"] == "passage" for table in tables):
        tables = [{"kind": "passage", "rows": []}, *tables]
    return [{**table, "lost": lost if table["kind"] == "passage" else []} for table in tables]


def _row(lane: Lane, fate: Fate) -> dict[str, Any]:
    table = lane.graph.columns.chunks
    row = next(
        row
        for row in sorted(chunk_rows(lane.graph, fate.document))
        if table.text("id", row) == fate.chunk
    )
    data = passage(lane.graph, row, chunk_rows(lane.graph, fate.document))
    return {
        **data,
        "key": Key("chunk", fate.chunk),
        "score": None,
        "text": "",
        "sources": [],
        "fate": fate.text,
    }
