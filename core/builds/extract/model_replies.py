"""JSON schemas of the replies in extraction, and parsing of whole or cut replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from core.models.chat.json_reply import json_reply

MAX_ITEMS = 10  # most entities, and most relations, in one reply
NAME, TYPE, SENTENCE, WORDS = 80, 20, 160, 60  # most characters of each field
# Fields without which an item is useless.
NAMES = ("name", "source", "target", "subject", "relation", "object")


def _object(**texts: int) -> dict[str, Any]:
    properties = {name: {"type": "string", "maxLength": most} for name, most in texts.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(texts),
        "additionalProperties": False,
    }


def _lists(**items: dict[str, Any]) -> dict[str, Any]:
    properties = {
        name: {"type": "array", "maxItems": MAX_ITEMS, "items": item}
        for name, item in items.items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(items),
        "additionalProperties": False,
    }


ENTITY = _object(name=NAME, type=TYPE, description=SENTENCE)
SCHEMAS: Mapping[str, dict[str, Any]] = {
    "names": _lists(names={"type": "string", "maxLength": NAME}),
    "triples": _lists(triples=_object(subject=NAME, relation=WORDS, object=NAME)),
    "tkg": _lists(
        entities=ENTITY, relations=_object(source=NAME, target=NAME, description=SENTENCE)
    ),
    "rkg": _lists(
        entities=ENTITY,
        relations=_object(source=NAME, target=NAME, description=SENTENCE, keywords=WORDS),
    ),
}
"""JSON schema of a reply, by the name of its prompt in core/prompts/extraction.toml."""


class Lists(NamedTuple):
    """Lists of a reply by name.

    `whole` is true if the reply was not cut. `unusable` counts items that could not be used.
    """

    lists: dict[str, list[Any]]
    whole: bool
    unusable: int


def lists_in(text: str, schema: dict[str, Any]) -> Lists | None:
    """Return the lists of a reply that a schema asks for; None if all are missing.

    A cut reply yields the items that were complete. Missing fields of an item are empty, except
    names.

    >>> from core.builds.extract.model_replies import SCHEMAS, lists_in
    >>> lists_in('{"names": ["Ann", "Rome", 3]}', SCHEMAS["names"])
    Lists(lists={'names': ['Ann', 'Rome']}, whole=True, unusable=1)
    >>> lists_in('Sure: {"names": ["Ann", "Ro', SCHEMAS["names"])
    Lists(lists={'names': ['Ann']}, whole=False, unusable=0)
    >>> lists_in("I cannot.", SCHEMAS["names"]) is None
    True
    """
    kinds = {name: value["items"] for name, value in schema["properties"].items()}
    found = json_reply(text, kinds)
    if found is None or not any(isinstance(found.value.get(name), list) for name in kinds):
        return None
    items = {name: found.value.get(name) or [] for name in kinds}
    rows = {
        name: [_filled(item, kinds[name]) for item in some] if isinstance(some, list) else [None]
        for name, some in items.items()
    }
    lists = {name: [row for row in some if row is not None] for name, some in rows.items()}
    return Lists(lists, found.whole, sum(row is None for some in rows.values() for row in some))


def _filled(item: Any, kind: dict[str, Any]) -> Any:
    """Return an item with the fields of the schema, or None where a name is missing.

    Other missing fields are empty.
    """
    if kind["type"] == "string":
        item = item.get("name") if isinstance(item, dict) else item
        return item if isinstance(item, str) and item.strip() else None
    if isinstance(item, str) and "name" in kind["required"]:
        item = {"name": item}
    if not isinstance(item, dict):
        return None
    row = {field: _text(item.get(field)) for field in kind["required"]}
    return row if all(row[field].strip() for field in row if field in NAMES) else None


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
