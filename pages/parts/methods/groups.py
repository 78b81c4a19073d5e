"""Catalogue of methods in groups, and as options of a select box."""

from __future__ import annotations

from collections.abc import Mapping

from core.methods.catalogue import OWN_GROUP, Method
from core.sharing import shared
from pages.parts.shared.wording import tr

HEADING_PREFIX = "# "  # prefix of the options that are headings; no id begins with it


def saved_heading() -> str:
    """Return the heading of the methods that users saved."""
    return tr("Saved here") if shared() else tr("Saved by you")


def methods_by_group(catalogue: Mapping[str, Method]) -> dict[str, list[Method]]:
    """Return the methods by the title of their group, in the catalogue's order."""
    groups: dict[str, list[Method]] = {}
    for method in catalogue.values():
        title = method.group or tr("Others")
        if method.group == OWN_GROUP:
            title = saved_heading()
        groups.setdefault(title, []).append(method)
    return groups


def method_options(catalogue: Mapping[str, Method]) -> dict[str, str]:
    """Return the options of a select box, as labels by id.

    A heading comes before the methods of its group. Variants of a method are marked by an arrow.
    """
    labels: dict[str, str] = {}
    for title, methods in methods_by_group(catalogue).items():
        labels[HEADING_PREFIX + title] = f"── {title} ──"
        for method in methods:
            labels[method.id] = ("↳ " if method.base else "") + method_label(method)
    return labels


def method_label(method: Method) -> str:
    """Return a method's label, second name, and line in words."""
    return " · ".join(filter(None, (tr(method.label), method.secondary_name, method.line.words())))


def is_heading(option: str | None) -> bool:
    """Return whether an option is a heading."""
    return option is not None and option.startswith(HEADING_PREFIX)
