"""The prompts as data, read once."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@cache
def prompts(file: str) -> dict[str, dict[str, Any]]:
    """Every prompt of `core/prompts/FILE.toml` by name."""
    return tomllib.loads((FOLDER / f"{file}.toml").read_text("utf-8"))


def digest() -> str:
    """A text that changes with any prompt."""
    whole = hashlib.sha256()
    for file in sorted(FOLDER.glob("*.toml")):
        whole.update(file.read_bytes())
    return f"prompts {whole.hexdigest()[:16]}"


def system(prompt: dict[str, Any], abstract: bool = False) -> str:
    """The system message of a prompt; for an abstract question without its words on short answers, which are under `short`.

    >>> from core.prompts import prompts, system
    >>> system(prompts("answer")["question-in-words"], abstract=True)
    'You answer questions from what you know. If you do not know, say so.'
    """
    return prompt["system"].replace(prompt["short"], "") if abstract and "short" in prompt else prompt["system"]


def messages(file: str, name: str, abstract: bool = False, /, **values: str) -> tuple[dict[str, str], ...]:
    """A prompt's system and user message, their places filled; as it is put to an abstract question where that is so.

    >>> from core.prompts import messages
    >>> messages("stop", "sufficient", paths="A -> r1 -> C", question="where")[1]["content"].splitlines()[:4]
    ['Facts:', 'A -> r1 -> C', '', 'Question: where']
    """
    prompt = prompts(file)[name]
    texts = {"system": system(prompt, abstract), "user": prompt["user"]}
    return tuple({"role": role, "content": filled(text, **values)} for role, text in texts.items())


def filled(template: str, **values: str) -> str:
    """The template with its places filled, all in one go: braces in what is filled in stay as they are.

    >>> from core.prompts import filled
    >>> filled('{question} as {"json": 1}', question="who is {name}", name="Ann")
    'who is {name} as {"json": 1}'
    """
    return re.sub("|".join(f"{{{name}}}" for name in values), lambda place: values[place[0][1:-1]], template)


def plain(text: str) -> str:
    """A text on one line, with single spaces, as prompts list them."""
    return " ".join(text.split())


def numbered(texts: Iterable[str]) -> str:
    """Texts as a numbered list, one a line, from 1.

    >>> from core.prompts import numbered
    >>> print(numbered(["directed_by", "has genre"]))
    1. directed_by
    2. has genre
    """
    return "\n".join(f"{number}. {plain(text)}" for number, text in enumerate(texts, 1))
