"""What of a line runs at once, and what waits until it is asked for: what asks a language model, or a program of the person's own."""

from __future__ import annotations

from core.errors import BadParameter
from core.models.base import Models
from core.models.combine import uses_chat
from core.operators.base import Line, Operator
from core.parameters import parameters, values


def asks(operator: Operator, models: Models, answering: bool = False) -> bool:
    """Whether running an operator asks a language model, or a program of the person's own: what may take long, or cost money. An answer
    that a language model gives counts with `answering` alone. An expression that cannot be read counts as none: its lane will say so."""
    if not all(part.remembered for part in operator.parts()):
        return True
    try:
        return any(
            p.chat or uses_chat(value, models.is_chat)
            for part in operator.parts()
            for p, value in zip(parameters(type(part)), values(part).values())
            if (p.model or (p.chat and (answering or part.stage != "generate")))
            and value not in p.also
        )
    except BadParameter:
        return False


def free(operator: Operator) -> bool:
    """Whether an operator reads what was found without a model, which takes no time."""
    return operator.stage == "read" and not any(
        p.model or p.chat for p in parameters(type(operator))
    )


def at_once(line: Line, models: Models, answering: bool = False) -> int:
    """How many operators of a line come before the first that `asks`; all of them where none does."""
    return next(
        (place for place, operator in enumerate(line) if asks(operator, models, answering)),
        len(line),
    )
