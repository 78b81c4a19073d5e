"""Models that a method needs, with advice on how to get missing ones."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import BadParameter
from core.models.combine import model_names
from core.operators.base import Line
from core.parameters import parameters


def needed_models(line: Line) -> tuple[str, ...]:
    """Return the models and roles that a line names, in order, each once.

    Raises BadParameter.
    """
    return tuple(dict.fromkeys(_named_models(line)))


def missing_models(line: Line, models, answering: bool = True) -> tuple[str, ...]:
    """Return a sentence on how to get each missing model of a line.

    `models` is the registry. Without `answering`, the models of generating steps do not count. A
    name that is not declared counts as missing.
    """
    sentences = []
    used_line = line if answering else line.without_stage("generate")
    for name in needed_models(used_line):
        try:
            sentences.append(models.info(name).how_to_get)
        except BadParameter as error:
            sentences.append(str(error))
    return tuple(dict.fromkeys(filter(None, sentences)))


def _named_models(line: Line) -> Iterator[str]:
    for operator in line.parts():
        for parameter in parameters(type(operator)):
            value = getattr(operator, parameter.name)
            if value not in parameter.also and (parameter.model or parameter.chat):
                yield from model_names(value)
