"""The JSON of a reply, whatever stands around it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

DECODER = json.JSONDecoder()
BEGINS = re.compile(r"[{\[]")
STARTS = 200  # places of a reply at which JSON is looked for
DEPTH = 3  # lists and objects around the one that is wanted
COMMA = re.compile(r",(?=\s*+[}\]])")  # that ends a list or an object
# a string, all from one on that has no end, or such a comma
TRAILING = re.compile(rf'("(?:[^"\\]|\\.)*+")|(".*)|{COMMA.pattern}', re.DOTALL)
BETWEEN = re.compile(r"[\s,]*+")
FAULTS = (ValueError, RecursionError)


@dataclass(frozen=True)
class JsonReply:
    """The object that a reply holds, and whether it is whole: of one that was cut short the values that had ended are there."""

    value: dict[str, Any]
    whole: bool = True


def json_reply(text: str, fields: Collection[str]) -> JsonReply | None:
    """The first JSON object of a reply that has one of the fields; None where it has none.

    Passed over are words and code fences around it, and lists or objects that hold it; of a list of several such objects the lists are
    joined. A comma behind the last item, and the quotes of Python, are read as they are meant.

    >>> from core.models.chat.json_reply import json_reply
    >>> json_reply('Here it is:\\n```json\\n[{"names": ["Ann", "Bob",]}]\\n```', ["names"])
    JsonReply(value={'names': ['Ann', 'Bob']}, whole=True)
    >>> json_reply('{"names": ["Ann", "Bo', ["names"]), json_reply("I cannot.", ["names"])
    (JsonReply(value={'names': ['Ann']}, whole=False), None)
    """
    for read in (_first, _mended, _as_python):
        value = read(text, fields)
        if value is not None:
            return JsonReply(value)
    ended = {name: value for name in fields if (value := _ended(text, name)) is not None}
    return JsonReply(ended, whole=False) if ended else None


def json_lists(text: str) -> list[list[Any]]:
    """The JSON lists of a reply that lie in no other value, in their order."""
    return [value for value in _values(text) if isinstance(value, list)]


def _first(text: str, fields: Collection[str]) -> dict[str, Any] | None:
    return next(
        (found for value in _values(text) if (found := _holding(value, fields)) is not None), None
    )


def _mended(text: str, fields: Collection[str]) -> dict[str, Any] | None:
    """As `_first`, without commas behind the last item."""
    mended = TRAILING.sub(lambda found: found[1] or COMMA.sub("", found[2] or ""), text)
    return None if mended == text else _first(mended, fields)


def _as_python(text: str, fields: Collection[str]) -> dict[str, Any] | None:
    """The object between the first and the last brace where it is written as Python writes it."""
    try:
        return _holding(ast.literal_eval(text[text.index("{") : text.rindex("}") + 1]), fields)
    except (*FAULTS, SyntaxError, MemoryError, TypeError):
        return None


def _values(text: str) -> list[Any]:
    """The JSON objects and lists of a text that lie in no other one."""
    values, at = [], 0
    for _ in range(STARTS):
        begin = BEGINS.search(text, at)
        if begin is None:
            break
        try:
            value, at = DECODER.raw_decode(text, begin.start())
            values.append(value)
        except FAULTS:
            at = begin.end()
    return values


def _holding(value: Any, fields: Collection[str], depth: int = DEPTH) -> dict[str, Any] | None:
    """The object with one of the fields that is the value or lies in it."""
    if isinstance(value, dict):
        if any(name in value for name in fields):
            return value
        inner = list(value.values())
    elif isinstance(value, list):
        inner = value
    else:
        return None
    found = [
        one for part in inner if depth and (one := _holding(part, fields, depth - 1)) is not None
    ]
    return _joined(found, fields) if found else None


def _joined(found: list[dict[str, Any]], fields: Collection[str]) -> dict[str, Any]:
    """The first of several objects, its lists with the items of the others' behind them."""
    joined = dict(found[0])
    for other in found[1:]:
        for name in fields:
            if isinstance(other.get(name), list) and isinstance(joined.get(name, []), list):
                joined[name] = [*joined.get(name, []), *other[name]]
    return joined


def _ended(text: str, name: str) -> Any:
    """The value of a field as far as it had ended before the text did: of a list its items; None where nothing had."""
    found = re.search(rf'"{re.escape(name)}"\s*:\s*', text)
    if found is None:
        return None
    try:
        return DECODER.raw_decode(text, found.end())[0]
    except FAULTS:
        return _items(text, found.end() + 1) if text[found.end() : found.end() + 1] == "[" else None


def _items(text: str, at: int) -> list[Any]:
    """The items of a list from there on that had ended before the text did."""
    items: list[Any] = []
    while True:
        between = BETWEEN.match(text, at)
        assert between is not None  # it matches the empty text too
        try:
            item, at = DECODER.raw_decode(text, between.end())
        except FAULTS:
            return items
        items.append(item)
