"""Slots: the positions of a draft at which a brick can be inserted.

Bricks that hold others, such as loops, have rows of their own, which are called arms.
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
    """A position in a row of bricks: before a brick, or at the end.

    Parameters
    ----------
    index : index of the brick after the slot; the length of the row for the slot at its end.
    owner : key of the brick that has the row; `LINE_OWNER` for the draft's own row.
    arm : name of the row in that brick; empty for the draft's own row.
    """

    index: int
    owner: int = LINE_OWNER
    arm: str = ""

    def __str__(self) -> str:
        return (
            f"{self.index}" if self.owner == LINE_OWNER else f"{self.owner}.{self.arm}.{self.index}"
        )


def parse_slot(text: str) -> Slot:
    """Return the slot of a text, as `str` writes slots. Raises BadParameter for any other text.

    >>> from core.drafts.slots import Slot, parse_slot
    >>> parse_slot("2"), parse_slot("5.body.0")
    (Slot(index=2, owner=0, arm=''), Slot(index=0, owner=5, arm='body'))
    """
    owner, _, rest = text.partition(".")
    arm, _, index = rest.rpartition(".")
    if not rest:  # a slot of the draft's own row
        index, owner = owner, str(LINE_OWNER)
    # Numbers of ten digits and more are no keys or indices, and may be too long to convert.
    if not all(number.isdecimal() and len(number) < 10 for number in (index, owner)):
        raise BadParameter("There is no such place in the line.")
    return Slot(int(index), int(owner), arm)


def rows(draft: Draft) -> Iterator[tuple[int, str, Bricks]]:
    """Yield every row of bricks with owner and arm, the draft's own first."""
    yield LINE_OWNER, "", draft.bricks
    for brick in draft.iter_bricks():
        for arm, row in brick.arms.items():
            yield brick.key, arm, row


def slots(draft: Draft) -> tuple[Slot, ...]:
    """Return every slot of a draft, row by row."""
    return tuple(
        Slot(index, owner, arm) for owner, arm, row in rows(draft) for index in range(len(row) + 1)
    )


def find_row(draft: Draft, slot: Slot) -> Bricks | None:
    """Return the row in which a slot is. None if there is no such row, or it is too short."""
    for owner, arm, row in rows(draft):
        if (owner, arm) == (slot.owner, slot.arm) and slot.index <= len(row):
            return row
    return None


def slot_before(draft: Draft, key: int) -> Slot | None:
    """Return the slot before the brick with a key. None if there is no such brick."""
    for owner, arm, row in rows(draft):
        for index, brick in enumerate(row):
            if brick.key == key:
                return Slot(index, owner, arm)
    return None


def change_row(draft: Draft, slot: Slot, change: Callable[[Bricks], Bricks]) -> Draft:
    """Return the draft with `change` applied to the row of a slot."""

    def change_inside(brick: Brick) -> Brick:
        arms = {}
        for arm, row in brick.arms.items():
            is_row_of_slot = (brick.key, arm) == (slot.owner, slot.arm)
            arms[arm] = change(row) if is_row_of_slot else tuple(map(change_inside, row))
        return replace(brick, arms=arms) if arms else brick

    if slot.owner == LINE_OWNER:
        return replace(draft, bricks=change(draft.bricks))
    return replace(draft, bricks=tuple(map(change_inside, draft.bricks)))
