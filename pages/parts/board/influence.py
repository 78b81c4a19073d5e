"""What a lane's answers rest on, as the board draws it: a sentence for each, and the influence of each item that is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.diagnosis.influence import gold_items, influence_text
from core.diagnosis.prompt_items import item_at
from core.diagnosis.wording import are
from core.engine import Comparison, Lane
from core.types import Influence, Path
from pages.parts.board.text_hits import keyed


def influence_data(comparison: Comparison, lane: Lane, keys: Mapping[tuple[int, Path], str], model: str | None) -> dict[str, Any] | None:
    """The `texts`, each with `who` answers, and by key the `items` of the answer that was measured last, that of the model; None where
    nothing was measured. `keys` are those of the paths that are drawn."""
    if not lane.influences:
        return None
    texts = [
        {"who": (model or "Language model") if one.by_model else _reader(lane), "text": _text(comparison, lane, one)}
        for one in lane.influences
    ]
    return {"texts": texts, "items": _items(lane, lane.influences[-1], keys)}


def _reader(lane: Lane) -> str:
    return "Graph reader" if lane.state.excerpt is None else "Nearest sentence"


def _text(comparison: Comparison, lane: Lane, one: Influence) -> str:
    gold = gold_items(lane, one, comparison.ask.question.gold)
    if gold is None or not one.smallest:
        return influence_text(one)
    marked, size = len(gold.intersection(one.smallest)), len(one.smallest)
    if size == 1:
        return f"{influence_text(one)} It is {'' if marked else 'not '}marked as evidence."
    return f"{influence_text(one)} Of these {marked:,} {are(marked)} marked as evidence."


def _items(lane: Lane, one: Influence, keys: Mapping[tuple[int, Path], str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for at, weight in enumerate(one.weights):
        item = item_at(lane.state, one.by_model, weight.kind, weight.place)
        key = keys.get((id(lane.graph), item)) if weight.kind == "path" else keyed(lane.graph, weight.kind, item).key
        if key is not None:
            found[key] = {"share": weight.influence, "changes": weight.changes, "needed": at in one.smallest}
    return found
