"""Check of a question's language against those a model was trained on."""

from __future__ import annotations

from typing import Any

from core.errors import HopscopeError
from core.languages.language import name_of

MULTILINGUAL_ADVICE = (
    "Choose an encoder of many languages on Models, or a method that searches by words."
)


def other_trained_languages(models: Any, name: str, code: str) -> str:
    """Return the languages of a model as words if a language is not among them.

    Parameters
    ----------
    models : the registry of models.
    name : name or role of a model.
    code : code of the question's language; empty if it is unknown.

    Returns
    -------
    Words; empty if the language is among them, or the model's languages are many or unknown.
    """
    languages_of = getattr(models, "languages", lambda name: ())
    try:
        codes = languages_of(name)
    except HopscopeError:  # reported when the model is used
        return ""
    return " and ".join(map(name_of, codes)) if code and codes and code not in codes else ""
