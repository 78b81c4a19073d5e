"""Fields within fields of JSON rows, by names with dots: `data.text`, `messages.content`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

DEEPEST = 6  # fields within fields that have names of their own
LOOKED_AT = 100  # items of a list whose fields are named


def names_in(row: Mapping[str, Any], before: str = "", deep: int = 1) -> Iterator[str]:
    """The names of the fields of a row that hold values, those within objects and lists of objects by their whole names.

    >>> from core.corpus.readers.nested import names_in
    >>> list(names_in({"id": 1, "data": {"text": "a"}, "said": [{"by": "Ann"}, {"by": "Bo"}]}))
    ['id', 'data.text', 'said.by']
    """
    for key, value in row.items():
        inner = [
            one
            for one in (value[:LOOKED_AT] if isinstance(value, list) else [value])
            if isinstance(one, dict) and one
        ]
        if inner and deep < DEEPEST:
            yield from dict.fromkeys(
                name for one in inner for name in names_in(one, f"{before}{key}.", deep + 1)
            )
        else:
            yield f"{before}{key}"


def values_at(value: Any, name: str) -> list[Any]:
    """What a row holds at a name, of each object of a list; a key that has dots itself is found as well.

    >>> from core.corpus.readers.nested import values_at
    >>> row = {"data": {"text": "a"}, "said": [{"by": "Ann"}, {"by": "Bo"}], "a.b": 1}
    >>> values_at(row, "data.text"), values_at(row, "said.by"), values_at(row, "a.b"), values_at(row, "data.none")
    (['a'], ['Ann', 'Bo'], [1], [])
    """
    if isinstance(value, list):
        return [found for one in value for found in values_at(one, name)]
    if not isinstance(value, dict):
        return []
    if name in value:
        return [value[name]]
    dots = (at for at, sign in enumerate(name) if sign == "." and name[:at] in value)
    return next(
        (found for at in dots if (found := values_at(value[name[:at]], name[at + 1 :]))), []
    )


def only_list(
    row: Mapping[str, Any], before: str = "", deep: int = 1
) -> tuple[str, list[dict[str, Any]]]:
    """The one list of objects that a row holds, at any depth, behind its name; empty where it holds none or several.

    >>> from core.corpus.readers.nested import only_list
    >>> only_list({"data": {"items": [{"text": "a"}]}, "total": 1})
    ('data.items', [{'text': 'a'}])
    """
    found: list[tuple[str, list[dict[str, Any]]]] = []
    for key, value in row.items():
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            found.append((f"{before}{key}", value))
        elif (
            isinstance(value, dict)
            and deep < DEEPEST
            and (inner := only_list(value, f"{before}{key}.", deep + 1))[1]
        ):
            found.append(inner)
    return found[0] if len(found) == 1 else ("", [])
