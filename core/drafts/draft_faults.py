"""Checks of a draft, by the fields that its operators read and write.

They find the faults of bricks, and the slots in which an operator fits. The Build page shows both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from core.drafts.draft import Draft
from core.drafts.edits import BrickInsertion, BrickMove, BrickReplacement, DraftChange, edit_draft
from core.drafts.slots import Slot, find_row, slot_before, slots
from core.lines import Grammar
from core.lines.brick import Brick, Bricks
from core.lines.difference import title_of
from core.operators.branch import Branch
from core.operators.combinator import Combinator


@dataclass(frozen=True)
class _PrecedingBricks:
    """Summary of all bricks before a position: the fields they write and their last stage.

    The checks of a line accept it in place of an operator. An incomplete brick counts as writing
    the fields of all bricks in it, so that it alone has a fault, and not the bricks after it too.
    """

    writes: frozenset[str]
    stage: str

    def with_brick(self, brick: Brick, stages: Sequence[str]) -> _PrecedingBricks:
        """Return the summary with one more brick."""
        bricks = [brick] if brick.operator is not None else brick.iter_bricks()
        writes = self.writes.union(*map(_fields_written, bricks))
        last_stage = max(self.stage or brick.stage, brick.stage, key=stages.index)
        return _PrecedingBricks(writes, last_stage)


def brick_faults(draft: Draft) -> dict[int, str]:
    """Return a sentence for each incomplete or misplaced brick, by key.

    The result is empty if the line of the draft can be run.
    """
    faults: dict[int, str] = {}
    _add_row_faults(draft.bricks, None, None, faults, draft.grammar)
    return faults


def _add_row_faults(
    row: Bricks,
    preceding: _PrecedingBricks | None,
    holder: Brick | None,
    faults: dict[int, str],
    grammar: Grammar[Any],
) -> None:
    """Add the faults of a row to `faults`.

    `preceding` summarises the bricks before the row, and is None if there are none. `holder` is the
    brick that has the row, and is None for the draft's own row.
    """
    for brick in row:
        operator = brick.operator
        reason = _holder_refusal(holder, brick)
        for arm in brick.arms.values():
            _add_row_faults(arm, preceding, brick, faults, grammar)
        if reason is None and operator is None:
            reason = brick.fault
        elif reason is None:
            earlier: tuple[Any, ...] = (preceding,) if preceding else ()
            reason = _with_title(grammar.line_class.misfit_reason(earlier, operator), operator)
        # A brick with a faulty brick inside it has no sentence of its own.
        inner_keys = {inner.key for inner in brick.iter_bricks()} if brick.arms else set()
        if reason and inner_keys.isdisjoint(faults):
            faults[brick.key] = reason
        preceding = preceding or _PrecedingBricks(frozenset(), "")
        preceding = preceding.with_brick(brick, grammar.stages)


def _fields_written(brick: Brick) -> tuple[str, ...]:
    return brick.operator.writes if brick.operator is not None else ()


def _holder_refusal(holder: Brick | None, brick: Brick) -> str | None:
    """Return why a brick may not be part of the brick that holds it. None if it may."""
    if holder is None:
        return None
    holder_class: Any = holder.cls
    operator_class: Any = brick.cls
    operator = brick.operator or operator_class.__new__(operator_class)  # only its class is read
    holder_operator: Any = holder.operator or holder_class.__new__(holder_class)
    try:
        is_admitted = holder_operator.admits(operator)
    except (AttributeError, IndexError):
        # An empty branch has no stage to check, so only its class decides.
        is_admitted = not issubclass(operator_class, Combinator) or operator_class.is_nestable
    if is_admitted:
        return None
    return f"“{title_of(operator_class)}” cannot be part of {holder_class.kind}."


def _with_title(reason: str | None, operator: Any) -> str | None:
    """Return a reason with the operator's title instead of its class name."""
    if reason is None:
        return None
    return reason.replace(type(operator).__name__, f"“{title_of(operator)}”", 1)


def change_fault(
    draft: Draft, change: DraftChange, faults: Mapping[int, str] | None = None
) -> str | None:
    """Return why a changed brick does not fit at its new position. None if it fits.

    A change that takes from another brick what that brick needs does not fit either. `faults` are
    those of the draft before the change; None computes them.
    """
    faults = brick_faults(draft) if faults is None else faults
    after = edit_draft(draft, change)
    new_faults = brick_faults(after)
    changed_keys: set[int] = set()
    if isinstance(change, BrickInsertion):
        changed_keys.update(range(draft.next_key, after.next_key))
    elif isinstance(change, BrickReplacement | BrickMove):
        brick = after.find(change.key)
        changed_keys.update(inner.key for inner in (brick.iter_bricks() if brick else ()))
    for key in sorted(changed_keys & new_faults.keys()):
        if not _lacks_only_bricks(after, key):
            return new_faults[key]
    for key, reason in new_faults.items():
        if key not in faults and key not in changed_keys:
            return reason
    return None


def _lacks_only_bricks(draft: Draft, key: int) -> bool:
    """Return whether a brick would fit if there were bricks inside it."""
    brick = draft.find(key)
    if brick is None or brick.operator is not None or any(brick.arms.values()):
        return False
    slot = slot_before(draft, key)
    row = find_row(draft, slot) if slot is not None else None
    assert slot is not None and row is not None  # the brick exists
    if brick.cls is not Branch:
        return True
    # A branch also needs the field by which it chooses an arm.
    earlier_bricks = chain.from_iterable(step.iter_bricks() for step in row[: slot.index])
    return any(brick.given["on"] in _fields_written(earlier) for earlier in earlier_bricks)


def operator_refusals(draft: Draft, target: Slot | int) -> dict[str, str | None]:
    """Return for each operator name why the operator does not fit. None if it fits.

    `target` is a slot, or the key of a brick to replace.
    """
    known_faults = brick_faults(draft)
    make_change: Any = BrickInsertion if isinstance(target, Slot) else BrickReplacement
    return {
        name: change_fault(draft, make_change(target, name), known_faults)
        for name in draft.grammar.operators
    }


def fitting_slots(draft: Draft, name: str) -> tuple[Slot, ...]:
    """Return the slots in which an operator fits."""
    known_faults = brick_faults(draft)
    return tuple(
        slot
        for slot in slots(draft)
        if change_fault(draft, BrickInsertion(slot, name), known_faults) is None
    )


def replaceable_bricks(draft: Draft, name: str) -> tuple[int, ...]:
    """Return the keys of the bricks that an operator can replace."""
    known_faults = brick_faults(draft)
    return tuple(
        brick.key
        for brick in draft.iter_bricks()
        if change_fault(draft, BrickReplacement(brick.key, name), known_faults) is None
    )


def possible_moves(draft: Draft, key: int) -> tuple[Slot, ...]:
    """Return the slots to which a brick can be moved. A move there makes no new fault."""
    known_faults = brick_faults(draft)
    return tuple(
        slot
        for slot in slots(draft)
        if edit_draft(draft, BrickMove(key, slot)) != draft
        and change_fault(draft, BrickMove(key, slot), known_faults) is None
    )


def default_slot(draft: Draft) -> Slot:
    """Return the slot of a new brick if the person chooses none.

    It is in the draft's own row: before the first brick with a fault, else before the brick of the
    last stage, else at the end.
    """
    faults = brick_faults(draft)
    for index, brick in enumerate(draft.bricks):
        if any(inner.key in faults for inner in brick.iter_bricks()):
            return Slot(index)
    for index, brick in enumerate(draft.bricks):
        if brick.stage == draft.grammar.last_stage:
            return Slot(index)
    return Slot(len(draft.bricks))
