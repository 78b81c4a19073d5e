"""Names of a run's methods for screens and reports: plain words, then the paper's own name."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from core.errors import BadInput, BadParameter
from core.evaluation.runs.store import Run
from core.methods.catalogue import Method, catalogue, method_of_line
from core.operators.text import parse_line


@dataclass(frozen=True)
class MethodName:
    """A method's name in plain words, and the paper's own.

    The paper's own is a name or number, if it differs. As a text it is, for example,
    `Shortest paths (No. 10)`.
    """

    plain: str
    number: str = ""

    def __str__(self) -> str:
        return f"{self.plain} ({self.number})" if self.number else self.plain


def method_names(run: Run) -> dict[str, MethodName]:
    """Return the names of a run's methods, by method id.

    A method whose catalogue entry has not changed since the run has the catalogue's name. Others
    have the name that the run saved. If two methods would have the same name, all get their saved
    names, and equal saved names are numbered.
    """
    methods = catalogue()
    names_by_id = {spec["id"]: _method_name(spec, methods) for spec in run.spec["instances"]}
    return names_by_id if len(set(names_by_id.values())) == len(names_by_id) else _saved_names(run)


def _saved_names(run: Run) -> dict[str, MethodName]:
    """Return the saved names of a run's methods, with numbers after equal ones."""
    name_counts = Counter(spec["name"] for spec in run.spec["instances"])
    seen_names: Counter[str] = Counter()
    names_by_id = {}
    for spec in run.spec["instances"]:
        name = spec["name"]
        seen_names[name] += 1
        number = f" {seen_names[name]}" if name_counts[name] > 1 else ""
        names_by_id[spec["id"]] = MethodName(f"{name}{number}")
    return names_by_id


def method_titles(run: Run) -> dict[str, str]:
    """Return the names of a run's methods as texts, by method id (see `method_names`)."""
    return {method: str(name) for method, name in method_names(run).items()}


def method_name(method: Method) -> MethodName:
    """Return the name of a method."""
    return MethodName(method.label, method.secondary_name)


def _method_name(spec: dict[str, Any], methods: dict[str, Method]) -> MethodName:
    """Return the name of a method from its saved specification and the catalogue's methods."""
    try:
        catalogue_method = methods.get(spec["id"]) or method_of_line(
            parse_line(spec["line"]), methods
        )
    except (BadInput, BadParameter):  # the line has operators that no longer exist
        return MethodName(spec["name"])
    if catalogue_method.name == spec["name"] and repr(catalogue_method.line) == spec["line"]:
        return method_name(catalogue_method)
    return MethodName(spec["name"])
