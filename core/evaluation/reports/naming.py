"""What the methods of a run are called: in plain words, with the paper's own name beside them."""

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
    """A method's name: what it does in plain words, and the paper's own name, empty where there is no other. As a text
    `Shortest paths (No. 10)`."""

    plain: str
    number: str = ""

    def __str__(self) -> str:
        return f"{self.plain} ({self.number})" if self.number else self.plain


def called(run: Run) -> dict[str, Called]:
    """What the methods of a run are called, by id.

    In plain words where the catalogue has the line that was run, or one that is an operator apart; else by the name that the
    run keeps. Where two methods would be called alike, all go by that name; those that have one name even so are numbered.
    """
    known = catalogue()
    found = {one["id"]: _called(one, known) for one in run.spec["instances"]}
    return found if len(set(found.values())) == len(found) else _by_name(run)


def _by_name(run: Run) -> dict[str, Called]:
    """The names that the run keeps; those that several methods have with a number behind them."""
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
    """`called` as texts."""
    return {key: str(one) for key, one in called(run).items()}


def of(instance: Instance) -> Called:
    """What an instance is called."""
    return Called(instance.label, instance.number)


def _called(spec: dict[str, Any], known: dict[str, Instance]) -> Called:
    try:
        same = known.get(spec["id"]) or named(parse_line(spec["line"]), known)
    except (BadInput, BadParameter):  # a line of operators that are no longer there
        return Called(spec["name"])
    if same.name == spec["name"] and repr(same.line) == spec["line"]:
        return of(same)
    return Called(spec["name"])
