"""Parser of the JSON in a reply of a language model.

Other text may surround the JSON.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

REPLY_DECODER = json.JSONDecoder()
JSON_OPENING = re.compile(r"[{\[]")
MAX_JSON_STARTS = 200  # brackets of a reply at which JSON is looked for, to limit the time
MAX_OBJECT_DEPTH = 3  # lists and objects around the requested object
TRAILING_COMMA = re.compile(r",(?=\s*+[}\]])")  # at the end of a list or an object
# A string, an unclosed string with all that follows, or a trailing comma.
STRING_OR_TRAILING_COMMA = re.compile(
    rf'("(?:[^"\\]|\\.)*+")|(".*)|{TRAILING_COMMA.pattern}', re.DOTALL
)
ITEM_SEPARATORS = re.compile(r"[\s,]*+")
JSON_ERRORS = (ValueError, RecursionError)  # of invalid and of very deeply nested JSON


@dataclass(frozen=True)
class JsonReply:
    """The JSON object in a reply.

    `is_whole` is false if the reply was cut off. The object then has only the complete values.
    """

    value: dict[str, Any]
    is_whole: bool = True


def json_reply(text: str, fields: Collection[str]) -> JsonReply | None:
    """Return the first JSON object of a reply that has one of the fields.

    Words and code fences around the object, and lists or objects that contain it, are skipped. If
    several such objects are in one list, their own lists are joined. Trailing commas and Python
    literals are accepted.

    Parameters
    ----------
    text : the text of a reply.
    fields : names of fields; the object must have one of them.

    Returns
    -------
    The object, with `is_whole` false if the reply ends within it. None without such an object.

    Examples
    --------
    >>> from core.models.chat.json_reply import json_reply
    >>> json_reply('Here it is:\\n```json\\n[{"names": ["Ann", "Bob",]}]\\n```', ["names"])
    JsonReply(value={'names': ['Ann', 'Bob']}, is_whole=True)
    >>> json_reply('{"names": ["Ann", "Bo', ["names"]), json_reply("I cannot.", ["names"])
    (JsonReply(value={'names': ['Ann']}, is_whole=False), None)
    """
    for read in (_read_object, _read_without_trailing_commas, _read_python_literal):
        value = read(text, fields)
        if value is not None:
            return JsonReply(value)
    complete_parts = {name: _read_complete_part(text, name) for name in fields}
    partial_object = {name: part for name, part in complete_parts.items() if part is not None}
    return JsonReply(partial_object, is_whole=False) if partial_object else None


def json_lists(text: str) -> list[list[Any]]:
    """Return the outermost JSON lists of a reply, in order."""
    return [value for value in _read_values(text) if isinstance(value, list)]


def _read_object(text: str, fields: Collection[str]) -> dict[str, Any] | None:
    for value in _read_values(text):
        match = _find_object(value, fields)
        if match is not None:
            return match
    return None


def _read_without_trailing_commas(text: str, fields: Collection[str]) -> dict[str, Any] | None:
    repaired = STRING_OR_TRAILING_COMMA.sub(
        lambda match: match[1] or TRAILING_COMMA.sub("", match[2] or ""), text
    )
    return None if repaired == text else _read_object(repaired, fields)


def _read_python_literal(text: str, fields: Collection[str]) -> dict[str, Any] | None:
    """Read the text from the first to the last brace as a Python literal."""
    try:
        value = ast.literal_eval(text[text.index("{") : text.rindex("}") + 1])
        return _find_object(value, fields)
    except (*JSON_ERRORS, SyntaxError, MemoryError, TypeError):
        return None


def _read_values(text: str) -> list[Any]:
    """Return the outermost JSON objects and lists of a text."""
    values = []
    position = 0
    for _ in range(MAX_JSON_STARTS):
        begin = JSON_OPENING.search(text, position)
        if begin is None:
            break
        try:
            value, position = REPLY_DECODER.raw_decode(text, begin.start())
            values.append(value)
        except JSON_ERRORS:
            position = begin.end()
    return values


def _find_object(
    value: Any, fields: Collection[str], depth: int = MAX_OBJECT_DEPTH
) -> dict[str, Any] | None:
    """Return the value if it has one of the fields.

    Otherwise the objects in it that have one are merged.
    """
    if isinstance(value, dict):
        if any(name in value for name in fields):
            return value
        inner = list(value.values())
    elif isinstance(value, list):
        inner = value
    else:
        return None
    if not depth:
        return None
    candidates = [_find_object(part, fields, depth - 1) for part in inner]
    objects = [candidate for candidate in candidates if candidate is not None]
    return _merge_objects(objects, fields) if objects else None


def _merge_objects(objects: list[dict[str, Any]], fields: Collection[str]) -> dict[str, Any]:
    """Return the first object, extended by the lists of the others.

    The items of their lists are appended to those of the first.
    """
    merged = dict(objects[0])
    for later_object in objects[1:]:
        for name in fields:
            if isinstance(later_object.get(name), list) and isinstance(merged.get(name, []), list):
                merged[name] = [*merged.get(name, []), *later_object[name]]
    return merged


def _read_complete_part(text: str, name: str) -> Any:
    """Return the complete part of a field in a cut-off text.

    For a list, this is the list of its complete items. None if the value is missing or incomplete.
    """
    field_match = re.search(rf'"{re.escape(name)}"\s*:\s*', text)
    if field_match is None:
        return None
    start = field_match.end()
    try:
        return REPLY_DECODER.raw_decode(text, start)[0]
    except JSON_ERRORS:
        return _read_items(text, start + 1) if text.startswith("[", start) else None


def _read_items(text: str, position: int) -> list[Any]:
    """Return the complete items of a list, from the position after its opening bracket."""
    items: list[Any] = []
    while True:
        gap = ITEM_SEPARATORS.match(text, position)
        assert gap is not None  # the pattern also matches the empty text
        try:
            item, position = REPLY_DECODER.raw_decode(text, gap.end())
        except JSON_ERRORS:
            return items
        items.append(item)
