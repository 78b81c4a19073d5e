"""Chooser of methods: the catalogue in groups, searched in the browser, with a sentence on each."""

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
    """Draw the chooser, and return the id of the chosen method.

    None if no method was chosen in this run. Each method is drawn with its operators as small
    blocks, in the colours of the page Build.

    Parameters
    ----------
    catalogue : the methods by id.
    models : the registry, which knows the models that are not installed.
    current : id of the method that is marked.
    answering : whether a language model answers, so that its absence is reported.
    """
    groups = [
        {"title": title, "rows": [_row(one, models, answering) for one in rows]}
        for title, rows in methods_by_group(catalogue).items()
    ]
    result = component("chooser")(
        key=key, data={"current": current, "groups": groups}, on_choose_change=lambda: None
    )
    return result.choose


def _row(one: Method, models, answering: bool) -> dict[str, Any]:
    steps = [{"stage": step.stage, "title": capitalised(tr(step.title))} for step in one.line]
    return {
        "steps": steps,
        "id": one.id,
        "label": tr(one.label),
        "number": one.number,
        "sentence": tr(one.title) if one.title != one.label else "",
        "line": one.line.words(),
        "needs": " ".join(
            split_command(sentence)[0] for sentence in missing_models(one.line, models, answering)
        ),
        "changes": bool(one.base),
    }
