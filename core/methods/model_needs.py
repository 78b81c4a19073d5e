"""Models that a line of operators needs. There is also advice on how to get missing ones."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import BadParameter
from core.models.combine import model_names
from core.operators.base import Line
from core.parameters import parameters


def needed_models(line: Line) -> tuple[str, ...]:
    """Return the models that a line uses, in order, each once.

    They are given as names and roles. Raises BadParameter for a model expression that cannot be
    read.
    """
    return tuple(dict.fromkeys(_named_models(line)))


def missing_models(line: Line, models, answering: bool = True) -> tuple[str, ...]:
    """Return a sentence on how to get each missing model of a line.

    `models` is the registry. If `answering` is False, the models of generating steps are not
    needed. A name that is not declared counts as missing.
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
            # `also` has values that stand for no model, such as “vocabulary”
            if value not in parameter.also and (parameter.model or parameter.chat):
                yield from model_names(value)
