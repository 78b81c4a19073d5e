"""Edits of a draft: each is a value, and `edit_draft` returns the draft after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from core.drafts.draft import Draft, new_brick
from core.drafts.slots import Slot, change_row, find_row, parse_slot, slot_before
from core.errors import BadParameter
from core.lines.brick import Brick, renumber_brick
from core.operators.branch import OTHERWISE_ARM, Branch
from core.parameters import check_names, make_operator

MAX_BRICKS = 60  # bricks of a draft, including those inside others
MAX_UNDO_STEPS = 100  # changes that can be undone


@dataclass(frozen=True)
class BrickInsertion:
    """A new operator in a slot."""

    slot: Slot
    name: str


@dataclass(frozen=True)
class BrickReplacement:
    """Another operator in place of a brick; a branch takes the brick into each of its arms."""

    key: int
    name: str


@dataclass(frozen=True)
class BrickMove:
    """A move of a brick to another slot of the draft before the move."""

    key: int
    slot: Slot


@dataclass(frozen=True)
class BrickRemoval:
    """The removal of a brick and all bricks inside it."""

    key: int


@dataclass(frozen=True)
class BrickCopy:
    """A copy of a brick after the brick."""

    key: int


@dataclass(frozen=True)
class ValueChange:
    """A new value for a parameter of a brick."""

    key: int
    name: str
    value: Any


@dataclass(frozen=True)
class ArmAddition:
    """A further arm of a branch, for the next number of hops."""

    key: int


@dataclass(frozen=True)
class ArmRemoval:
    """The removal of an arm of a branch, with all bricks in it.

    The last arm for a number is not removed.
    """

    key: int
    arm: str


DraftChange = (
    BrickInsertion
    | BrickReplacement
    | BrickMove
    | BrickRemoval
    | BrickCopy
    | ValueChange
    | ArmAddition
    | ArmRemoval
)
# Names in messages of the changes that need no more than the key of a brick, or that and a name.
CHANGES_BY_KEY: dict[str, Callable[[int], DraftChange]] = {
    "remove": BrickRemoval,
    "duplicate": BrickCopy,
    "add-arm": ArmAddition,
}
CHANGES_BY_NAME: dict[str, Callable[[int, str], DraftChange]] = {
    "replace": BrickReplacement,
    "remove-arm": ArmRemoval,
}


def edit_draft(draft: Draft, change: DraftChange) -> Draft:
    """Return the draft after a change.

    If the brick or slot does not exist, the same draft is returned. Raises BadParameter for an
    unknown operator or parameter, for a bad value, and for too many bricks.
    """
    if isinstance(change, BrickInsertion):
        keys = count(draft.following)
        return _with_next_key(
            _insert_brick(
                draft, change.slot, new_brick(draft.grammar.any_class(change.name), keys)
            ),
            keys,
        )
    slot, brick = slot_before(draft, change.key), draft.find(change.key)
    if slot is None or brick is None:
        return draft
    if isinstance(change, BrickRemoval):
        return change_row(
            draft, slot, lambda row: tuple(one for one in row if one.key != change.key)
        )
    if isinstance(change, BrickCopy):
        keys = count(draft.following)
        return _with_next_key(
            _insert_brick(draft, replace(slot, at=slot.at + 1), renumber_brick(brick, keys)), keys
        )
    if isinstance(change, BrickMove):
        return _move_brick(draft, brick, slot, change.slot)
    if isinstance(change, BrickReplacement):
        keys = count(draft.following)
        return _with_next_key(
            _replace_brick(
                draft,
                slot,
                brick,
                _new_operator_brick(brick, draft.grammar.any_class(change.name), keys),
            ),
            keys,
        )
    return _replace_brick(
        draft,
        slot,
        brick,
        _with_arm(brick, change)
        if isinstance(change, ArmAddition | ArmRemoval)
        else _with_value(brick, change),
    )


def _insert_brick(draft: Draft, slot: Slot, brick: Brick) -> Draft:
    if find_row(draft, slot) is None:
        return draft
    return change_row(draft, slot, lambda row: (*row[: slot.at], brick, *row[slot.at :]))


def _with_next_key(draft: Draft, keys: Iterator[int]) -> Draft:
    """Return the draft with the key that comes next.

    Raises BadParameter if the draft has become too large.
    """
    if sum(1 for _ in draft.each()) > MAX_BRICKS:
        raise BadParameter(f"A method has at most {MAX_BRICKS} steps.")
    return replace(draft, following=next(keys))


def _replace_brick(draft: Draft, slot: Slot, brick: Brick, other: Brick) -> Draft:
    return change_row(
        draft, slot, lambda row: tuple(other if one.key == brick.key else one for one in row)
    )


def _move_brick(draft: Draft, brick: Brick, slot: Slot, to: Slot) -> Draft:
    same_row = (slot.owner, slot.arm) == (to.owner, to.arm)
    into_itself = to.owner in {one.key for one in brick.each()}
    if into_itself or find_row(draft, to) is None or (same_row and to.at in (slot.at, slot.at + 1)):
        return draft
    without = change_row(draft, slot, lambda row: tuple(one for one in row if one.key != brick.key))
    return _insert_brick(
        without, replace(to, at=to.at - 1) if same_row and to.at > slot.at else to, brick
    )


def _new_operator_brick(brick: Brick, cls: type[Any], keys: Iterator[int]) -> Brick:
    if cls is brick.cls:
        return brick
    new = new_brick(cls, keys)
    if cls is Branch and not brick.arms:
        new = replace(new, arms={name: (renumber_brick(brick, keys),) for name in new.arms})
    return replace(new, key=brick.key)


def _with_value(brick: Brick, change: ValueChange) -> Brick:
    check_names(brick.cls, {change.name: change.value}, brick.cls.__name__)
    settings = {**brick.given, change.name: change.value}
    if brick.arms:
        changed = replace(brick, given=settings)
        if changed.operator is None and brick.operator is not None:
            raise BadParameter(changed.lacks)
        return changed
    make_operator(brick.cls, settings)
    return replace(brick, given=settings)


def _with_arm(brick: Brick, change: ArmAddition | ArmRemoval) -> Brick:
    if brick.cls is not Branch:
        return brick
    arms = {name: row for name, row in brick.arms.items() if name != OTHERWISE_ARM}
    if isinstance(change, ArmAddition):
        arms[str(max(map(int, arms), default=0) + 1)] = ()
    elif len(arms) > 1:
        arms.pop(change.arm, None)
    return replace(brick, arms={**arms, OTHERWISE_ARM: brick.arms[OTHERWISE_ARM]})


def parse_change(message: Mapping[str, Any]) -> DraftChange:
    """Return the change that a message from a browser asks for.

    Raises BadParameter if it asks for none.
    """
    slot_text = message.get("slot")
    slot = parse_slot(slot_text) if isinstance(slot_text, str) else None
    key, name = message.get("key"), message.get("name")
    if message.get("do") == "insert":
        if slot is not None and isinstance(name, str):
            return BrickInsertion(slot, name)
    elif type(key) is int:
        change = _change_of_brick(key, message, slot)
        if change is not None:
            return change
    raise BadParameter("This is no change of a line.")


def _change_of_brick(key: int, message: Mapping[str, Any], slot: Slot | None) -> DraftChange | None:
    """Return the change of an existing brick that a message asks for, or None."""
    action, name = message.get("do"), message.get("name")
    if not isinstance(action, str):
        return None
    if action == "move" and slot is not None:
        return BrickMove(key, slot)
    if action in CHANGES_BY_KEY:
        return CHANGES_BY_KEY[action](key)
    if not isinstance(name, str):
        return None
    if action == "set":
        return ValueChange(key, name, message.get("value"))
    if action in CHANGES_BY_NAME:
        return CHANGES_BY_NAME[action](key, name)
    return None


@dataclass(frozen=True)
class History:
    """A draft with the drafts before and after it, for undo and redo."""

    now: Draft = Draft()
    before: tuple[Draft, ...] = ()
    after: tuple[Draft, ...] = ()

    def then(self, draft: Draft) -> History:
        """Return the history with a new draft, or itself if nothing changed."""
        return (
            self
            if draft == self.now
            else History(draft, (*self.before, self.now)[-MAX_UNDO_STEPS:])
        )

    def undo(self) -> History:
        """Return the history one change back, or itself at its beginning."""
        if self.before:
            return History(self.before[-1], self.before[:-1], (self.now, *self.after))
        return self

    def redo(self) -> History:
        """Return the history one change forward, or itself at its end."""
        return (
            History(self.after[0], (*self.before, self.now), self.after[1:]) if self.after else self
        )
