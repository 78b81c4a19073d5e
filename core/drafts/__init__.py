"""Drafts: lines of operators that a person edits on the Build page.

A draft may be incomplete. It has a row of bricks, one for each operator. Checks find the faults of
bricks and the slots in which an operator fits.
"""

from core.drafts.draft import Draft
from core.drafts.draft_faults import brick_faults
from core.drafts.edits import History, edit_draft, parse_change
from core.drafts.slots import Slot, slots
from core.lines.brick import Brick

__all__ = [
    "Brick",
    "Draft",
    "History",
    "Slot",
    "parse_change",
    "edit_draft",
    "brick_faults",
    "slots",
]
