"""Operators of a method that run without consent, or wait for it.

Consent is needed for operators that call a language model or a program of the user's.
"""

from __future__ import annotations

from core.errors import BadParameter
from core.models.base import Models
from core.models.combine import uses_chat
from core.operators.base import Line, Operator
from core.parameters import parameter_values, parameters


def needs_consent(operator: Operator, models: Models, answering: bool = False) -> bool:
    """Return whether an operator calls a language model or a program of the user's.

    Such a call may take long or cost money. An answer by a language model counts only if
    `answering`. A model expression that cannot be parsed does not count.
    """
    if not all(part.is_reusable for part in operator.parts()):
        return True
    try:
        for part in operator.parts():
            for parameter, value in zip(parameters(type(part)), parameter_values(part).values()):
                asks_role = parameter.chat and (answering or part.stage != "generate")
                if not (parameter.model or asks_role) or value in parameter.also:
                    continue
                if parameter.chat or uses_chat(value, models.is_chat):
                    return True
    except BadParameter:
        pass  # the lane reports the fault
    return False


def is_free_reader(operator: Operator) -> bool:
    """Return whether an operator reads the answer from the results without a model."""
    return operator.stage == "read" and not any(
        parameter.model or parameter.chat for parameter in parameters(type(operator))
    )


def free_prefix(line: Line, models: Models, answering: bool = False) -> int:
    """Return how many leading operators of a method run before the first that `needs_consent`.

    The result is the number of operators if none does.
    """
    for index, operator in enumerate(line):
        if needs_consent(operator, models, answering):
            return index
    return len(line)
