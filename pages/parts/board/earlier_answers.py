"""Answers of each lane before its graph was edited, as data of the board."""

from __future__ import annotations

from typing import Any

from core.diagnosis.edit_effects import edit_summary
from core.engine import MethodComparison
from core.errors import shorten
from core.types import EditComparison

MAX_EARLIER_ANSWER_CHARACTERS = 200  # most characters of the earlier answer


def beside_data(one: EditComparison | None) -> dict[str, Any] | None:
    """Return the comparison of a lane with its run before the edits.

    None if there is none. It has the `text`, its `tone`, the earlier answer `said` (empty if the
    text has it), and the `count` of known answers before and after.
    """
    if one is None:
        return None
    right_before, right_now = one.right
    # Counts that are equal say nothing: of two merged answers, one is left.
    has_counts = (
        not one.same
        and right_before is not None
        and right_now is not None
        and right_before != right_now
    )
    rose = (right_now or 0) > (right_before or 0)
    tone = ("good" if rose else "bad") if has_counts else "same" if one.same else "changed"
    old_answer = "" if one.same else shorten(", ".join(one.said), MAX_EARLIER_ANSWER_CHARACTERS)
    return {
        "text": one.text,
        "tone": tone,
        "said": "" if old_answer.rstrip(".") in one.text else old_answer,
        "count": f"{right_before:,} → {right_now:,}" if has_counts else "",
    }


def edit_effect_text(comparison: MethodComparison) -> str | None:
    """Return the sentence on the effect of the edits on all lanes.

    None without edits, or as long as no lane is known to differ or not.
    """
    if not comparison.ask.source.edits:
        return None
    return edit_summary(comparison, [lane.beside for lane in comparison.lanes]) or None
