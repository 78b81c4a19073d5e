"""Drafts: rows of bricks (`core.lines.brick`), from which a line of operators is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from core.builds.base import BuildLine
from core.builds.registry import BUILD_GRAMMAR
from core.errors import BadParameter
from core.lines import Grammar, OperatorLine
from core.lines.brick import (
    Brick,
    Bricks,
    brick_of,
    bricks_of,
    bricks_text,
    default_operator,
    operators_of,
)
from core.operators.branch import BRANCH_FIELDS, OTHERWISE_ARM, Branch
from core.operators.text import RETRIEVAL_GRAMMAR


@dataclass(frozen=True)
class Draft:
    """A row of bricks that may not make a line of operators yet.

    Parameters
    ----------
    bricks : the row. Loops and branches have further rows inside them, their arms.
    next_key : key of the next new brick.
    grammar : the grammar of retrieval methods, or that of builds of graphs.
    """

    bricks: Bricks = ()
    next_key: int = 1
    grammar: Grammar[Any] = RETRIEVAL_GRAMMAR

    @classmethod
    def from_line(cls, line: Iterable[Any]) -> Draft:
        """Return the draft of a line of operators for retrieval or building."""
        keys = count(1)
        bricks = bricks_of(line, keys)
        grammar = BUILD_GRAMMAR if isinstance(line, BuildLine) else RETRIEVAL_GRAMMAR
        return cls(bricks, next(keys), grammar)

    def iter_bricks(self) -> Iterator[Brick]:
        """Yield all bricks, each before the bricks inside it."""
        for brick in self.bricks:
            yield from brick.iter_bricks()

    def find(self, key: int) -> Brick | None:
        """Return the brick with a key, also one inside another. None if there is none."""
        return next((brick for brick in self.iter_bricks() if brick.key == key), None)

    @property
    def text(self) -> str:
        """The canonical text, which `parse_draft` reads. For a complete draft, it is the line's."""
        return bricks_text(self.bricks)

    def line(self) -> OperatorLine[Any]:
        """Return the line of operators that the bricks make.

        Raises BadParameter if the draft is empty or cannot be run.
        """
        if not self.bricks:
            raise BadParameter("There are no steps yet. Add one, or start from a method.")
        return self.grammar.line_class(operators_of(self.bricks))

    def runnable_line(self) -> Any:
        """Return the line of operators. None if the draft cannot be run yet."""
        try:
            return self.line()
        except BadParameter:
            return None


def parse_draft(text: str, grammar: Grammar[Any] = RETRIEVAL_GRAMMAR) -> Draft:
    """Return the draft of a text such as `Draft.text`.

    Raises BadParameter if the text does not have the form of a line.

    >>> from core.drafts.draft import parse_draft
    >>> parse_draft("Rank(keep=8) >> Loop(body=..., budget=9)").text
    'Rank(keep=8) >> Loop(body=..., budget=9)'
    """
    keys = count(1)
    bricks = grammar.bricks(text, keys) if text.strip() else ()
    return Draft(bricks, next(keys), grammar)


def new_brick(cls: type[Any], keys: Iterator[int]) -> Brick:
    """Return a brick of an operator class with default parameters.

    The brick of a branch has two empty rows. `keys` yields the key.
    """
    if issubclass(cls, Branch):
        return Brick(next(keys), Branch, {"on": BRANCH_FIELDS[0]}, {"1": (), OTHERWISE_ARM: ()})
    return brick_of(default_operator(cls), keys)
