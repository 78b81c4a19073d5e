"""Check of a question's language against those a model was trained on."""

from __future__ import annotations

from typing import Any

from core.errors import HopscopeError
from core.languages.language import name_of

MULTILINGUAL_ADVICE = (
    "Choose an encoder of many languages on Models, or a method that searches by words."
)


def other_trained_languages(models: Any, name: str, code: str) -> str:
    """Return the languages of a model as words if that of a question is not among them.

    Parameters
    ----------
    models : the registry of models.
    name : name or role of a model.
    code : code of the question's language; empty if it is unknown.

    Returns
    -------
    Names of languages; empty if the question's is among them, or if the model's are many or
    unknown.
    """
    get_languages = getattr(models, "languages", lambda name: ())
    try:
        codes = get_languages(name)
    except HopscopeError:  # reported when the model is used
        return ""
    return "" if not code or code in codes else " and ".join(map(name_of, codes))
