"""Changes of a draft, and a history for undo.

The Build page sends changes as messages, which `parse_change` reads.
"""

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
    """Insertion of a new operator, by the name of its class, into a slot."""

    slot: Slot
    name: str


@dataclass(frozen=True)
class BrickReplacement:
    """Replacement of the brick with a key by an operator of another class.

    A branch gets a copy of the replaced brick in each arm.
    """

    key: int
    name: str


@dataclass(frozen=True)
class BrickMove:
    """Move of a brick to another slot. The slot's index counts the bricks before the move."""

    key: int
    slot: Slot


@dataclass(frozen=True)
class BrickRemoval:
    """Removal of a brick and all bricks inside it."""

    key: int


@dataclass(frozen=True)
class BrickCopy:
    """Copy of a brick, inserted directly after the brick."""

    key: int


@dataclass(frozen=True)
class ValueChange:
    """New value for the parameter `name` of a brick."""

    key: int
    name: str
    value: Any


@dataclass(frozen=True)
class ArmAddition:
    """Addition of an arm to a branch, for the next number of hops."""

    key: int


@dataclass(frozen=True)
class ArmRemoval:
    """Removal of an arm of a branch, with all bricks in it.

    The last arm for a number of hops, and the arm for all other numbers, cannot be removed.
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
# Changes by their names in a browser's messages: those that need only the key of a brick, and those
# that need a name too.
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
    keys = count(draft.next_key)
    if isinstance(change, BrickInsertion):
        new = new_brick(draft.grammar.find_class(change.name), keys)
        return _with_next_key(_insert_brick(draft, change.slot, new), keys)
    slot, brick = slot_before(draft, change.key), draft.find(change.key)
    if slot is None or brick is None:
        return draft
    if isinstance(change, BrickRemoval):
        return _remove_brick(draft, slot, brick)
    if isinstance(change, BrickCopy):
        slot_after = replace(slot, index=slot.index + 1)
        return _with_next_key(_insert_brick(draft, slot_after, renumber_brick(brick, keys)), keys)
    if isinstance(change, BrickMove):
        return _move_brick(draft, brick, slot, change.slot)
    if isinstance(change, BrickReplacement):
        new = _new_operator_brick(brick, draft.grammar.find_class(change.name), keys)
        return _with_next_key(_replace_brick(draft, slot, new), keys)
    if isinstance(change, ArmAddition | ArmRemoval):
        return _replace_brick(draft, slot, _with_arm(brick, change))
    return _replace_brick(draft, slot, _with_value(brick, change))


def _insert_brick(draft: Draft, slot: Slot, brick: Brick) -> Draft:
    """Return the draft with a brick in a slot.

    A draft without such a slot is returned unchanged."""
    if find_row(draft, slot) is None:
        return draft
    return change_row(draft, slot, lambda row: (*row[: slot.index], brick, *row[slot.index :]))


def _remove_brick(draft: Draft, slot: Slot, brick: Brick) -> Draft:
    return change_row(draft, slot, lambda row: tuple(old for old in row if old.key != brick.key))


def _with_next_key(draft: Draft, keys: Iterator[int]) -> Draft:
    """Return the draft with the next of `keys` as its next key.

    Raises BadParameter if the draft has more than `MAX_BRICKS` bricks.
    """
    if sum(1 for _ in draft.iter_bricks()) > MAX_BRICKS:
        raise BadParameter(f"A method has at most {MAX_BRICKS} steps.")
    return replace(draft, next_key=next(keys))


def _replace_brick(draft: Draft, slot: Slot, new: Brick) -> Draft:
    """Return the draft with a brick in place of another.

    The other has the same key. `slot` is in the row of that brick.
    """
    return change_row(
        draft, slot, lambda row: tuple(new if old.key == new.key else old for old in row)
    )


def _move_brick(draft: Draft, brick: Brick, slot: Slot, target: Slot) -> Draft:
    """Return the draft with a brick at `target`. `slot` is the one before the brick."""
    is_same_row = (slot.owner, slot.arm) == (target.owner, target.arm)
    is_same_place = is_same_row and target.index in (slot.index, slot.index + 1)
    is_inside_itself = target.owner in {inner.key for inner in brick.iter_bricks()}
    if is_same_place or is_inside_itself or find_row(draft, target) is None:
        return draft
    if is_same_row and target.index > slot.index:  # the removal shifts the bricks behind it
        target = replace(target, index=target.index - 1)
    return _insert_brick(_remove_brick(draft, slot, brick), target, brick)


def _new_operator_brick(brick: Brick, cls: type[Any], keys: Iterator[int]) -> Brick:
    """Return a brick of another operator class with the key of `brick`."""
    if cls is brick.cls:
        return brick
    new = new_brick(cls, keys)
    if cls is Branch and not brick.arms:
        new = replace(new, arms={name: (renumber_brick(brick, keys),) for name in new.arms})
    return replace(new, key=brick.key)


def _with_value(brick: Brick, change: ValueChange) -> Brick:
    """Return a brick with a changed parameter. Raises BadParameter for a bad name or value."""
    check_names(brick.cls, {change.name: change.value}, brick.cls.__name__)
    settings = {**brick.given, change.name: change.value}
    changed = replace(brick, given=settings)
    if not brick.arms:
        make_operator(brick.cls, settings)  # raises for a bad value
    elif changed.operator is None and brick.operator is not None:
        raise BadParameter(changed.fault)
    return changed


def _with_arm(brick: Brick, change: ArmAddition | ArmRemoval) -> Brick:
    """Return a branch with an arm more or less, and any other brick unchanged.

    Arms are named by numbers of hops, and the last one `OTHERWISE_ARM`.
    """
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

    The message has the kind of change in `do`, and `key`, `name`, `slot` and `value` as the kind
    needs them. Raises BadParameter for any other message.
    """
    slot_text = message.get("slot")
    slot = parse_slot(slot_text) if isinstance(slot_text, str) else None
    key, name = message.get("key"), message.get("name")
    change: DraftChange | None = None
    if message.get("do") == "insert":
        if slot is not None and isinstance(name, str):
            change = BrickInsertion(slot, name)
    elif type(key) is int:
        change = _brick_change(key, message, slot)
    if change is None:
        raise BadParameter("This is no change of a line.")
    return change


def _brick_change(key: int, message: Mapping[str, Any], slot: Slot | None) -> DraftChange | None:
    """Return the change of an existing brick that a message asks for. None if it asks for none."""
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

    draft: Draft = Draft()
    earlier: tuple[Draft, ...] = ()
    later: tuple[Draft, ...] = ()

    def add(self, draft: Draft) -> History:
        """Return the history with a new draft.

        The same draft changes nothing. Otherwise the drafts after the current one are dropped.
        """
        if draft == self.draft:
            return self
        return History(draft, (*self.earlier, self.draft)[-MAX_UNDO_STEPS:])

    def undo(self) -> History:
        """Return the history one change back, or the same history at its beginning."""
        if self.earlier:
            return History(self.earlier[-1], self.earlier[:-1], (self.draft, *self.later))
        return self

    def redo(self) -> History:
        """Return the history one change forward, or the same history at its end."""
        if self.later:
            return History(self.later[0], (*self.earlier, self.draft), self.later[1:])
        return self
