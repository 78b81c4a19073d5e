"""Board data that compares each lane before and after graph edits."""

from __future__ import annotations

from typing import Any

from core.diagnosis.edit_effects import edit_summary
from core.engine import MethodComparison
from core.errors import shorten
from core.types import EditComparison

MAX_EARLIER_ANSWER_CHARACTERS = 200  # most characters of the earlier answer


def edit_comparison_data(difference: EditComparison | None) -> dict[str, Any] | None:
    """Return the comparison of a lane with its run before the edits.

    It has a sentence `text`; its `tone`, which is same, changed, good or bad; the earlier answer
    `said`, empty if the sentence contains it; and the `count` of correct answers before and after,
    empty if both are equal. It is None if the lane has not been compared.
    """
    if difference is None:
        return None
    if difference.is_unchanged:
        return {"text": difference.text, "tone": "same", "said": "", "count": ""}
    tone = "changed"
    count = ""
    right_before, right_now = difference.right
    # Equal counts do not mean that nothing changed: of two merged answers, one is left.
    if right_before is not None and right_now is not None and right_before != right_now:
        tone = "good" if right_now > right_before else "bad"
        count = f"{right_before:,} → {right_now:,}"
    old_answer = shorten(", ".join(difference.said), MAX_EARLIER_ANSWER_CHARACTERS)
    return {
        "text": difference.text,
        "tone": tone,
        "said": "" if old_answer.rstrip(".") in difference.text else old_answer,
        "count": count,
    }


def edit_effect_text(comparison: MethodComparison) -> str | None:
    """Return the sentence on the effect of the edits on all lanes.

    It is None without edits, or as long as no lane has been compared.
    """
    if not comparison.ask.source.edits:
        return None
    return edit_summary(comparison, [lane.beside for lane in comparison.lanes]) or None
