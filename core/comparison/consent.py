"""Consent of the user to operators that may take long or cost money.

Consent is needed for operators that call a language model or a program of the user's. The operators
before them run without it.
"""

from __future__ import annotations

from core.errors import BadParameter
from core.models.base import Models
from core.models.combine import uses_chat
from core.operators.base import Line, Operator
from core.parameters import parameter_values, parameters


def needs_consent(operator: Operator, models: Models, answering: bool = False) -> bool:
    """Return whether an operator calls a language model or a program of the user's.

    An answer by a language model counts only if `answering`. A model expression that cannot be
    parsed does not count.
    """
    # Only the operators that call a user's program are never cached.
    if not all(part.is_reusable for part in operator.parts()):
        return True
    try:
        for part in operator.parts():
            for parameter, value in zip(parameters(type(part)), parameter_values(part).values()):
                asks_role = parameter.chat and (answering or part.stage != "generate")
                # Values in `also` are words such as “none”, which name no model.
                if not (parameter.model or asks_role) or value in parameter.also:
                    continue
                if parameter.chat or uses_chat(value, models.is_chat):
                    return True
    except BadParameter:
        pass  # the lane reports the fault
    return False


def is_free_reader(operator: Operator) -> bool:
    """Return whether an operator reads the answer from the retrieved items without a model."""
    return operator.stage == "read" and not any(
        parameter.model or parameter.chat for parameter in parameters(type(operator))
    )


def free_prefix(line: Line, models: Models, answering: bool = False) -> int:
    """Return the number of operators before the first that needs consent.

    It is the number of all operators if none needs consent.
    """
    for index, operator in enumerate(line):
        if needs_consent(operator, models, answering):
            return index
    return len(line)
