"""Numbers that come from outside, such as a model server's: taken where they are numbers, else refused."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

MAX_TOKENS = 1_000_000_000  # of a prompt or a reply; a larger number is no count of either
MAX_DIGITS = 400  # of a whole number in JSON; the largest float has 309


def finite_number(value: Any) -> float:
    """The value as a finite float.

    Raises
    ------
    ValueError : for booleans, texts, NaN, infinities, and whole numbers beyond every float.

    Examples
    --------
    >>> from core.models.numbers import finite_number
    >>> finite_number(2)
    2.0
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("it is no number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("it is too large a number") from None
    if not math.isfinite(number):
        raise ValueError("it is no finite number")
    return number


def whole_number(value: Any, below: int) -> int:
    """The value as a whole number from 0 up to, and not including, `below`. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        raise ValueError(f"it is no whole number from 0 to {below - 1}")
    return value


def token_count(value: Any) -> int:
    """A number of tokens; 0 where there is none. Raises ValueError for what is no such number."""
    return 0 if value is None else whole_number(value, MAX_TOKENS + 1)


def finite_vector(values: Any) -> np.ndarray:
    """The values as float32 [d]. Raises ValueError where one is no number or too large for it."""
    if not isinstance(values, Sequence) or isinstance(values, str) or not len(values):
        raise ValueError("it is no list of numbers")
    with np.errstate(over="ignore"):
        vector = np.array([finite_number(value) for value in values], np.float64).astype(np.float32)
    if not np.isfinite(vector).all():
        raise ValueError("it has too large a number")
    return vector


def read_json(data: str | bytes) -> Any:
    """The value of a JSON text. Whole numbers of more than 400 digits are read as infinite.

    Raises ValueError, UnicodeDecodeError, RecursionError.
    """
    return json.loads(data, parse_int=_whole)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_DIGITS else math.inf
