"""Influence of paths and passages on a lane's answers, as data of the board."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.diagnosis.influence import gold_items, influence_text
from core.diagnosis.prompt_items import item_at
from core.engine import MethodComparison, MethodLane
from core.errors import shorten
from core.graph.texts import hit_titles
from core.types import Influence, ItemInfluence, Path
from pages.parts.board.text_hits import item_hit
from pages.parts.shared.wording import noun, tr

# Keys of the drawn paths, by the `id` of their graph object and the path.
PathKeys = Mapping[tuple[int, Path], str]
# most characters of a name, most items that are named
MAX_INFLUENCE_NAME_CHARACTERS = 40
MAX_INFLUENCE_ITEMS = 6


def influence_data(
    comparison: MethodComparison, lane: MethodLane, keys: PathKeys, model: str | None
) -> dict[str, Any] | None:
    """Return the measured influence on a lane's answers; None if nothing was measured.

    Parameters
    ----------
    keys : keys of the drawn paths.
    model : title of the language model that answers; None for a default title.

    Returns
    -------
    `texts`, a sentence per answer with `who` gave it and the items `needed`. `items`, the influence
    by key on the answer that was measured last; that is the model's if it was measured.
    """
    if not lane.influences:
        return None
    texts = []
    for influence in lane.influences:
        who = (model or tr("Language model")) if influence.by_model else _reader(lane)
        texts.append(
            {
                "who": who,
                "text": _text(comparison, lane, influence),
                "needed": _smallest_set(lane, influence, keys),
            }
        )
    return {"texts": texts, "items": _items(lane, lane.influences[-1], keys)}


def _reader(lane: MethodLane) -> str:
    return (
        tr("Answer read from the graph (no AI)")
        if lane.state.excerpt is None
        else tr("Nearest sentence")
    )


def _text(comparison: MethodComparison, lane: MethodLane, one: Influence) -> str:
    gold = gold_items(lane, one, comparison.ask.question.gold)
    if gold is None or not one.smallest:
        return influence_text(one)
    marked, size = len(gold.intersection(one.smallest)), len(one.smallest)
    if size == 1:
        return (
            f"{influence_text(one)} "
            f"{tr('It is marked as evidence.') if marked else tr('It is not marked as evidence.')}"
        )
    return tr(
        "{influence_text} Of these {marked:,} {are} marked as evidence.",
        influence_text=influence_text(one),
        marked=marked,
        are=noun(marked, "is", "are"),
    )


def _smallest_set(lane: MethodLane, one: Influence, keys: PathKeys) -> list[dict[str, str]]:
    """Return the first drawn items of the smallest set that changes the answer.

    Each has a `key` and a `name`; a path is named by its rank.
    """
    item_keys = []
    for weight in (one.weights[index] for index in one.smallest):
        item = item_at(lane.state, one.by_model, weight.kind, weight.place)
        path = weight.kind == "path"
        if path:
            name = tr("path {place:,}", place=weight.place + 1)
        else:
            name = shorten(
                hit_titles(lane.graph, weight.kind, [item])[0], MAX_INFLUENCE_NAME_CHARACTERS
            )
        key = _key(lane, weight, item, keys)
        item_keys += [{"key": key, "name": name}] if key is not None else []
    return item_keys[:MAX_INFLUENCE_ITEMS]


def _items(lane: MethodLane, one: Influence, keys: PathKeys) -> dict[str, dict[str, Any]]:
    items_by_key: dict[str, dict[str, Any]] = {}
    for index, weight in enumerate(one.weights):
        key = _key(lane, weight, item_at(lane.state, one.by_model, weight.kind, weight.place), keys)
        if key is not None:
            items_by_key[key] = {
                "share": weight.influence,
                "changes": weight.changes,
                "needed": index in one.smallest,
            }
    return items_by_key


def _key(lane: MethodLane, weight: ItemInfluence, item: Any, keys: PathKeys) -> str | None:
    """Return the key of an item in the board's data.

    None for a path that is not drawn.
    """
    if weight.kind == "path":
        return keys.get((id(lane.graph), item))
    return item_hit(lane.graph, weight.kind, item).key
