"""Options of a box in which a method is searched by typing."""

from __future__ import annotations

from collections.abc import Mapping

from core.evaluation.reports.method_names import method_name
from core.methods.catalogue import Method


def method_options(methods: Mapping[str, Method]) -> dict[str, str]:
    """Return the names of methods by id, each before all names that contain it.

    A box that lists the names with the typed text thus has the method of that name first.
    """
    names = {id: method_name(method) for id, method in methods.items()}
    options: dict[str, str] = {}

    def add(id: str, waiting: frozenset[str]) -> None:
        if id in options or id in waiting:
            return
        label = str(names[id])
        for other, name in names.items():
            if any(text and text.lower() in label.lower() for text in (name.plain, name.number)):
                add(other, waiting | {id})
        options[id] = label

    for id in names:
        add(id, frozenset())
    return options
