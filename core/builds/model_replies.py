"""What language models are asked in extraction: the JSON schemas, and replies read, whole or cut short."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

MOST = 10  # entities, and relations, of one reply
NAME, TYPE, SENTENCE, WORDS = 80, 20, 160, 60  # characters
DECODER = json.JSONDecoder()
BETWEEN = re.compile(r"[\s,]*")


def _object(**texts: int) -> dict[str, Any]:
    properties = {name: {"type": "string", "maxLength": most} for name, most in texts.items()}
    return {"type": "object", "properties": properties, "required": list(texts), "additionalProperties": False}


def _lists(**items: dict[str, Any]) -> dict[str, Any]:
    properties = {name: {"type": "array", "maxItems": MOST, "items": item} for name, item in items.items()}
    return {"type": "object", "properties": properties, "required": list(items), "additionalProperties": False}


ENTITY = _object(name=NAME, type=TYPE, description=SENTENCE)
SCHEMAS: Mapping[str, dict[str, Any]] = {
    "names": _lists(names={"type": "string", "maxLength": NAME}),
    "triples": _lists(triples=_object(subject=NAME, relation=WORDS, object=NAME)),
    "tkg": _lists(entities=ENTITY, relations=_object(source=NAME, target=NAME, description=SENTENCE)),
    "rkg": _lists(entities=ENTITY, relations=_object(source=NAME, target=NAME, description=SENTENCE, keywords=WORDS)),
}
"""The form of a reply by the prompt's name in core/prompts/extraction.toml."""


def lists_in(text: str, schema: dict[str, Any]) -> tuple[dict[str, list[Any]], bool] | None:
    """The lists of a reply by name, each with its items that are of the schema's form, and whether the reply is whole.

    A reply that was cut short gives the items that had ended; None where it has none of the lists at all.

    >>> from core.builds.model_replies import SCHEMAS, lists_in
    >>> lists_in('{"names": ["Ann", "Rome", 3]}', SCHEMAS["names"]), lists_in('Sure: {"names": ["Ann", "Ro', SCHEMAS["names"])
    (({'names': ['Ann', 'Rome']}, True), ({'names': ['Ann']}, False))
    >>> lists_in("I cannot.", SCHEMAS["names"]) is None
    True
    """
    try:
        told, whole = json.loads(text), True
    except (ValueError, RecursionError):
        told, whole = {name: _items(text, name) for name in schema["properties"]}, False
    if not isinstance(told, dict) or not any(isinstance(told.get(name), list) for name in schema["properties"]):
        return None
    kinds = {name: value["items"] for name, value in schema["properties"].items()}
    lists: dict[str, list[Any] | None] = {name: told.get(name) if isinstance(told.get(name), list) else [] for name in kinds}
    return {name: [item for item in items or [] if _fits(item, kinds[name])] for name, items in lists.items()}, whole


def _items(text: str, name: str) -> list[Any] | None:
    """The items of a list that had ended before the text did; None where the list had not begun."""
    found = re.search(rf'"{name}"\s*:\s*\[', text)
    if found is None:
        return None
    items: list[Any] = []
    at = found.end()
    while True:
        between = BETWEEN.match(text, at)
        assert between is not None  # it matches the empty text too
        try:
            item, at = DECODER.raw_decode(text, between.end())
        except (ValueError, RecursionError):
            return items
        items.append(item)


def _fits(item: Any, kind: dict[str, Any]) -> bool:
    if kind["type"] == "string":
        return isinstance(item, str)
    return isinstance(item, dict) and all(isinstance(item.get(name), str) for name in kind["required"])
