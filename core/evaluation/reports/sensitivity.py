"""Sensitivity of figures to one parameter: variants of an instance, and their curves."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core import builds
from core.builds.base import BuildLine
from core.builds.registry import BUILD_OPERATORS_BY_NAME as BUILDING
from core.errors import BadParameter
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.method_names import instance_name, method_names
from core.evaluation.reports.summary import RunSummary
from core.instances.catalogue import Instance
from core.lines.text import split
from core.operators.base import Line
from core.operators.text import operator_class, parse_line
from core.operators.texts.built_graph import BuiltGraph
from core.parameters import OperatorBase, check_names, parameter_values, parameters


def vary_parameter(instances: Sequence[Instance], variation: str) -> tuple[Instance, ...]:
    """Return a variant of each instance for every value of a parameter.

    Instances without the operator stay as they are. The parameter is changed wherever the operator
    occurs, also in loops, unions and branches. An operator of builds (such as `TokenChunks`) is
    changed in the build that `BuiltGraph` names.

    Parameters
    ----------
    instances : instances of the catalogue or others.
    variation : text of the form `Operator.parameter=value,value`.

    Returns
    -------
    The variants, each line once.

    Raises
    ------
    BadParameter : the text cannot be read, or no instance has the operator.
    """
    left, equals, right = variation.partition("=")
    name, dot, parameter = left.strip().partition(".")
    if not (equals and dot and right.strip()):
        raise BadParameter(f"“{variation}” is not of the form Operator.parameter=value,value.")
    cls = BUILDING[name] if name in BUILDING else operator_class(name)
    instances_by_line: dict[str, Instance] = {}
    has_operator = False
    for instance in instances:
        is_here = any(isinstance(operator, cls) for operator in _operators(instance.line, cls))
        has_operator = has_operator or is_here
        for varied_instance in (
            [variant(instance, cls, parameter, _value(text)) for text in split(right)]
            if is_here
            else [instance]
        ):
            instances_by_line.setdefault(repr(varied_instance.line), varied_instance)
    if not has_operator:
        raise BadParameter(f"None of the methods has the operator {name}.")
    return tuple(instances_by_line.values())


def variant(instance: Instance, cls: type[OperatorBase], parameter: str, value: Any) -> Instance:
    """Return the instance with one parameter changed in every operator of a class.

    The name of the variant gives the parameter, the value and, if there is more than one, the
    number of operators changed.

    Parameters
    ----------
    instance : the instance.
    cls : class of the operator.
    parameter : name of its parameter.
    value : the new value.

    Returns
    -------
    The variant; the instance itself if all of them have that value already.

    Raises
    ------
    BadParameter : there is no such parameter, or the value is not valid.
    """
    places = sum(isinstance(operator, cls) for operator in _operators(instance.line, cls))
    line = _line_with(instance.line, cls, parameter, value)
    if repr(line) == repr(instance.line):
        return instance
    label = next(p.label for p in parameters(cls) if p.name == parameter)
    where = f" in {places} places" if places > 1 else ""
    return Instance(
        repr(line),
        instance.title,
        line,
        short=f"{instance_name(instance)}, {label.lower()} {value}{where}",
        notes=instance.notes,
    )


def curves(
    summary: RunSummary,
    operator: str,
    parameter: str,
    table: Mapping[str, Mapping[str, Estimate]],
    name: str,
) -> dict[str, list[tuple[Any, Estimate]]]:
    """Return the curve of each group of instances that differ only in a parameter.

    Groups with a single value are left out. So are instances whose operators of that name have
    several values of the parameter.

    Parameters
    ----------
    operator, parameter : names of the operator and of its parameter.
    table : figures by instance id and metric.
    name : the metric.

    Returns
    -------
    Values and figures, by the name of a group's first instance; values ascend.
    """
    groups: dict[str, list[tuple[Any, Estimate]]] = {}
    titles: dict[str, str] = {}
    names, cls = method_names(summary.run), operator_class(operator)
    for spec in summary.run.spec["instances"]:
        line = parse_line(spec["line"])
        parameter_values = {
            getattr(one, _checked_parameter(cls, parameter))
            for one in line.everywhere()
            if isinstance(one, cls)
        }
        if len(parameter_values) != 1:
            continue
        default = next(p.default for p in parameters(cls) if p.name == parameter)
        key = repr(_line_with(line, cls, parameter, default))
        titles.setdefault(key, str(names[spec["id"]]))
        groups.setdefault(key, []).append((parameter_values.pop(), table[spec["id"]][name]))
    return {
        titles[key]: sorted(points, key=lambda point: point[0])
        for key, points in groups.items()
        if len(points) > 1
    }


def varied_parameters(summary: RunSummary) -> list[tuple[str, str]]:
    """Return (operator, parameter) for each number that varies over the instances of the run.

    A parameter varies if not all operators of that name have the same value.
    """
    values_by_parameter: dict[tuple[str, str], set[Any]] = {}
    for spec in summary.run.spec["instances"]:
        for operator in parse_line(spec["line"]).everywhere():
            for name, value in parameter_values(operator).items():
                values_by_parameter.setdefault((type(operator).__name__, name), set()).add(value)
    return [
        key
        for key, seen in values_by_parameter.items()
        if len(seen) > 1 and all(isinstance(value, int | float) for value in seen)
    ]


def _operators(line: Line, cls: type[OperatorBase]) -> list[Any]:
    """Return the operators of a line.

    For a class of building operators, return those of the builds that the line names.
    """
    asking = list(line.everywhere())
    if cls.__name__ not in BUILDING:
        return asking
    return [
        operator for one in asking if isinstance(one, BuiltGraph) for operator in _build(one.build)
    ]


def _build(spec: str) -> BuildLine:
    """Return the build that a line names.

    Raises BadParameter for a kind of graph, because a kind stands for the best built graph and
    names no single build.
    """
    known = builds.catalogue()
    kind = [key for key, one in known.items() if one.graph == spec]
    if kind and spec not in known:
        raise BadParameter(
            f"The method asks the best graph of the kind “{spec}”; name one build to vary it, "
            f"with BuiltGraph.build={kind[0]}."
        )
    return builds.find_build(spec).line


def _line_with(line: Line, cls: type[OperatorBase], parameter: str, value: Any) -> Line:
    """Return the line with a parameter of every operator of a class set to a value.

    Raises BadParameter.
    """
    given = {_checked_parameter(cls, parameter): value}

    def change(operator: Any) -> Any:
        if isinstance(operator, BuiltGraph) and cls.__name__ in BUILDING:
            built = BuildLine(tuple(set_there(one) for one in _build(operator.build)))
            return replace(operator, build=builds.find_build(repr(built)).id)
        return set_there(operator)

    def set_there(operator: Any) -> Any:
        return replace(operator, **given) if isinstance(operator, cls) else operator

    if cls is BuiltGraph and parameter == "build":
        builds.find_build(str(value))
    return line.changed(change)


def _checked_parameter(cls: type[OperatorBase], parameter: str) -> str:
    """Return a parameter's name after checking that the class has it.

    Raises BadParameter, which names the nearest valid name.
    """
    check_names(cls, {parameter: None}, cls.__name__)
    return parameter


def _value(text: str) -> Any:
    """Return a value as an operator takes it: a number, True, False, or the text itself."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()
