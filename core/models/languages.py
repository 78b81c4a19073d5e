"""Check of a question's language against the languages that a model was trained on."""

from __future__ import annotations

from typing import Any

from core.errors import HopscopeError
from core.languages.language import name_of

MULTILINGUAL_ADVICE = (
    "Choose an encoder of many languages on Models, or a method that searches by words."
)


def other_trained_languages(models: Any, name: str, code: str) -> str:
    """Return a model's languages if the question's is not among them.

    Parameters
    ----------
    models : the registry of models.
    name : name or role of a model.
    code : code of the question's language; empty if it is unknown.

    Returns
    -------
    Names of languages; empty if the question's language is among them or unknown, or if the model's
    languages are many or unknown.
    """
    get_languages = getattr(models, "languages", lambda name: ())
    try:
        codes = get_languages(name)
    except HopscopeError:  # reported when the model is used
        return ""
    if not code or code in codes:
        return ""
    return " and ".join(map(name_of, codes))
