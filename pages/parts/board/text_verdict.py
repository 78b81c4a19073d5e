"""The tag and the tone of what a lane on documents comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.diagnosis.verdict.explanation import Explained
from pages.parts.shared.wording import tr


def tone(one: Explained, funnel: Sequence[dict[str, Any]] | None) -> str:
    """good where nothing was lost, bad where nothing came through, else warn."""
    if one.stage is None:
        return "good"
    known = [
        stage for stage in funnel or () if stage["alive"] is not None and stage["stage"] != "answer"
    ]
    return "bad" if one.stage != "answer" and (not known or not known[-1]["alive"]) else "warn"


def answer_tag(right: int | None, of: int, said: bool) -> dict[str, Any] | None:
    """The tag on what a lane says: so many of the known answers, in a word where there is one alone."""
    if right is None:
        return None
    words = (tr("right"), tr("wrong")) if said else (tr("answer in it"), tr("not in it"))
    return {"right": right, "of": of} | ({"word": words[0 if right else 1]} if of == 1 else {})
