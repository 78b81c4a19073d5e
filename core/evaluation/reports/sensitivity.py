"""Sensitivity of figures to one parameter: variants of a method, and their curves.

A method's line is its sequence of operators, whose parameters can be replaced.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from core import builds
from core.builds.base import BuildLine
from core.builds.registry import BUILD_OPERATORS_BY_NAME as BUILDING
from core.errors import BadParameter
from core.evaluation.metrics.statistics import Estimate, RunSpread
from core.evaluation.reports.method_names import method_name, method_names
from core.evaluation.reports.summary import RunSummary
from core.lines.text import split_at_commas
from core.methods.catalogue import Method
from core.operators.base import Line
from core.operators.text import operator_class, parse_line
from core.operators.texts.built_graph import BuiltGraph
from core.parameters import OperatorBase, check_names, parameter_values, parameters


def vary_parameter(methods: Sequence[Method], variation: str) -> tuple[Method, ...]:
    """Return a variant of each method for every value of a parameter.

    Methods without the operator stay the same. The parameter is changed in every operator of that
    name, also inside loops, unions and branches. An operator that builds graphs (such as
    `TokenChunks`) is changed in the build that the line's `BuiltGraph` names.

    Parameters
    ----------
    methods : methods of the catalogue or others.
    variation : text of the form `Operator.parameter=value,value`.

    Returns
    -------
    The variants and the unchanged methods; of equal lines only the first.

    Raises
    ------
    BadParameter : the text cannot be read, or no method has the operator.
    """
    left, equals, right = variation.partition("=")
    name, dot, parameter = left.strip().partition(".")
    if not (equals and dot and right.strip()):
        raise BadParameter(f"“{variation}” is not of the form Operator.parameter=value,value.")
    cls = BUILDING[name] if name in BUILDING else operator_class(name)
    methods_by_line: dict[str, Method] = {}
    has_operator = False
    for method in methods:
        variants = [method]
        if any(isinstance(operator, cls) for operator in _operators(method.line, cls)):
            has_operator = True
            variants = [
                variant(method, cls, parameter, _parse_value(text))
                for text in split_at_commas(right)
            ]
        for varied_method in variants:
            methods_by_line.setdefault(repr(varied_method.line), varied_method)
    if not has_operator:
        raise BadParameter(f"None of the methods has the operator {name}.")
    return tuple(methods_by_line.values())


def variant(method: Method, cls: type[OperatorBase], parameter: str, value: Any) -> Method:
    """Return the method with one parameter changed in every operator of a class.

    The variant's name states the parameter and the value, and the number of changed operators if
    there are several. Its id is the text of its line.

    Parameters
    ----------
    method : the method.
    cls : class of the operator.
    parameter : name of its parameter.
    value : the new value.

    Returns
    -------
    The variant; the method itself if all these operators have that value already.

    Raises
    ------
    BadParameter : there is no such parameter, or the value is not valid.
    """
    count = sum(isinstance(operator, cls) for operator in _operators(method.line, cls))
    line = _set_parameter(method.line, cls, parameter, value)
    if repr(line) == repr(method.line):
        return method
    label = next(p.label for p in parameters(cls) if p.name == parameter)
    places = f" in {count} places" if count > 1 else ""
    return Method(
        repr(line),
        method.title,
        line,
        short=f"{method_name(method)}, {label.lower()} {value}{places}",
        notes=method.notes,
    )


def curves(
    summary: RunSummary,
    operator: str,
    parameter: str,
    table: Mapping[str, Mapping[str, Estimate]],
    name: str,
) -> dict[str, list[tuple[Any, Estimate]]]:
    """Return the curve of each group of methods that differ only in a parameter.

    Groups with a single method are left out. So are methods without the operator, and those whose
    operators of that name differ in the parameter.

    Parameters
    ----------
    summary : figures of a run.
    operator, parameter : names of the operator and of its parameter.
    table : figures by method id and metric.
    name : the metric.

    Returns
    -------
    For each group, by the name of its first method: values of the parameter with their figures,
        lowest value first.
    """
    return {
        title: [(value, table[method][name]) for value, method in points]
        for title, points in _varied_methods(summary, operator, parameter).items()
    }


def curve_noise(
    summary: RunSummary, operator: str, parameter: str, name: str
) -> list[tuple[Any, RunSpread]]:
    """Return the spreads of a metric between repeats at the points of `curves`."""
    noise = []
    for points in _varied_methods(summary, operator, parameter).values():
        for value, method in points:
            if spread := summary.spread(method, name):
                noise.append((value, spread))
    return noise


def _varied_methods(
    summary: RunSummary, operator: str, parameter: str
) -> dict[str, list[tuple[Any, str]]]:
    """Return the values of a parameter with the methods that have them, by group of `curves`."""
    groups: dict[str, list[tuple[Any, str]]] = {}
    titles: dict[str, str] = {}
    names = method_names(summary.run)
    cls = operator_class(operator)
    for spec in summary.run.spec["instances"]:
        line = parse_line(spec["line"])
        operators = [each for each in line.iter_operators() if isinstance(each, cls)]
        values = {getattr(each, _checked_parameter(cls, parameter)) for each in operators}
        if len(values) != 1:
            continue
        default = next(p.default for p in parameters(cls) if p.name == parameter)
        # Lines that differ only in the parameter are equal once it has its default.
        key = repr(_set_parameter(line, cls, parameter, default))
        titles.setdefault(key, str(names[spec["id"]]))
        groups.setdefault(key, []).append((values.pop(), spec["id"]))
    return {
        titles[key]: sorted(points, key=lambda point: point[0])
        for key, points in groups.items()
        if len(points) > 1
    }


def varied_parameters(summary: RunSummary) -> list[tuple[str, str]]:
    """Return (operator, parameter) for each numeric parameter that varies over a run's methods.

    A parameter varies if the operators of that name do not all have the same value.
    """
    values_by_parameter: dict[tuple[str, str], set[Any]] = {}
    for spec in summary.run.spec["instances"]:
        for operator in parse_line(spec["line"]).iter_operators():
            for name, value in parameter_values(operator).items():
                values_by_parameter.setdefault((type(operator).__name__, name), set()).add(value)
    return [
        key
        for key, values in values_by_parameter.items()
        if len(values) > 1 and all(isinstance(value, int | float) for value in values)
    ]


def _operators(line: Line, cls: type[OperatorBase]) -> list[Any]:
    """Return the operators of a line among which those of a class are found.

    For a class of operators that build graphs, these are the operators of the builds that the line
    names.
    """
    operators = list(line.iter_operators())
    if cls.__name__ not in BUILDING:
        return operators
    graphs = (operator for operator in operators if isinstance(operator, BuiltGraph))
    return list(chain.from_iterable(_build(graph.build) for graph in graphs))


def _build(spec: str) -> BuildLine:
    """Return the operators of the build that a line's `BuiltGraph` names.

    Raises BadParameter if it names a kind of graph, because a kind stands for the best built graph
    of that kind and not for one build.
    """
    catalogue = builds.catalogue()
    build_ids = [id for id, build in catalogue.items() if build.graph == spec]
    if build_ids and spec not in catalogue:
        raise BadParameter(
            f"The method asks the best graph of the kind “{spec}”; name one build to vary it, "
            f"with BuiltGraph.build={build_ids[0]}."
        )
    return builds.find_build(spec).line


def _set_parameter(line: Line, cls: type[OperatorBase], parameter: str, value: Any) -> Line:
    """Return the line with a parameter set to a value.

    The parameter is set in every operator of a class. Raises BadParameter if there is no such
    parameter or build, or if the value is not valid.
    """
    values = {_checked_parameter(cls, parameter): value}

    def change(operator: Any) -> Any:
        if isinstance(operator, BuiltGraph) and cls.__name__ in BUILDING:
            build_line = BuildLine(tuple(map(set_value, _build(operator.build))))
            return replace(operator, build=builds.find_build(repr(build_line)).id)
        return set_value(operator)

    def set_value(operator: Any) -> Any:
        return replace(operator, **values) if isinstance(operator, cls) else operator

    if cls is BuiltGraph and parameter == "build":
        builds.find_build(str(value))  # raises BadParameter if there is no such build
    return line.map_operators(change)


def _checked_parameter(cls: type[OperatorBase], parameter: str) -> str:
    """Return a parameter's name after checking that the class has it.

    Raises BadParameter, which names the nearest valid name.
    """
    check_names(cls, {parameter: None}, cls.__name__)
    return parameter


def _parse_value(text: str) -> Any:
    """Return the value that a text stands for: a Python literal, or else the text itself."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()
