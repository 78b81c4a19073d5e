"""JSON schemas of model replies in extraction, and parsing of complete or cut replies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from core.models.chat.json_reply import json_reply

MAX_REPLY_ITEMS = 10  # most entities, and most relations, in one reply
# Most characters of each field.
MAX_NAME_CHARACTERS = 80
MAX_TYPE_CHARACTERS = 20
MAX_SENTENCE_CHARACTERS = 160
MAX_RELATION_CHARACTERS = 60
# Fields without which an item is useless.
REQUIRED_NAME_FIELDS = ("name", "source", "target", "subject", "relation", "object")


def text_schema(limit: int) -> dict[str, Any]:
    """Return the JSON schema of a text of at most `limit` characters."""
    return {"type": "string", "maxLength": limit}


def object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object that has exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _item_schema(**limits: int) -> dict[str, Any]:
    """Return the JSON schema of an object of texts.

    `limits` gives the most characters of each property.
    """
    return object_schema({name: text_schema(limit) for name, limit in limits.items()})


def _lists_schema(**items: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object of lists.

    `items` gives the schema of each list's items.
    """
    return object_schema(
        {
            name: {"type": "array", "maxItems": MAX_REPLY_ITEMS, "items": item}
            for name, item in items.items()
        }
    )


ENTITY_SCHEMA = _item_schema(
    name=MAX_NAME_CHARACTERS, type=MAX_TYPE_CHARACTERS, description=MAX_SENTENCE_CHARACTERS
)
EXTRACTION_SCHEMAS: Mapping[str, dict[str, Any]] = {
    "names": _lists_schema(names=text_schema(MAX_NAME_CHARACTERS)),
    "triples": _lists_schema(
        triples=_item_schema(
            subject=MAX_NAME_CHARACTERS,
            relation=MAX_RELATION_CHARACTERS,
            object=MAX_NAME_CHARACTERS,
        )
    ),
    "tkg": _lists_schema(
        entities=ENTITY_SCHEMA,
        relations=_item_schema(
            source=MAX_NAME_CHARACTERS,
            target=MAX_NAME_CHARACTERS,
            description=MAX_SENTENCE_CHARACTERS,
        ),
    ),
    "rkg": _lists_schema(
        entities=ENTITY_SCHEMA,
        relations=_item_schema(
            source=MAX_NAME_CHARACTERS,
            target=MAX_NAME_CHARACTERS,
            description=MAX_SENTENCE_CHARACTERS,
            keywords=MAX_RELATION_CHARACTERS,
        ),
    ),
}
"""JSON schema of a reply, by the name of its prompt in core/prompts/extraction.toml."""


class ReplyLists(NamedTuple):
    """Lists of a reply by name.

    `is_whole` is true if the reply was not cut. `unusable` counts items that do not fit the schema.
    """

    lists: dict[str, list[Any]]
    is_whole: bool
    unusable: int


def parse_lists(text: str, schema: dict[str, Any]) -> ReplyLists | None:
    """Parse the lists of a reply that a schema asks for.

    Of a cut reply, the complete items are returned. An item without a name that it needs
    (`REQUIRED_NAME_FIELDS`) is unusable; other missing fields are empty.

    Parameters
    ----------
    text : the text of a reply.
    schema : one of `EXTRACTION_SCHEMAS`.

    Returns
    -------
    The lists, with the number of unusable items. None if all lists are missing.

    Examples
    --------
    >>> from core.builds.extract.model_replies import EXTRACTION_SCHEMAS, parse_lists
    >>> parse_lists('{"names": ["Ann", "Rome", 3]}', EXTRACTION_SCHEMAS["names"])
    ReplyLists(lists={'names': ['Ann', 'Rome']}, is_whole=True, unusable=1)
    >>> parse_lists('Sure: {"names": ["Ann", "Ro', EXTRACTION_SCHEMAS["names"])
    ReplyLists(lists={'names': ['Ann']}, is_whole=False, unusable=0)
    >>> parse_lists("I cannot.", EXTRACTION_SCHEMAS["names"]) is None
    True
    """
    item_schemas = {name: value["items"] for name, value in schema["properties"].items()}
    reply = json_reply(text, item_schemas)
    if reply is None or not any(isinstance(reply.value.get(name), list) for name in item_schemas):
        return None
    lists: dict[str, list[Any]] = {}
    unusable = 0
    for name, item_schema in item_schemas.items():
        items = reply.value.get(name) or []
        rows: list[Any] = [None]  # A value that is no list counts as one unusable item.
        if isinstance(items, list):
            rows = [_complete_item(item, item_schema) for item in items]
        lists[name] = [row for row in rows if row is not None]
        unusable += len(rows) - len(lists[name])
    return ReplyLists(lists, reply.is_whole, unusable)


def _complete_item(item: Any, item_schema: dict[str, Any]) -> Any:
    """Return an item with all fields of its schema.

    The result is None if a name is missing. Other missing fields are empty. A model may write a
    name for an object with a name, or vice versa.
    """
    if item_schema["type"] == "string":
        item = item.get("name") if isinstance(item, dict) else item
        return item if isinstance(item, str) and item.strip() else None
    if isinstance(item, str) and "name" in item_schema["required"]:
        item = {"name": item}
    if not isinstance(item, dict):
        return None
    row = {field: _text(item.get(field)) for field in item_schema["required"]}
    has_names = all(row[field].strip() for field in row if field in REQUIRED_NAME_FIELDS)
    return row if has_names else None


def _text(value: Any) -> str:
    """Return a text, a number or a list of these as text. Empty for any other value."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    return ""
