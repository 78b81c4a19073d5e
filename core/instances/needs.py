"""Models that an instance needs, and those of them that are missing."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import BadParameter
from core.models.combine import names
from core.operators.base import Line
from core.parameters import parameters


def needed(line: Line) -> tuple[str, ...]:
    """Return the models and roles that a line names, in order, including those of branches.

    Raises BadParameter.
    """
    return tuple(dict.fromkeys(_named(line)))


def missing(line: Line, models, answering: bool = True) -> tuple[str, ...]:
    """Return a sentence for each needed model that is missing, on how to get it.

    `models` is the registry. Without `answering`, the model of the answer is not counted. A name
    that is not declared counts as missing.
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
