"""The line that is being composed on Build: cards in order, kept in the session, with the way back."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from core.errors import BadParameter
from core.operators.base import Line, Operator, unfit

_NUMBERS = itertools.count(1)
STEPS_BACK = 30


@dataclass
class Card:
    """One operator of the draft; `key` stays the same when the card moves. `broken` where its form holds an error."""

    operator: Operator
    key: str = field(default_factory=lambda: f"card{next(_NUMBERS)}")
    broken: bool = False


@dataclass
class Draft:
    """Cards in order. Every change of the order can be undone."""

    cards: list[Card] = field(default_factory=list)
    before: list[list[Card]] = field(default_factory=list)

    def load(self, line: Line) -> None:
        """Take over a line of operators in place of what is here."""
        self._remember()
        self.cards = [Card(operator) for operator in line]

    def move(self, position: int, by: int) -> None:
        """Move a card up (-1) or down (1)."""
        self._remember()
        card = self.cards.pop(position)
        self.cards.insert(position + by, card)

    def remove(self, position: int) -> None:
        """Take a card out."""
        self._remember()
        del self.cards[position]

    def change(self, position: int, operator: Operator) -> None:
        """Put another operator in a card's place."""
        self._remember()
        self.cards = [*self.cards[:position], Card(operator), *self.cards[position + 1 :]]

    def insert(self, position: int, operator: Operator) -> None:
        """Put a new card before `position`."""
        self._remember()
        self.cards.insert(position, Card(operator))

    def undo(self) -> None:
        """Go back one change of the order."""
        if self.before:
            self.cards = self.before.pop()

    def _remember(self) -> None:
        self.before = [*self.before, list(self.cards)][-STEPS_BACK:]

    @property
    def operators(self) -> tuple[Operator, ...]:
        return tuple(card.operator for card in self.cards)

    def reasons(self) -> list[str | None]:
        """For each card, why it cannot stand where it stands."""
        return [reason_in_words(unfit(self.operators[:i], card.operator), card.operator) for i, card in enumerate(self.cards)]

    def line(self) -> Line:
        """The line as it stands. Raises BadParameter with the reason where it cannot be run."""
        if not self.cards:
            raise BadParameter("The line is empty; add a first step, or start from a method.")
        if any(card.broken for card in self.cards):
            raise BadParameter("One of the steps has a setting that cannot be used; its card says why.")
        reason = next((reason for reason in self.reasons() if reason), None)
        if reason:
            raise BadParameter(reason)
        return Line(self.operators)

    def cannot_add(self, position: int, operator: Operator) -> str | None:
        """Why `operator` cannot be added at `position`, or what it would break after it; None where it can."""
        reason = unfit(self.operators[:position], operator)
        if reason:
            return reason_in_words(reason, operator)
        before = (*self.operators[:position], operator)
        for n, after in enumerate(self.operators[position:]):
            if unfit((*before, *self.operators[position : position + n]), after) and not unfit(self.operators[: position + n], after):
                return reason_in_words(unfit((*before, *self.operators[position : position + n]), after), after)
        return None

    def usual_place(self) -> int:
        """Where an operator is added unless told otherwise: before the first that cannot stand, before an answer, at the end."""
        broken = next((i for i, reason in enumerate(self.reasons()) if reason), None)
        if broken is not None:
            return broken
        ends = len(self.cards) and self.cards[-1].operator.stage == "generate"
        return len(self.cards) - 1 if ends else len(self.cards)


def reason_in_words(reason: str | None, operator: Operator) -> str | None:
    """A reason of `unfit` with the operator's title in place of its class name."""
    return None if reason is None else reason.replace(type(operator).__name__, f"“{heading(operator)}”", 1)


def heading(operator: Operator | type[Operator]) -> str:
    """The operator's title as a heading."""
    return operator.title[:1].upper() + operator.title[1:]
