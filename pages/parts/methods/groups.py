"""The catalogue under the headings of its groups, and as the options of a select box."""

from __future__ import annotations

from collections.abc import Mapping

from core.instances.catalogue import OWN, Instance
from core.sharing import shared
from pages.parts.shared.wording import tr

HEADING = "# "  # begins the options that are headings; no id does


def saved() -> str:
    """The heading of what people saved."""
    return tr("Saved here") if shared() else tr("Saved by you")


def grouped(known: Mapping[str, Instance]) -> dict[str, list[Instance]]:
    """The instances under the title of their group, in the catalogue's order."""
    groups: dict[str, list[Instance]] = {}
    for one in known.values():
        groups.setdefault(saved() if one.group == OWN else one.group or tr("Others"), []).append(
            one
        )
    return groups


def options(known: Mapping[str, Instance]) -> dict[str, str]:
    """The label of every option, in order; a heading stands before the instances of its group, a
    changed one behind its base."""
    found: dict[str, str] = {}
    for title, rows in grouped(known).items():
        found |= {HEADING + title: f"── {title} ──"} | {
            one.id: ("↳ " if one.base else "") + label(one) for one in rows
        }
    return found


def label(instance: Instance) -> str:
    """What it does in plain words, the paper's own name, and its line in words."""
    return " · ".join(filter(None, (tr(instance.label), instance.number, instance.line.words())))


def is_heading(option: str | None) -> bool:
    """Whether an option stands for no instance."""
    return option is not None and option.startswith(HEADING)
