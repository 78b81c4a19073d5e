"""The prompts as data, read once."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@cache
def prompts(file: str) -> dict[str, dict[str, Any]]:
    """Every prompt of `core/prompts/FILE.toml` by name."""
    return tomllib.loads((FOLDER / f"{file}.toml").read_text("utf-8"))


def filled(template: str, **values: str) -> str:
    """The template with its places (`{paths}`, `{question}` ...) filled, all in one go: braces in what is filled in stay as they are."""
    return re.sub("|".join(f"{{{name}}}" for name in values), lambda place: values[place[0][1:-1]], template)
