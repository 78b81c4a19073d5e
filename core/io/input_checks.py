"""Checks of texts, names and numbers from requests, links, files and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.errors import BadInput

MAX_NAME_LETTERS = 200  # of the name of a graph, corpus or question set, which becomes a file name
MAX_LINE_LETTERS = 2_000  # of the text of a method, an entity or an answer
MAX_LIST_ITEMS = 64  # of a list in a request
MAX_SEED = 2**31 - 1  # fits into a signed integer of 32 bits


def checked_text(value: Any, field: str, limit: int = MAX_LINE_LETTERS) -> str:
    """Return a text unchanged.

    Raises
    ------
    BadInput
        If it is not a text, has more than `limit` characters, or holds half a character (a
        lone surrogate), which cannot be encoded. The message names the field.
    """
    if not isinstance(value, str):
        raise BadInput(f"“{field}” should be a text.")
    if len(value) > limit:
        raise BadInput(f"“{field}” has {len(value):,} characters; at most {limit:,} are taken.")
    if not is_encodable(value):
        raise BadInput(f"“{field}” holds half a character, which is no text.")
    return value


def checked_texts(values: Sequence[Any], field: str) -> tuple[str, ...]:
    """Return the texts of a list. Raises BadInput as `checked_text`, or if there are too many."""
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise BadInput(f"“{field}” should be a list of texts.")
    if len(values) > MAX_LIST_ITEMS:
        raise BadInput(f"“{field}” has {len(values):,} items; at most {MAX_LIST_ITEMS} are taken.")
    return tuple(checked_text(value, field) for value in values)


def checked_number(value: Any, field: str, low: int, high: int) -> int:
    """Return a whole number from `low` to `high`, both included.

    Raises BadInput that names the field.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadInput(f"“{field}” should be a whole number from {low:,} to {high:,}.")
    return value


def is_encodable(text: str) -> bool:
    """Return whether a text can be encoded as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def encodable_text(text: str) -> str:
    """Return a text with `?` in place of each half character (a lone surrogate)."""
    return text if is_encodable(text) else text.encode("utf-8", "replace").decode()
