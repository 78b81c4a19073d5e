"""TOML files, with every fault of parsing raised as a TOML error."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

TOML_KEY = re.compile(r"(?m)^[ \t]*([\w.\"'-]{1,200})[ \t]*=")
# Python converts no text of more than 4,300 digits to a number, and raises a plain ValueError.
TOML_NUMBER = re.compile(r"\d[\d_]*")
MIN_HUGE_DIGITS = 1_000


def read_toml(file: Path) -> dict[str, Any]:
    """Return the table of a TOML file.

    Raises
    ------
    tomllib.TOMLDecodeError
        For invalid TOML, and for integers that are too long for Python.
    UnicodeDecodeError, OSError
        For a file that is not UTF-8, or cannot be read.
    """
    text = file.read_text("utf-8")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except ValueError as error:
        raise tomllib.TOMLDecodeError(_huge_number_message(text) or str(error)) from None


def _huge_number_message(text: str) -> str:
    """Return a message on the first huge number; empty without one."""
    numbers = TOML_NUMBER.finditer(text)
    number = next((one for one in numbers if len(one[0]) >= MIN_HUGE_DIGITS), None)
    if number is None:
        return ""
    keys = [key[1] for key in TOML_KEY.finditer(text, 0, number.start())]
    line = text.count("\n", 0, number.start()) + 1
    digits = len(number[0].replace("_", ""))
    opening = f"“{keys[-1]}” is" if keys else "there is"
    return f"{opening} a number of {digits:,} digits, which is too large (at line {line})"
