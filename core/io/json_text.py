"""JSON that any program reads, with null for NaN and infinities."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def json_text(value: Any, **options: Any) -> str:
    """Return the JSON text of a value.

    JSON has no NaN and no infinities; they become null.

    Parameters
    ----------
    options : further arguments of `json.dumps`.

    Examples
    --------
    >>> from core.io.json_text import json_text
    >>> json_text({"score": float("nan"), "rank": 1})
    '{"score": null, "rank": 1}'
    """
    options = {"ensure_ascii": False, **options}
    try:
        return json.dumps(value, allow_nan=False, **options)
    except ValueError:
        return json.dumps(without_nan(value), allow_nan=False, **options)


def without_nan(value: Any) -> Any:
    """Return plain data with None for NaN and infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {without_nan_key(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value


def without_nan_key(key: Any) -> Any:
    """Return a key that JSON can hold: a float becomes text."""
    return str(key) if isinstance(key, float) else key
