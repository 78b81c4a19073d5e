"""Values in rows of question sets: texts, lists of texts, and lists of objects.

They are read from both JSON and the columns of tables.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any

from core.errors import shorten

Row = Mapping[str, Any]
MAX_LISTED_KEYS = 12  # keys that a sentence lists


class UnfitRow(ValueError):
    """Error for a row that cannot be read as a question. The message says why."""


def text_of(value: Any, key: str = "text") -> str:
    """Return a text or a number as text.

    Raises UnfitRow for any other value, and for a text that cannot be written as UTF-8.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UnfitRow(f"“{key}” should be a text, not “{shorten(str(value), 40)}”")
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError:
        raise UnfitRow(f"“{key}” holds half a letter (a lone surrogate)") from None
    return str(value)


def first_texts(row: Row, *keys: str) -> tuple[str, ...]:
    """Return the texts under the first of `keys` that has a value.

    Blank texts are left out. The value may be a list or one text. The result is empty if no key has
    a value. Raises UnfitRow for a value that is no text.
    """
    key = next((key for key in keys if row.get(key) not in (None, "")), None)
    if key is None:
        return ()
    values = row[key] if isinstance(row[key], list) else [row[key]]
    texts = [text_of(value, key) for value in values]
    return tuple(text for text in texts if text.strip())


def first_text(row: Row, *keys: str) -> str:
    """Return the line under the first of `keys` that has a value.

    Raises UnfitRow if no key has a value, or the first one is blank or no text.
    """
    for key in keys:
        if row.get(key) is not None:
            line = " ".join(text_of(row[key], key).split())
            if line:
                return line
            raise UnfitRow(f"“{key}” is empty")
    there = ", ".join(shorten(str(key), 40) for key in list(row)[:MAX_LISTED_KEYS])
    raise UnfitRow(f"the key “{keys[0]}” is missing; there are {there or 'none'}")


def id_of(row: Row, *keys: str) -> str:
    """Return the id under the first of `keys` that has a value. Empty if none has."""
    return next((text_of(row[key], key).strip() for key in keys if row.get(key) is not None), "")


def as_list(value: Any) -> list[Any]:
    """Return a value as a list: lists stay, None becomes empty, and others become one item.

    HuggingFace stores a list of objects as an object of equally long lists, which is converted
    back. A text is parsed if it is a list or an object in JSON or Python, as in the cells of
    tables.

    >>> from core.questions.values import as_list
    >>> as_list({"title": ["Ann", "Bo"], "sent_id": [0, 1]})
    [{'title': 'Ann', 'sent_id': 0}, {'title': 'Bo', 'sent_id': 1}]
    >>> as_list('["actor", "singer"]'), as_list("actor"), as_list(None)
    (['actor', 'singer'], ['actor'], [])
    """
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        value = _parse_literal(value)
    if isinstance(value, Mapping):
        columns = list(value.values())
        if columns and all(
            isinstance(column, list) and len(column) == len(columns[0]) for column in columns
        ):
            return [dict(zip(value, cells)) for cells in zip(*columns)]
        return [value]
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def list_of_objects(row: Row, key: str) -> list[Row]:
    """Return the list of objects under `key`. Empty if the key is absent.

    Raises UnfitRow if the list has any other item.
    """
    parts = as_list(row.get(key))
    if not all(isinstance(part, Mapping) for part in parts) or parts == [{}]:
        raise UnfitRow(f"“{key}” should be a list of objects")
    return parts


def _parse_literal(text: str) -> Any:
    """Parse a text as JSON, else as a Python literal.

    The latter is how pandas writes lists. A text that is neither is returned unchanged.
    """
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return text
