"""Answers of each lane before its graph was edited, as data of the board."""

from __future__ import annotations

from typing import Any

from core.diagnosis.without import together
from core.engine import Comparison
from core.errors import shorten
from core.types import Beside

LONGEST = 200  # most characters of the earlier answer


def beside_data(one: Beside | None) -> dict[str, Any] | None:
    """Return the comparison of a lane with its run before the edits.

    None if there is none. It has the `text`, its `tone`, the earlier answer `said` (empty if the
    text has it), and the `count` of known answers before and after.
    """
    if one is None:
        return None
    before, now = one.right
    # Counts that are equal say nothing: of two merged answers, one is left.
    counted = not one.same and before is not None and now is not None and before != now
    rose = (now or 0) > (before or 0)
    tone = ("good" if rose else "bad") if counted else "same" if one.same else "changed"
    said = "" if one.same else shorten(", ".join(one.said), LONGEST)
    return {
        "text": one.text,
        "tone": tone,
        "said": "" if said.rstrip(".") in one.text else said,
        "count": f"{before:,} → {now:,}" if counted else "",
    }


def without_text(comparison: Comparison) -> str | None:
    """Return the sentence on the effect of the edits on all lanes.

    None without edits, or as long as no lane is known to differ or not.
    """
    if not comparison.ask.source.edits:
        return None
    return together(comparison, [lane.beside for lane in comparison.lanes]) or None
