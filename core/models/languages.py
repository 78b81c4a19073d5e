"""Whether a model was trained on a language."""

from __future__ import annotations

from typing import Any

from core.errors import HopscopeError
from core.languages.language import name_of

WHERE = "Choose an encoder of many languages on Models, or a method that searches by words."


def trained_elsewhere(models: Any, name: str, code: str) -> str:
    """The languages that a model was trained on, in words, where that of a code is none of them; else empty."""
    known = getattr(models, "languages", lambda name: ())
    try:
        codes = known(name)
    except HopscopeError:  # said where it is asked
        return ""
    return " and ".join(map(name_of, codes)) if code and codes and code not in codes else ""
