"""Names of the methods of a run: plain words, with the paper's own name after them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from core.errors import BadInput, BadParameter
from core.evaluation.runs.store import Run
from core.instances.catalogue import Instance, catalogue, named
from core.operators.text import parse_line


@dataclass(frozen=True)
class Called:
    """A method's name: plain words, and the paper's own name if it has another one.

    As a text it is `Shortest paths (No. 10)`.
    """

    plain: str
    number: str = ""

    def __str__(self) -> str:
        return f"{self.plain} ({self.number})" if self.number else self.plain


def called(run: Run) -> dict[str, Called]:
    """Return the names of a run's methods, by instance id.

    A name is in plain words if the catalogue has the line that was run, or a line that differs from
    it in one operator. Else it is the name that the run saved. If two methods would have the same
    name, all get their saved names, and equal saved names are numbered.
    """
    known = catalogue()
    found = {one["id"]: _called(one, known) for one in run.spec["instances"]}
    return found if len(set(found.values())) == len(found) else _by_name(run)


def _by_name(run: Run) -> dict[str, Called]:
    """Return the saved names of a run's methods, with numbers after equal ones."""
    names = Counter(one["name"] for one in run.spec["instances"])
    seen: Counter[str] = Counter()
    found = {}
    for one in run.spec["instances"]:
        seen[one["name"]] += 1
        found[one["id"]] = Called(
            f"{one['name']} {seen[one['name']]}" if names[one["name"]] > 1 else one["name"]
        )
    return found


def titles(run: Run) -> dict[str, str]:
    """Return the names of `called` as texts."""
    return {key: str(one) for key, one in called(run).items()}


def of(instance: Instance) -> Called:
    """Return the name of an instance."""
    return Called(instance.label, instance.number)


def _called(spec: dict[str, Any], known: dict[str, Instance]) -> Called:
    try:
        same = known.get(spec["id"]) or named(parse_line(spec["line"]), known)
    except (BadInput, BadParameter):  # the line has operators that no longer exist
        return Called(spec["name"])
    if same.name == spec["name"] and repr(same.line) == spec["line"]:
        return of(same)
    return Called(spec["name"])
