"""The prompts as data, read once."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@cache
def prompts(file: str) -> dict[str, dict[str, Any]]:
    """Every prompt of `core/prompts/FILE.toml` by name."""
    return tomllib.loads((FOLDER / f"{file}.toml").read_text("utf-8"))


def filled(template: str, paths: str, question: str) -> str:
    """The template with its two places filled; braces in names stay as they are."""
    before, _, after = template.partition("{question}")
    return before.replace("{paths}", paths) + question + after
