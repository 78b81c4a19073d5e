"""How figures change with one parameter: an instance in variants, and their figures in order."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import BadParameter
from core.evaluation.metrics.statistics import Estimate
from core.evaluation.reports.naming import called, of
from core.evaluation.reports.summary import Summary
from core.instances.catalogue import Instance
from core.operators.base import Line
from core.operators.text import operator_class, parse_line
from core.parameters import make, parameters, values


def varied(instances: Sequence[Instance], wish: str) -> tuple[Instance, ...]:
    """Each instance once for every value of `Operator.parameter=value,value,...`; those without the operator stay as they are.

    Raises BadParameter where the wish cannot be read or none of the instances holds the operator.
    """
    left, equals, right = wish.partition("=")
    name, dot, parameter = left.strip().partition(".")
    if not (equals and dot and right.strip()):
        raise BadParameter(f"“{wish}” is not of the form Operator.parameter=value,value.")
    cls = operator_class(name)
    found: dict[str, Instance] = {}
    held = False
    for instance in instances:
        places = [i for i, operator in enumerate(instance.line) if isinstance(operator, cls)]
        held = held or bool(places)
        for one in [variant(instance, places[0], parameter, _value(text)) for text in right.split(",")] if places else [instance]:
            found.setdefault(repr(one.line), one)
    if not held:
        raise BadParameter(f"None of the instances has the operator {name}.")
    return tuple(found.values())


def variant(instance: Instance, place: int, parameter: str, value: Any) -> Instance:
    """The instance with one parameter of the operator at `place` changed; the instance itself where it has that value."""
    operator = instance.line.operators[place]
    changed = make(type(operator), {**values(operator), parameter: value})
    if repr(changed) == repr(operator):
        return instance
    line = instance.line.replaced(place, changed)
    label = next(p.label for p in parameters(type(operator)) if p.name == parameter)
    return Instance(repr(line), instance.title, line, short=f"{of(instance)}, {label.lower()} {value}", notes=instance.notes)


def curves(
    summary: Summary, operator: str, parameter: str, table: Mapping[str, Mapping[str, Estimate]], name: str
) -> dict[str, list[tuple[Any, Estimate]]]:
    """For each group of instances that differ in that parameter alone, (value, figure of the metric) by value.

    A group is named after its first instance. Groups of one value are left out.
    """
    groups: dict[str, list[tuple[Any, Estimate]]] = {}
    titles: dict[str, str] = {}
    names = called(summary.run)
    for spec in summary.run.spec["instances"]:
        line = parse_line(spec["line"])
        place = next((i for i, one in enumerate(line) if type(one).__name__ == operator), None)
        if place is None:
            continue
        own = values(line.operators[place])
        if parameter not in own:
            raise BadParameter(f"{operator} has no parameter “{parameter}”.")
        rest = repr(Line(line.operators[:place])), {k: v for k, v in own.items() if k != parameter}, repr(line.operators[place + 1 :])
        key = repr(rest)
        titles.setdefault(key, str(names[spec["id"]]))
        groups.setdefault(key, []).append((own[parameter], table[spec["id"]][name]))
    return {titles[key]: sorted(points, key=lambda point: point[0]) for key, points in groups.items() if len(points) > 1}


def _value(text: str) -> Any:
    """A value as an operator takes it: a number, True or False, else the text itself."""
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()
