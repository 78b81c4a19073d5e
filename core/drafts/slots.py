"""Slots: the places of a draft where a brick can be put, in its row or in a row that a brick holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from core.drafts.draft import Draft
from core.errors import BadParameter
from core.lines.brick import Brick, Bricks

LINE = 0  # the owner of the draft's own row, which no brick is


@dataclass(frozen=True)
class Slot:
    """The place before the brick at `at`, in the draft's own row or in the row `arm` of the brick `owner`."""

    at: int
    owner: int = LINE
    arm: str = ""

    def __str__(self) -> str:
        return f"{self.at}" if self.owner == LINE else f"{self.owner}.{self.arm}.{self.at}"


def slot_of(text: str) -> Slot:
    """The slot that a text names.

    >>> from core.drafts.slots import Slot, slot_of
    >>> slot_of("2"), slot_of("5.body.0")
    (Slot(at=2, owner=0, arm=''), Slot(at=0, owner=5, arm='body'))
    """
    owner, _, rest = text.partition(".")
    arm, _, at = rest.rpartition(".")
    numbers = (at, owner) if rest else (owner, str(LINE))
    if not all(number.isdecimal() and len(number) < 10 for number in numbers):
        raise BadParameter("There is no such place in the line.")
    return Slot(int(numbers[0]), int(numbers[1]), arm)


def rows(draft: Draft) -> Iterator[tuple[int, str, Bricks]]:
    """Every row of bricks with its owner and name: the draft's own, then those inside."""
    yield LINE, "", draft.bricks
    for brick in draft.each():
        for arm, row in brick.arms.items():
            yield brick.key, arm, row


def slots(draft: Draft) -> tuple[Slot, ...]:
    """Every slot of a draft."""
    return tuple(
        Slot(at, owner, arm) for owner, arm, row in rows(draft) for at in range(len(row) + 1)
    )


def row_at(draft: Draft, slot: Slot) -> Bricks | None:
    """The row that a slot is in; None where there is none or it is shorter."""
    found = next(
        (row for owner, arm, row in rows(draft) if (owner, arm) == (slot.owner, slot.arm)), None
    )
    return found if found is not None and slot.at <= len(found) else None


def place_of(draft: Draft, key: int) -> Slot | None:
    """The slot before the brick of that key."""
    return next(
        (
            Slot(at, owner, arm)
            for owner, arm, row in rows(draft)
            for at, one in enumerate(row)
            if one.key == key
        ),
        None,
    )


def with_row(draft: Draft, slot: Slot, change: Callable[[Bricks], Bricks]) -> Draft:
    """The draft with what `change` makes of the row that a slot is in."""

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
        draft, bricks=change(draft.bricks) if slot.owner == LINE else inside(draft.bricks)
    )
