"""What a draft is made of: the operators that answer a question, or those that build a graph, with the rules of their lines."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.builds import base as building
from core.builds.catalogue import read_operator as read_building
from core.builds.registry import OPERATORS as BUILDING_OPERATORS
from core.lines import OperatorLine
from core.operators import OPERATORS
from core.operators.base import STAGES, Line, unfit
from core.operators.branch import Branch
from core.operators.text import read_operator


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Operators by name, and the stages of their lines in order.

    `unfit(before, operator)` says why one cannot follow others, `line` makes a line of them, `read` an operator of an expression. A new
    step goes before those of the stage `last`.
    """

    operators: Mapping[str, type[Any]]
    stages: tuple[str, ...]
    last: str
    unfit: Callable[[Iterable[Any], Any], str | None]
    line: Callable[[tuple[Any, ...]], OperatorLine[Any]]
    read: Callable[[ast.expr], Any]


RETRIEVAL = Vocabulary(
    {**OPERATORS, Branch.__name__: Branch}, STAGES, "generate", unfit, Line, read_operator
)
BUILDING = Vocabulary(
    BUILDING_OPERATORS, building.STAGES, "index", building.unfit, building.BuildLine, read_building
)


def vocabulary_of(line: Iterable[Any]) -> Vocabulary:
    """The vocabulary of a line; that of retrieval where it is no build.

    >>> from core.builds import find
    >>> from core.drafts.vocabulary import BUILDING, vocabulary_of
    >>> vocabulary_of(find("chunks").line) is BUILDING
    True
    """
    return BUILDING if isinstance(line, building.BuildLine) else RETRIEVAL
