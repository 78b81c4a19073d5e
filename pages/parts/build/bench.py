"""Editor of a line, which is a sequence of operators.

The line is a method, or builds a graph. The editor applies the edits that the browser sends
(assets/bricks), and keeps the history for Undo. A block (brick) is an operator in the line, a slot
a position between blocks. Build, the dialog of a lane on Compare, and Texts use the editor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.drafts import Draft, History, Slot, brick_faults, edit_draft, parse_change
from core.drafts.draft import parse_draft
from core.drafts.draft_faults import default_slot
from core.drafts.edits import (
    BrickCopy,
    BrickInsertion,
    BrickMove,
    BrickRemoval,
    BrickReplacement,
    ValueChange,
)
from core.drafts.slots import find_row, parse_slot, slot_before
from core.errors import BadParameter
from core.lines import OperatorLine
from core.parameters import Parameter, parameters
from pages.parts.shared.edits import LastEdit, new_edits

MAX_LINE_CHARACTERS = 20_000  # most characters of a text that is parsed as a line
# Raises BadParameter if a text, the value of a parameter, names an unknown model.
TextCheck = Callable[[str, Parameter], None]


@dataclass(frozen=True)
class RejectedChange:
    """Error of a change that was not made.

    Attributes
    ----------
    sentence : the error.
    key : key of the block whose parameter was changed; None for other changes, as of the text.
    name : name of that parameter.
    typed : the rejected text or value, as the user typed it.
    """

    sentence: str
    key: int | None = None
    name: str = ""
    typed: str = ""


@dataclass
class Bench:
    """Editor of a line: its draft with history, the selection, and the state of its drawing.

    Attributes
    ----------
    selection : the selected block (by key) or slot.
    rejected_change : the error of the last edit.
    as_text : whether the line is shown as text.
    holds_baseline : whether later changes are compared with the same earlier line, instead of the
        line before the last change.
    address_line : the line of the address that was loaded last.
    sample_request : the browser's request for a run on more questions, until it is handled: `over`
        starts the run, `cancel-over` cancels it.
    last_edit : the last edit of the browser that was applied.
    palette : the palette drawn last. Before it come the values that it was made for: the draft, the
        selected position, and whether documents are searched.
    """

    history: History = field(default_factory=History)
    selection: int | Slot | None = None
    rejected_change: RejectedChange | None = None
    as_text: bool = False
    holds_baseline: bool = False
    address_line: str = ""
    sample_request: str = ""
    last_edit: LastEdit = LastEdit()
    palette: tuple[Draft, tuple[int | Slot, bool], dict[str, Any]] | None = None

    @classmethod
    def of_line(cls, line: OperatorLine[Any]) -> Bench:
        """Return an editor of a line without history, with its first block selected."""
        return cls(History(Draft.from_line(line)), selection=1)

    @property
    def draft(self) -> Draft:
        return self.history.draft

    @property
    def selected_position(self) -> int | Slot:
        """The selected block (its key) or slot.

        If nothing is selected, or the selection does not exist any more, it is the default slot.
        """
        if isinstance(self.selection, Slot) and find_row(self.draft, self.selection) is not None:
            return self.selection
        if isinstance(self.selection, int) and self.draft.find(self.selection) is not None:
            return self.selection
        return default_slot(self.draft)

    @property
    def line(self) -> Any:
        """The line as an `OperatorLine`; None if it is incomplete."""
        return None if brick_faults(self.draft) else self.draft.runnable_line()

    def load(self, line: OperatorLine[Any]) -> None:
        """Replace the present line by another one."""
        self._commit(Draft.from_line(line))
        self.selection = None

    def load_text(self, text: str) -> None:
        """Replace the line by that of a text, which need not be complete.

        Raises BadParameter if the text is no line.
        """
        self._commit(parse_draft(text[:MAX_LINE_CHARACTERS], self.draft.grammar))
        self.selection = None

    def apply_message(self, message: Mapping[str, Any], check: TextCheck) -> bool:
        """Apply the new edits of a message, and return whether there were any.

        `check` checks texts that name models. Its error becomes `rejected_change`.
        """
        edits, self.last_edit = new_edits(message, self.last_edit)
        for edit in edits:
            self._apply(edit, check)
        return bool(edits)

    def _apply(self, message: Mapping[str, Any], check: TextCheck) -> None:
        """Apply one edit, or store its error as `rejected_change`.

        The key `do` of the edit names the action. All actions but those below are changes of the
        draft, which `parse_change` reads.
        """
        action = message.get("do")
        self.rejected_change = None
        try:
            if action == "choose":
                self._select(message)
            elif action in ("undo", "redo"):
                old_draft = self.draft
                self.history = self.history.undo() if action == "undo" else self.history.redo()
                self._select_changed(old_draft)
            elif action == "as-text":
                self.as_text = bool(message.get("on"))
            elif action == "hold":
                self.holds_baseline = bool(message.get("on"))
            elif action in ("over", "cancel-over"):
                self.sample_request = action
            elif action == "text":
                self.load_text(str(message.get("text", "")))
            else:
                self._change(message, check)
        except BadParameter as error:
            key, name = message.get("key"), str(message.get("name", ""))
            text = str(message.get("text", message.get("value", "")))[:MAX_LINE_CHARACTERS]
            self.rejected_change = RejectedChange(
                str(error), key if action == "set" and type(key) is int else None, name, text
            )

    def _select_changed(self, old_draft: Draft) -> None:
        """Select the block or position that Undo or Redo changed.

        Of several blocks, such as a branch with its rows, it is the one that was made first.
        """
        new_keys = {brick.key for brick in self.draft.iter_bricks()}
        old_keys = {brick.key for brick in old_draft.iter_bricks()}
        if new_keys - old_keys:
            self.selection = min(new_keys - old_keys)
        elif old_keys - new_keys:
            self.selection = slot_before(old_draft, min(old_keys - new_keys))

    def _select(self, message: Mapping[str, Any]) -> None:
        key, slot = message.get("key"), message.get("slot")
        if type(key) is int:
            self.selection = key
        else:
            self.selection = parse_slot(slot) if isinstance(slot, str) else None

    def _change(self, message: Mapping[str, Any], check: TextCheck) -> None:
        change, draft = parse_change(message), self.draft
        if isinstance(change, ValueChange):
            _check_value(draft, change, check)
        changed_draft = edit_draft(draft, change)
        if isinstance(change, BrickInsertion | BrickCopy):
            # The new block is selected, or the next slot if the user goes on adding blocks.
            self.selection = draft.next_key  # the key that the new block has got
            if message.get("onward") is True and isinstance(change, BrickInsertion):
                self.selection = _next_slot(changed_draft, change, self.selection) or self.selection
        elif isinstance(change, BrickRemoval):
            self.selection = slot_before(draft, change.key) or self.selection
        elif isinstance(change, BrickMove | BrickReplacement):
            self.selection = change.key
        self._commit(changed_draft)

    def _commit(self, draft: Draft) -> None:
        self.history, self.rejected_change = self.history.add(draft), None


def _next_slot(draft: Draft, insertion: BrickInsertion, key: int) -> Slot | None:
    """Return the slot after the new block with a key, or in it if it holds others.

    None after the last stage (the answer), which nothing can follow.
    """
    block = draft.find(key)
    if block is None or block.stage == draft.grammar.last_stage:
        return None
    if block.arms:
        arm, row = next(iter(block.arms.items()))
        return Slot(len(row), key, arm)
    return replace(insertion.slot, index=insertion.slot.index + 1)


def _check_value(draft: Draft, change: ValueChange, check: TextCheck) -> None:
    """Raise BadParameter if a new value names an unknown model."""
    brick = draft.find(change.key)
    for parameter in parameters(brick.cls) if brick is not None else ():
        if parameter.name == change.name and parameter.model and isinstance(change.value, str):
            check(change.value, parameter)
