"""Checks of numbers from outside, such as those of a model server."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

MAX_TOKEN_COUNT = 1_000_000_000  # a larger number cannot be a token count
MAX_JSON_DIGITS = 400  # of a whole number in JSON; the largest float has 309


def finite_number(value: Any) -> float:
    """Return the value as a finite float.

    Raises
    ------
    ValueError : it is a boolean, a text, NaN, infinite, or beyond the range of floats.

    Examples
    --------
    >>> from core.models.number_checks import finite_number
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
    """Return a value as a whole number within bounds.

    Parameters
    ----------
    value : anything, such as a part of a server's reply.
    below : the first number that is too large; the lowest allowed number is 0.

    Returns
    -------
    The value.

    Raises
    ------
    ValueError : it is no whole number in that range.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        raise ValueError(f"it is no whole number from 0 to {below - 1}")
    return value


def token_count(value: Any) -> int:
    """Return a number of tokens; 0 for None. Raises ValueError if it is no such number."""
    return 0 if value is None else whole_number(value, MAX_TOKEN_COUNT + 1)


def finite_vector(values: Any) -> np.ndarray:
    """Return a list of numbers as float32 [d].

    Raises ValueError if it is empty or no list, or if a value is no number or too large.
    """
    if not isinstance(values, Sequence) or isinstance(values, str) or not len(values):
        raise ValueError("it is no list of numbers")
    with np.errstate(over="ignore"):
        vector = np.array([finite_number(value) for value in values], np.float64).astype(np.float32)
    if not np.isfinite(vector).all():
        raise ValueError("it has too large a number")
    return vector


def read_json(data: str | bytes) -> Any:
    """Return the value of a JSON text.

    Whole numbers of more than `MAX_JSON_DIGITS` digits become infinite. Raises ValueError,
    UnicodeDecodeError, RecursionError.
    """
    return json.loads(data, parse_int=_parse_integer)


def _parse_integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_JSON_DIGITS else math.inf
