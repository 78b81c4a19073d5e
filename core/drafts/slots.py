"""Slots: positions of a draft where a brick can be put.

A slot is in the draft's own row or in a row inside a brick.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from core.drafts.draft import Draft
from core.errors import BadParameter
from core.lines.brick import Brick, Bricks

LINE_OWNER = 0  # owner of the draft's own row; no brick has this key


@dataclass(frozen=True)
class Slot:
    """The position before brick `at` of a row.

    The row is the draft's own, or the row `arm` of the brick `owner`.
    """

    at: int
    owner: int = LINE_OWNER
    arm: str = ""

    def __str__(self) -> str:
        return f"{self.at}" if self.owner == LINE_OWNER else f"{self.owner}.{self.arm}.{self.at}"


def parse_slot(text: str) -> Slot:
    """Return the slot that a text names.

    >>> from core.drafts.slots import Slot, parse_slot
    >>> parse_slot("2"), parse_slot("5.body.0")
    (Slot(at=2, owner=0, arm=''), Slot(at=0, owner=5, arm='body'))
    """
    owner, _, rest = text.partition(".")
    arm, _, index = rest.rpartition(".")
    numbers = (index, owner) if rest else (owner, str(LINE_OWNER))
    if not all(number.isdecimal() and len(number) < 10 for number in numbers):
        raise BadParameter("There is no such place in the line.")
    return Slot(int(numbers[0]), int(numbers[1]), arm)


def rows(draft: Draft) -> Iterator[tuple[int, str, Bricks]]:
    """Yield every row of bricks with its owner and name, the draft's own first."""
    yield LINE_OWNER, "", draft.bricks
    for brick in draft.each():
        for arm, row in brick.arms.items():
            yield brick.key, arm, row


def slots(draft: Draft) -> tuple[Slot, ...]:
    """Return every slot of a draft."""
    return tuple(
        Slot(index, owner, arm) for owner, arm, row in rows(draft) for index in range(len(row) + 1)
    )


def find_row(draft: Draft, slot: Slot) -> Bricks | None:
    """Return the row of a slot, or None if there is none or it is shorter."""
    row_of_slot = next(
        (row for owner, arm, row in rows(draft) if (owner, arm) == (slot.owner, slot.arm)), None
    )
    return row_of_slot if row_of_slot is not None and slot.at <= len(row_of_slot) else None


def slot_before(draft: Draft, key: int) -> Slot | None:
    """Return the slot before the brick with that key."""
    return next(
        (
            Slot(index, owner, arm)
            for owner, arm, row in rows(draft)
            for index, one in enumerate(row)
            if one.key == key
        ),
        None,
    )


def change_row(draft: Draft, slot: Slot, change: Callable[[Bricks], Bricks]) -> Draft:
    """Return the draft with `change` applied to the row of a slot."""

    def inside(row: Bricks) -> Bricks:
        return tuple(map(changed, row))

    def changed(brick: Brick) -> Brick:
        if not brick.arms:
            return brick
        arms = {
            arm: change(row) if (brick.key, arm) == (slot.owner, slot.arm) else inside(row)
            for arm, row in brick.arms.items()
        }
        return replace(brick, arms=arms)

    return replace(
        draft, bricks=change(draft.bricks) if slot.owner == LINE_OWNER else inside(draft.bricks)
    )
