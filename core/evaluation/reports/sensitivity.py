"""How figures change with one parameter: an instance in variants, and their figures in order."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core import builds
from core.builds.base import BuildLine
from core.builds.registry import OPERATORS as BUILDING
from core.errors import BadParameter
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.naming import called, of
from core.evaluation.reports.summary import Summary
from core.instances.catalogue import Instance
from core.lines.text import split
from core.operators.base import Line
from core.operators.text import operator_class, parse_line
from core.operators.texts.built import BuiltGraph
from core.parameters import Declared, check_names, parameters, values


def varied(instances: Sequence[Instance], variation: str) -> tuple[Instance, ...]:
    """Each instance once for every value of `Operator.parameter=value,value,...`; those without the operator are left as they are.

    The parameter is changed wherever the operator occurs, in loops, unions and branches too; an operator of builds (`TokenChunks`) is
    changed in the build that `BuiltGraph` names. Raises BadParameter where the wish cannot be read or none of the instances has the
    operator.
    """
    left, equals, right = variation.partition("=")
    name, dot, parameter = left.strip().partition(".")
    if not (equals and dot and right.strip()):
        raise BadParameter(f"“{variation}” is not of the form Operator.parameter=value,value.")
    cls = BUILDING[name] if name in BUILDING else operator_class(name)
    found: dict[str, Instance] = {}
    held = False
    for instance in instances:
        here = any(isinstance(operator, cls) for operator in _operators(instance.line, cls))
        held = held or here
        for one in (
            [variant(instance, cls, parameter, _value(text)) for text in split(right)]
            if here
            else [instance]
        ):
            found.setdefault(repr(one.line), one)
    if not held:
        raise BadParameter(f"None of the instances has the operator {name}.")
    return tuple(found.values())


def variant(instance: Instance, cls: type[Declared], parameter: str, value: Any) -> Instance:
    """The instance with one parameter changed in every operator of that class; the instance itself where all have that value.

    Its name says the parameter, the value and, where it is not one, in how many places. Raises BadParameter.
    """
    places = sum(isinstance(operator, cls) for operator in _operators(instance.line, cls))
    line = _with(instance.line, cls, parameter, value)
    if repr(line) == repr(instance.line):
        return instance
    label = next(p.label for p in parameters(cls) if p.name == parameter)
    where = f" in {places} places" if places > 1 else ""
    return Instance(
        repr(line),
        instance.title,
        line,
        short=f"{of(instance)}, {label.lower()} {value}{where}",
        notes=instance.notes,
    )


def curves(
    summary: Summary,
    operator: str,
    parameter: str,
    table: Mapping[str, Mapping[str, Estimate]],
    name: str,
) -> dict[str, list[tuple[Any, Estimate]]]:
    """For each group of instances that differ in that parameter alone, (value, figure of the metric) by value.

    A group is named after its first instance. Groups of one value are left out, and so are instances whose operators of that name have
    several values of the parameter.
    """
    groups: dict[str, list[tuple[Any, Estimate]]] = {}
    titles: dict[str, str] = {}
    names, cls = called(summary.run), operator_class(operator)
    for spec in summary.run.spec["instances"]:
        line = parse_line(spec["line"])
        found = {
            getattr(one, _known(cls, parameter))
            for one in line.everywhere()
            if isinstance(one, cls)
        }
        if len(found) != 1:
            continue
        default = next(p.default for p in parameters(cls) if p.name == parameter)
        key = repr(_with(line, cls, parameter, default))
        titles.setdefault(key, str(names[spec["id"]]))
        groups.setdefault(key, []).append((found.pop(), table[spec["id"]][name]))
    return {
        titles[key]: sorted(points, key=lambda point: point[0])
        for key, points in groups.items()
        if len(points) > 1
    }


def differing(summary: Summary) -> list[tuple[str, str]]:
    """(operator, parameter) for each number that is not the same in all operators of a name, over the instances of the run."""
    found: dict[tuple[str, str], set[Any]] = {}
    for spec in summary.run.spec["instances"]:
        for operator in parse_line(spec["line"]).everywhere():
            for name, value in values(operator).items():
                found.setdefault((type(operator).__name__, name), set()).add(value)
    return [
        key
        for key, seen in found.items()
        if len(seen) > 1 and all(isinstance(value, int | float) for value in seen)
    ]


def _operators(line: Line, cls: type[Declared]) -> list[Any]:
    """The operators of a line; for a class of building operators those of the builds that it names."""
    asking = list(line.everywhere())
    if cls.__name__ not in BUILDING:
        return asking
    return [
        operator for one in asking if isinstance(one, BuiltGraph) for operator in _build(one.build)
    ]


def _build(spec: str) -> BuildLine:
    """The build that a line names. Raises BadParameter for a kind of graph, of which the best one that is built would be taken."""
    known = builds.catalogue()
    kind = [key for key, one in known.items() if one.graph == spec]
    if kind and spec not in known:
        raise BadParameter(
            f"The line asks the best graph of the kind “{spec}”; name one build to vary it, with BuiltGraph.build={kind[0]}."
        )
    return builds.find(spec).line


def _with(line: Line, cls: type[Declared], parameter: str, value: Any) -> Line:
    """The line with the parameter of every operator of the class at that value. Raises BadParameter."""
    given = {_known(cls, parameter): value}

    def change(operator: Any) -> Any:
        if isinstance(operator, BuiltGraph) and cls.__name__ in BUILDING:
            built = BuildLine(tuple(set_there(one) for one in _build(operator.build)))
            return replace(operator, build=builds.find(repr(built)).id)
        return set_there(operator)

    def set_there(operator: Any) -> Any:
        return replace(operator, **given) if isinstance(operator, cls) else operator

    if cls is BuiltGraph and parameter == "build":
        builds.find(str(value))
    return line.changed(change)


def _known(cls: type[Declared], parameter: str) -> str:
    """The parameter, which the class must have. Raises BadParameter that names the nearest."""
    check_names(cls, {parameter: None}, cls.__name__)
    return parameter


def _value(text: str) -> Any:
    """A value as an operator takes it: a number, True or False, else the text itself."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()
