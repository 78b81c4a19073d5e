"""Influence of paths and passages on a lane's answers, as data of the board.

It is measured by answering again without them (`core.diagnosis.influence`).
"""

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
MAX_INFLUENCE_NAME_CHARACTERS = 40  # most characters of an item's name
MAX_INFLUENCE_ITEMS = 6  # most items that are named


def influence_data(
    comparison: MethodComparison, lane: MethodLane, keys: PathKeys, model: str | None
) -> dict[str, Any] | None:
    """Return the measured influence on a lane's answers.

    It is None if nothing was measured.

    Parameters
    ----------
    keys : keys of the drawn paths.
    model : title of the language model that answers; None for a default title.

    Returns
    -------
    `texts` : for each answer a sentence `text`, `who` gave the answer, and the items `needed` for
        it.
    `items` : by key, the influence on the answer that was measured last, which is the model's if
        that was measured. `share` is from 0 to 1, `changes` is true if the answer changes without
        the item, and `needed` if the item is in the smallest set that changes the answer.
    """
    if not lane.influences:
        return None
    texts = []
    for influence in lane.influences:
        who = (model or tr("Language model")) if influence.by_model else _reader_title(lane)
        texts.append(
            {
                "who": who,
                "text": _influence_sentence(comparison, lane, influence),
                "needed": _smallest_set(lane, influence, keys),
            }
        )
    return {"texts": texts, "items": _influence_by_key(lane, lane.influences[-1], keys)}


def _reader_title(lane: MethodLane) -> str:
    """Return the title of the answer that no language model gave."""
    return (
        tr("Answer read from the graph (no AI)")
        if lane.state.excerpt is None
        else tr("Nearest sentence")
    )


def _influence_sentence(
    comparison: MethodComparison, lane: MethodLane, influence: Influence
) -> str:
    """Describe an influence, and how much of it is marked as evidence."""
    gold = gold_items(lane, influence, comparison.ask.question.gold)
    if gold is None or not influence.smallest:
        return influence_text(influence)
    n_marked = len(gold.intersection(influence.smallest))
    if len(influence.smallest) == 1:
        note = tr("It is marked as evidence.") if n_marked else tr("It is not marked as evidence.")
        return f"{influence_text(influence)} {note}"
    return tr(
        "{influence_text} Of these {marked:,} {are} marked as evidence.",
        influence_text=influence_text(influence),
        marked=n_marked,
        are=noun(n_marked, "is", "are"),
    )


def _smallest_set(lane: MethodLane, influence: Influence, keys: PathKeys) -> list[dict[str, str]]:
    """Return the first drawn items of the smallest set that changes the answer.

    At most `MAX_INFLUENCE_ITEMS` are returned. Each has a `key` and a `name`; a path is named by
    its rank.
    """
    named_items: list[dict[str, str]] = []
    for weight in (influence.weights[index] for index in influence.smallest):
        item = item_at(lane.state, influence.by_model, weight.kind, weight.place)
        key = _item_key(lane, weight, item, keys)
        if key is None or len(named_items) == MAX_INFLUENCE_ITEMS:
            continue
        if weight.kind == "path":
            name = tr("path {place:,}", place=weight.place + 1)
        else:
            title = hit_titles(lane.graph, weight.kind, [item])[0]
            name = shorten(title, MAX_INFLUENCE_NAME_CHARACTERS)
        named_items.append({"key": key, "name": name})
    return named_items


def _influence_by_key(
    lane: MethodLane, influence: Influence, keys: PathKeys
) -> dict[str, dict[str, Any]]:
    """Return the influence of each drawn item by its key."""
    items_by_key: dict[str, dict[str, Any]] = {}
    for index, weight in enumerate(influence.weights):
        key = _item_key(
            lane, weight, item_at(lane.state, influence.by_model, weight.kind, weight.place), keys
        )
        if key is not None:
            items_by_key[key] = {
                "share": weight.influence,
                "changes": weight.changes,
                "needed": index in influence.smallest,
            }
    return items_by_key


def _item_key(lane: MethodLane, weight: ItemInfluence, item: Any, keys: PathKeys) -> str | None:
    """Return the key of an item in the board's data.

    It is None for a path that is not drawn.
    """
    if weight.kind == "path":
        return keys.get((id(lane.graph), item))
    return item_hit(lane.graph, weight.kind, item).key
