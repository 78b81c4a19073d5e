"""The operators of a method that run without consent, and those that wait for it.

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
    `answering`. A model expression that cannot be read counts as none, as its lane reports the
    fault.
    """
    if not all(part.remembered for part in operator.parts()):
        return True
    try:
        return any(
            p.chat or uses_chat(value, models.is_chat)
            for part in operator.parts()
            for p, value in zip(parameters(type(part)), parameter_values(part).values())
            if (p.model or (p.chat and (answering or part.stage != "generate")))
            and value not in p.also
        )
    except BadParameter:
        return False


def is_free_reader(operator: Operator) -> bool:
    """Return whether an operator reads the answer from the results without a model, at no cost."""
    return operator.stage == "read" and not any(
        p.model or p.chat for p in parameters(type(operator))
    )


def free_prefix(line: Line, models: Models, answering: bool = False) -> int:
    """Return how many leading operators of a method run before the first that `needs_consent`.

    The result is the number of operators if none does.
    """
    return next(
        (
            index
            for index, operator in enumerate(line)
            if needs_consent(operator, models, answering)
        ),
        len(line),
    )
