"""JSON that any program reads: numbers that are none are null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def json_text(value: Any, **how: Any) -> str:
    """The JSON of a value. NaN and infinities, for which JSON has no words, are null.

    Parameters
    ----------
    how : further arguments of `json.dumps`.

    Examples
    --------
    >>> from core.io.json_text import json_text
    >>> json_text({"score": float("nan"), "rank": 1})
    '{"score": null, "rank": 1}'
    """
    how = {"ensure_ascii": False, **how}
    try:
        return json.dumps(value, allow_nan=False, **how)
    except ValueError:
        return json.dumps(without_nan(value), allow_nan=False, **how)


def without_nan(value: Any) -> Any:
    """Plain data with None for NaN and infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {without_nan_key(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value


def without_nan_key(key: Any) -> Any:
    """A key that JSON can have."""
    return str(key) if isinstance(key, float) else key
