"""Checks of a draft: which operators fit where, and what each brick lacks.

They follow the fields that operators read and write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.drafts.draft import Draft
from core.drafts.edits import BrickInsertion, BrickMove, BrickReplacement, DraftChange, edit_draft
from core.drafts.slots import Slot, find_row, slot_before, slots
from core.lines import Grammar
from core.lines.brick import Brick, Bricks
from core.lines.difference import title_of
from core.operators.base import Operator
from core.operators.branch import Branch
from core.operators.combinator import Combinator


@dataclass(frozen=True)
class _PrecedingBricks:
    """Summary of all bricks before a position: the fields they write and their last stage.

    An incomplete brick counts as writing what any brick in it writes. Only this brick then has a
    fault, and not those after it.
    """

    writes: frozenset[str]
    stage: str

    def and_then(self, brick: Brick, stages: Sequence[str]) -> _PrecedingBricks:
        """Return the summary with one more brick."""
        operator = brick.operator
        writes = (
            operator.writes
            if operator is not None
            else [field for one in brick.each() for field in _fields_written(one)]
        )
        return _PrecedingBricks(
            self.writes.union(writes), max(self.stage or brick.stage, brick.stage, key=stages.index)
        )


def brick_faults(draft: Draft) -> dict[int, str]:
    """Return a sentence by key for each brick that lacks something at its position.

    The result is empty if the line of the draft can be run.
    """
    faults: dict[int, str] = {}
    _add_row_faults(draft.bricks, None, None, faults, draft.grammar)
    return faults


def _add_row_faults(
    row: Bricks,
    preceding: _PrecedingBricks | None,
    inside: Brick | None,
    faults: dict[int, str],
    grammar: Grammar[Any],
) -> None:
    """Add the faults of a row; `preceding` summarises the bricks before it."""
    for brick in row:
        operator = brick.operator
        reason = _holder_refusal(inside, brick)
        for arm in brick.arms.values():
            _add_row_faults(arm, preceding, brick, faults, grammar)
        if reason is None:
            earlier: tuple[Any, ...] = (preceding,) if preceding else ()
            reason = (
                _with_title(grammar.line.unfit(earlier, operator), operator)
                if operator is not None
                else brick.lacks
            )
        # no sentence on a brick if one inside it has a fault
        if reason and not (brick.arms and any(one.key in faults for one in brick.each())):
            faults[brick.key] = reason
        preceding = (preceding or _PrecedingBricks(frozenset(), "")).and_then(brick, grammar.stages)


def _fields_written(brick: Brick) -> tuple[str, ...]:
    return brick.operator.writes if brick.operator is not None else ()


def _holder_refusal(holder: Brick | None, brick: Brick) -> str | None:
    """Return why a brick may not be part of the brick that holds it, or None."""
    if holder is None:
        return None
    cls: Any = holder.cls
    kind: Any = brick.cls
    operator = brick.operator or kind.__new__(kind)  # only its class is read
    one: Any = holder.operator or cls.__new__(cls)
    try:
        admitted = one.admits(operator)
    except (AttributeError, IndexError):  # raised by the stage of an empty branch
        admitted = not issubclass(brick.cls, Combinator) or brick.cls.inside
    return None if admitted else f"“{title_of(brick.cls)}” cannot be part of {cls.kind}."


def _with_title(reason: str | None, operator: Any) -> str | None:
    """Return a reason with the operator's title instead of its class name."""
    return (
        None
        if reason is None
        else reason.replace(type(operator).__name__, f"“{title_of(operator)}”", 1)
    )


def change_fault(
    draft: Draft, change: DraftChange, faults: Mapping[int, str] | None = None
) -> str | None:
    """Return why a changed brick does not fit at its new position, or None if it fits.

    It also does not fit if it takes away something that another brick needs. `faults` are the
    faults of the present draft, if they are known.
    """
    faults = brick_faults(draft) if faults is None else faults
    after = edit_draft(draft, change)
    new_faults = brick_faults(after)
    if isinstance(change, BrickInsertion):
        new_keys = {key for key in range(draft.following, after.following)}
    else:
        new_keys = (
            {one.key for one in (after.find(change.key) or _EMPTY_BRICK).each()}
            if isinstance(change, BrickReplacement | BrickMove)
            else set()
        )
    own_fault = next(
        (
            new_faults[key]
            for key in sorted(new_keys)
            if key in new_faults and not _lacks_only_bricks(after, key)
        ),
        None,
    )
    return own_fault or next(
        (reason for key, reason in new_faults.items() if key not in faults and key not in new_keys),
        None,
    )


_EMPTY_BRICK = Brick(-1, Operator)


def _lacks_only_bricks(draft: Draft, key: int) -> bool:
    """Return whether a brick only lacks the bricks inside it, and otherwise fits."""
    brick = draft.find(key)
    if brick is None or brick.operator is not None or any(brick.arms.values()):
        return False
    slot = slot_before(draft, key)
    row = find_row(draft, slot) if slot is not None else None
    assert slot is not None and row is not None  # the brick exists
    reads = (brick.given["on"],) if brick.cls is Branch else ()
    written_fields = {
        field for one in row[: slot.at] for inner in one.each() for field in _fields_written(inner)
    }
    return set(reads) <= written_fields


def operator_refusals(draft: Draft, target: Slot | int) -> dict[str, str | None]:
    """Return for each operator name why the operator does not fit, or None.

    The place is a slot, or the key of a brick to replace.
    """
    known_faults = brick_faults(draft)
    make_change = (
        (lambda name: BrickInsertion(target, name))
        if isinstance(target, Slot)
        else (lambda name: BrickReplacement(target, name))
    )
    return {
        name: change_fault(draft, make_change(name), known_faults)
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
        for brick in draft.each()
        if change_fault(draft, BrickReplacement(brick.key, name), known_faults) is None
    )


def possible_moves(draft: Draft, key: int) -> tuple[Slot, ...]:
    """Return the slots to which a brick can be moved without making a new fault."""
    known_faults = brick_faults(draft)
    return tuple(
        slot
        for slot in slots(draft)
        if edit_draft(draft, BrickMove(key, slot)) != draft
        and change_fault(draft, BrickMove(key, slot), known_faults) is None
    )


def default_slot(draft: Draft) -> Slot:
    """Return the slot of a new brick if no other is chosen.

    It is before the first brick with a fault, else before the brick of the last stage, else at the
    end.
    """
    faults = brick_faults(draft)
    broken: Iterable[int] = (
        i for i, brick in enumerate(draft.bricks) if any(one.key in faults for one in brick.each())
    )
    last_indices = (i for i, brick in enumerate(draft.bricks) if brick.stage == draft.grammar.last)
    return Slot(next(iter(broken), next(last_indices, len(draft.bricks))))
