"""The targets of a question: its known answers, and the gold passages with the evidence.

Explanations and repairs of a lane tell which targets it brings and which it loses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.types import Question


@dataclass(frozen=True)
class Target:
    """A known answer, or a passage by its document's id.

    `name` is the answer, or the document's id. `names` are all names of an answer, `name` first.
    """

    kind: Literal["answer", "passage"]
    name: str
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", self.names or (self.name,))


def answers_of(question: Question) -> tuple[Target, ...]:
    """Return the known answers, without repeats."""
    return tuple(
        Target("answer", answer, question.answer_names(answer))
        for answer in dict.fromkeys(question.answers)
    )


def passages_of(question: Question) -> tuple[Target, ...]:
    """Return the gold passages, without repeats."""
    return tuple(Target("passage", document) for document in dict.fromkeys(question.gold))
