"""Chooser of a method: facets, a search, and the catalogue with Hopscope's picks first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import streamlit as st

from core.errors import UnknownMethod, split_command
from core.evaluation.runs.measured_seconds import mean_search_seconds
from core.methods.catalogue import Method
from core.methods.facets import PICKS
from core.methods.model_needs import missing_models
from pages.parts.methods.facets import facet_choices, method_facets
from pages.parts.shared.actions import button
from pages.parts.shared.scripts import component
from pages.parts.shared.session import chosen_source, store
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

NO_METHODS: Mapping[str, Method] = MappingProxyType({})


def chooser(
    catalogue: Mapping[str, Method],
    models,
    current: str,
    key: str,
    answering: bool = True,
    others: Mapping[str, Method] = NO_METHODS,
) -> str | None:
    """Draw the chooser, and return the id of the clicked method.

    Return None without a click.

    Parameters
    ----------
    catalogue : the methods by id.
    models : the registry of models, which tells those that a method needs and that are missing.
    current : id of the method that is marked.
    answering : whether a language model answers; if so, its absence is reported.
    others : methods for another kind of source. They can be found, but not be clicked.
    """
    data = chooser_data(catalogue, models, answering, others)
    result = component("chooser")(
        key=key, data={**data, "current": current}, on_choose_change=lambda: None
    )
    return result.choose


def chooser_data(
    catalogue: Mapping[str, Method],
    models,
    answering: bool,
    others: Mapping[str, Method] = NO_METHODS,
) -> dict[str, Any]:
    """Return the facets and the rows of the chooser, the picks first.

    With `others`, the methods for the chosen kind of source are shown at first.
    """
    picks = {id: catalogue[id] for id in PICKS if id in catalogue}
    listed = picks | dict(catalogue) | dict(others)
    seconds_by_line = mean_search_seconds(store(), chosen_source())
    rows: list[dict[str, Any]] = []
    for method in listed.values():
        base = listed.get(method.base)
        facets = method_facets(method, models)
        rows.append(
            {
                "id": method.id,
                "label": tr(method.label),
                "name": method.typed_name,
                "number": method.secondary_name,
                "sentence": _sentence(method, base),
                "line": method.line.words(),
                "paper": " ".join((method.paper, *facets["paper"])),
                "seconds": _seconds_text(seconds_by_line.get(repr(method.line))),
                "needs": " ".join(
                    split_command(sentence)[0]
                    for sentence in missing_models(method.line, models, answering)
                ),
                "elsewhere": _elsewhere_text(method) if method.id in others else "",
                "changes": base is not None and method.id not in picks,
                "pick": method.id in picks,
                "facets": facets,
            }
        )
    return {
        "facets": facet_choices(row["facets"] for row in rows),
        "taken": {"source": chosen_source().kind} if others else {},
        "rows": rows,
    }


def draw_alternatives(
    error: UnknownMethod, catalogue: Mapping[str, Method], use: Callable[[str], None]
) -> None:
    """Draw a button for each of the methods nearest to an unknown name.

    `use` is called with the id of the clicked method.
    """
    with st.container(horizontal=True):
        for method in map(catalogue.__getitem__, error.alternatives):
            label = " · ".join(filter(None, (tr(method.label), method.secondary_name)))
            button(plain(label), partial(use, method.id), key=f"use-{error.name}-{method.id}")


def _sentence(method: Method, base: Method | None) -> str:
    """Return one sentence on a method, in plain words where these are short and its own."""
    words = method.line.plain_words()
    is_same = base is not None and base.line.plain_words() == words
    if method.title != method.label and (method.on_documents or is_same):
        return tr(method.title)
    return words


def _elsewhere_text(method: Method) -> str:
    """Return the kind of source of a method that is not for the chosen one."""
    return tr("for documents") if method.on_documents else tr("for graphs")


def _seconds_text(seconds: float | None) -> str:
    """Return the measured seconds; empty if there are none."""
    return "" if seconds is None else tr("{seconds:.2f} s here", seconds=seconds)
