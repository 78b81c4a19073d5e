"""The catalogue as the options of a chooser: under the headings of its groups, a changed instance behind its base."""

from __future__ import annotations

from collections.abc import Mapping

from core.instances.catalogue import OWN, Instance

HEADING = "# "  # begins the options that are headings; no id does


def options(known: Mapping[str, Instance]) -> dict[str, str]:
    """The label of every option, in order; a heading stands before the instances of its group."""
    groups: dict[str, dict[str, str]] = {}
    for key, one in known.items():
        groups.setdefault(one.group, {})[key] = ("↳ " if one.base else "") + label(one)
    found = {}
    for group, labels in groups.items():
        title = "Saved by you" if group == OWN else group or "Others"
        found |= {HEADING + title: f"── {title} ──", **labels}
    return found


def label(instance: Instance) -> str:
    """What it does in plain words, the paper's own name, and its line in words."""
    return " · ".join(filter(None, (instance.label, instance.number, instance.line.words())))


def is_heading(option: str | None) -> bool:
    """Whether an option stands for no instance."""
    return option is not None and option.startswith(HEADING)
