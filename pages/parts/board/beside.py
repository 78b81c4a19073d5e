"""What each lane said before its graph was edited, as the board draws it, and the sentence for all
lanes."""

from __future__ import annotations

from typing import Any

from core.diagnosis.without import together
from core.engine import Comparison
from core.errors import shorten
from core.types import Beside

LONGEST = 200  # characters of what was said before


def beside_data(one: Beside | None) -> dict[str, Any] | None:
    """A lane beside what it was: the `text`, its `tone`, what it `said` where that is not in it,
    and the `count` of known answers."""
    if one is None:
        return None
    before, now = one.right
    # of two merged answers one is left to count
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
    """The sentence for all lanes; None where nothing was edited, or no lane is known to differ or
    not."""
    if not comparison.ask.source.edits:
        return None
    return together(comparison, [lane.beside for lane in comparison.lanes]) or None
