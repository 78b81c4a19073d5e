"""The sentences of a comparison on documents: one for each lane and one for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.comparison.comparing import ENDED
from core.diagnosis.funnel_texts import Fate
from core.engine import Comparison, Lane
from pages.parts.board.text_fates import gold_fate

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def lane_words(lane: Lane, fates: Sequence[Fate], right: bool | None) -> dict[str, str] | None:
    """What a lane made of the gold passages: `stage` where one was lost, `head`, `text`; None where none is known or nothing was read."""
    if not lane.retrieved or not fates or not any(getattr(lane.state, name) is not None for name in ("chunks", "nodes")):
        return None
    lost = [fate for fate in fates if not fate.shown] if lane.state.prompt is not None else [f for f in fates if not f.reached or f.cut_by]
    where = "in the prompt" if lane.state.prompt is not None else "found"
    if not lost:
        subject = "The gold passage is" if len(fates) == 1 else f"{'Both' if len(fates) == 2 else f'All {len(fates)}'} gold passages are"
        said = "the model's answer" if lane.state.answer is not None else "the nearest sentence"
        more = "" if right is not False else f"Yet {said} does not hold the known answer."
        return {"stage": "" if right is not False else "answer", "head": f"{subject} {where}.", "text": more, "tone": "good"}
    others = f" {len(lost) - 1} more did not come through." if len(lost) > 1 else ""
    tone = "bad" if len(lost) == len(fates) else "warn"
    return {"stage": "retrieved", "head": f"“{lost[0].document}”:", "text": f"{gold_fate(lost[0], lane)}.{others}", "tone": tone}


def all_words(comparison: Comparison, rights: Sequence[bool | None], fates: Sequence[Sequence[Fate]]) -> str:
    """The sentence for all lanes: who gives the known answer, and how many gold passages came into the prompts. Empty as long as lanes
    are at work, or where neither is known."""
    lanes = comparison.lanes
    if not all(lane.status in ENDED for lane in lanes):
        return ""
    spoke = [right for right in rights if right is not None]
    parts = [_come(sum(spoke), len(spoke))] if spoke else []
    return " ".join([*parts, *_shown(comparison, fates)])


def _shown(comparison: Comparison, fates: Sequence[Sequence[Fate]]) -> list[str]:
    """How many gold passages the prompt of each lane shows that reads passages; one number where it is the same in all."""
    counted = [
        (name, sum(fate.shown for fate in told), len(told))
        for name, lane, told in zip(_names(comparison), comparison.lanes, fates)
        if told and lane.retrieved and lane.state.chunks is not None and lane.state.prompt is not None
    ]
    if len(counted) > 1 and len({shown for _, shown, _ in counted}) == 1:
        _, shown, of = counted[0]
        part = ("both" if of == 2 else "all") if shown == of > 1 else f"{shown} of {of}"
        return [f"Every prompt shows {part} gold passages." if of > 1 else f"{'Every' if shown else 'No'} prompt shows the gold passage."]
    return [f"Gold passages in the prompt: {'; '.join(f'{name} {shown} of {of}' for name, shown, of in counted)}."] if counted else []


def _names(comparison: Comparison) -> list[str]:
    """The short names of the lanes; lane 2 where two are alike."""
    names = [lane.instance.name for lane in comparison.lanes]
    return [f"lane {i}" if names.count(name) > 1 else name for i, name in enumerate(names, 1)]


def _come(right: int, of: int) -> str:
    """How many lanes come to the known answer, of those that say something."""
    number = lambda count: NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"
    if of == 1:
        return "The known answer was found." if right else "The known answer was not found."
    if right in (0, of):
        return f"{'No lane comes' if not right else 'Both lanes come' if of == 2 else f'All {number(of)} lanes come'} to the known answer."
    return f"{number(right).capitalize()} of {number(of)} lanes {'comes' if right == 1 else 'come'} to the known answer."


def verdict(right: int | None, of: int, said: bool) -> dict[str, Any] | None:
    """The tag on what a lane says: so many of the known answers, in a word where there is one alone."""
    if right is None:
        return None
    words = ("right", "wrong") if said else ("answer in it", "not in it")
    return {"right": right, "of": of} | ({"word": words[0 if right else 1]} if of == 1 else {})
