"""Chooser of a method: the catalogue in groups, with a search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.diagnosis.wording import capitalised
from core.errors import split_command
from core.methods.catalogue import Method
from core.methods.model_needs import missing_models
from pages.parts.methods.groups import methods_by_group
from pages.parts.shared.scripts import component
from pages.parts.shared.wording import tr


def chooser(
    catalogue: Mapping[str, Method], models, current: str, key: str, answering: bool = True
) -> str | None:
    """Draw the chooser, and return the id of the clicked method.

    Return None without a click. Each method is drawn with its operators as small blocks, in the
    colours of the page Build.

    Parameters
    ----------
    catalogue : the methods by id.
    models : the registry of models, which tells those that a method needs and that are missing.
    current : id of the method that is marked.
    answering : whether a language model answers; if so, its absence is reported.
    """
    groups = [
        {"title": title, "rows": [_row(method, models, answering) for method in methods]}
        for title, methods in methods_by_group(catalogue).items()
    ]
    result = component("chooser")(
        key=key, data={"current": current, "groups": groups}, on_choose_change=lambda: None
    )
    return result.choose


def _row(method: Method, models, answering: bool) -> dict[str, Any]:
    """Return the data of one method.

    `changes` is True for a variant of another method, and `needs` tells the missing models.
    """
    steps = [{"stage": step.stage, "title": capitalised(tr(step.title))} for step in method.line]
    return {
        "steps": steps,
        "id": method.id,
        "label": tr(method.label),
        "number": method.secondary_name,
        "sentence": tr(method.title) if method.title != method.label else "",
        "line": method.line.words(),
        "needs": " ".join(
            split_command(sentence)[0]
            for sentence in missing_models(method.line, models, answering)
        ),
        "changes": bool(method.base),
    }
