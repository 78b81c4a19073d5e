"""Which models an instance needs, and which of these are not here."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import BadParameter
from core.models.combine import names
from core.operators.base import Line
from core.parameters import parameters


def needed(line: Line) -> tuple[str, ...]:
    """The models and roles that a line names, those of its branches included, in its order. Raises BadParameter."""
    return tuple(dict.fromkeys(_named(line)))


def missing(line: Line, models, answering: bool = True) -> tuple[str, ...]:
    """For each model that the line needs and that is not here, a sentence that says why and how to get it.

    `models` is the registry; without `answering`, the model of the answer is not counted. A name that nobody declared is told of.
    """
    found = []
    asked = line if answering else line.without("generate")
    for name in needed(asked):
        try:
            found.append(models.info(name).how_to_get)
        except BadParameter as error:
            found.append(str(error))
    return tuple(dict.fromkeys(filter(None, found)))


def _named(line: Line) -> Iterator[str]:
    for operator in line.parts():
        for parameter in parameters(type(operator)):
            value = getattr(operator, parameter.name)
            if value not in parameter.also and (parameter.model or parameter.chat):
                yield from names(value)
