"""Nested fields of JSON rows, by dotted names such as “data.text” or “messages.content”."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

MAX_FIELD_LEVELS = 6  # levels of nested fields that have names of their own
MAX_NAMED_ITEMS = 100  # items of a list in which names of fields are searched


def field_names(row: Mapping[str, Any], prefix: str = "", level: int = 1) -> Iterator[str]:
    """Yield the names of a row's fields that hold no further fields.

    Fields within objects and lists of objects have dotted names.

    Parameters
    ----------
    row : a row of a JSON file.
    prefix : prefix of all names.
    level : level of the row, from 1. Fields below `MAX_FIELD_LEVELS` have no names.

    Yields
    ------
    A name.

    Examples
    --------
    >>> from core.corpus.readers.nested_fields import field_names
    >>> list(field_names({"id": 1, "data": {"text": "a"}, "said": [{"by": "Ann"}, {"by": "Bo"}]}))
    ['id', 'data.text', 'said.by']
    """
    for key, value in row.items():
        items = value[:MAX_NAMED_ITEMS] if isinstance(value, list) else [value]
        inner = [item for item in items if isinstance(item, dict) and item]
        if inner and level < MAX_FIELD_LEVELS and not is_inverted_index(value):
            names: dict[str, None] = {}
            for item in inner:
                names.update(dict.fromkeys(field_names(item, f"{prefix}{key}.", level + 1)))
            yield from names
        else:
            yield f"{prefix}{key}"


def values_at(value: Any, name: str) -> list[Any]:
    """Return the values of a row at a dotted name.

    A key that contains dots itself is found too.

    Parameters
    ----------
    value : a row, or a value within it.
    name : a name that `field_names` returns.

    Returns
    -------
    The value; of a list of objects, the value in each. Empty if no object has the field.

    Examples
    --------
    >>> from core.corpus.readers.nested_fields import values_at
    >>> row = {"data": {"text": "a"}, "said": [{"by": "Ann"}, {"by": "Bo"}], "a.b": 1}
    >>> values_at(row, "data.text"), values_at(row, "said.by")
    (['a'], ['Ann', 'Bo'])
    >>> values_at(row, "a.b"), values_at(row, "data.none")
    ([1], [])
    """
    if isinstance(value, list):
        return list(chain.from_iterable(values_at(item, name) for item in value))
    if not isinstance(value, dict):
        return []
    if name in value:
        return [value[name]]
    # Each dot may divide names of fields or belong to one, so all are tried.
    for dot, sign in enumerate(name):
        if sign == "." and name[:dot] in value:
            inner = values_at(value[name[:dot]], name[dot + 1 :])
            if inner:
                return inner
    return []


def is_inverted_index(value: Any) -> bool:
    """Return whether a value gives a text as words with positions, like OpenAlex's abstracts.

    >>> from core.corpus.readers.nested_fields import is_inverted_index
    >>> is_inverted_index({"Salt": [0, 2], "moves": [1]}), is_inverted_index({"a": [], "b": 1})
    (True, False)
    """
    if not isinstance(value, dict) or not value:
        return False
    for offsets in value.values():
        # compared by type, as isinstance would take a bool for an int
        if not isinstance(offsets, list) or {type(offset) for offset in offsets} != {int}:
            return False
    return True


def words_in_order(index: Mapping[str, list[int]]) -> str:
    """Return the text of an inverted index.

    >>> from core.corpus.readers.nested_fields import words_in_order
    >>> words_in_order({"salt": [1, 3], "and": [2], "Sea": [0]})
    'Sea salt and salt'
    """
    pairs: list[tuple[int, str]] = []
    for word, offsets in index.items():
        pairs += [(offset, word) for offset in offsets]
    return " ".join(word for _, word in sorted(pairs))


def row_as_sentence(row: Mapping[str, Any], unnamed_field: str = "") -> str:
    """Return a row as one sentence of its fields with their names.

    Parameters
    ----------
    row : the fields; nested ones get dotted names.
    unnamed_field : the field whose value is written without its name.

    Returns
    -------
    Fields separated by semicolons.

    Examples
    --------
    >>> from core.corpus.readers.nested_fields import row_as_sentence
    >>> row_as_sentence({"route": "Varberg-Grenaa", "fare": {"adult": 42}, "note": ""})
    'route: Varberg-Grenaa; fare.adult: 42'
    """
    parts = []
    for name in dict.fromkeys(field_names(row)):
        values = list(chain.from_iterable(map(_texts, values_at(row, name))))
        if values:
            phrase = ", ".join(values)
            parts.append(phrase if name in ("", unnamed_field) else f"{name}: {phrase}")
    return "; ".join(parts)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of a value, each on one line.

    Those of a list are yielded one by one.
    """
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif is_inverted_index(value):
        yield words_in_order(value)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from (f"{name} {text}" for text in _texts(item))
    elif value is not None and (text := " ".join(str(value).split())):
        yield text


def only_list(
    row: Mapping[str, Any], prefix: str = "", level: int = 1
) -> tuple[str, list[dict[str, Any]]]:
    """Return the only list of objects in a row, with its name.

    The list may be at any depth.

    Parameters
    ----------
    row : a row of a JSON file.
    prefix : prefix of the name.
    level : level of the row, from 1.

    Returns
    -------
    Name and items; both are empty if the row holds no such list or several.

    Examples
    --------
    >>> from core.corpus.readers.nested_fields import only_list
    >>> only_list({"data": {"items": [{"text": "a"}]}, "total": 1})
    ('data.items', [{'text': 'a'}])
    """
    lists: list[tuple[str, list[dict[str, Any]]]] = []
    for key, value in row.items():
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            lists.append((f"{prefix}{key}", value))
        elif isinstance(value, dict) and level < MAX_FIELD_LEVELS:
            inner = only_list(value, f"{prefix}{key}.", level + 1)
            if inner[1]:
                lists.append(inner)
    return lists[0] if len(lists) == 1 else ("", [])
