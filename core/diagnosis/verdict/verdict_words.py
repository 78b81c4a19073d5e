"""The sentences of a comparison: one for each lane and one for all, made from the trace."""

from __future__ import annotations

from dataclasses import replace

from core.comparison.lane import ENDED, Comparison
from core.diagnosis.verdict.explainers import explainer_of
from core.diagnosis.verdict.explanation import ComparisonVerdict
from core.diagnosis.verdict.lane_words import lane_names
from core.diagnosis.wording import joined


def explain(comparison: Comparison) -> ComparisonVerdict:
    """Return the sentences on the lanes of a comparison, as far as it has run.

    While new lanes run, the sentence for all is that of the earlier ones.
    """
    explainer = explainer_of(comparison.ask.source)
    now, taken = explainer.verdict(comparison), [lane for lane in comparison.lanes if lane.taken]
    if now.text or not taken:
        return now
    before = explainer.verdict(replace(comparison, lanes=taken))
    new = [
        name
        for name, lane in zip(lane_names(comparison), comparison.lanes)
        if not lane.taken and lane.status not in ENDED
    ]
    pending = ""
    if new and before.text:
        pending = (
            f"It is counted again once {joined(new)} {'has' if len(new) == 1 else 'have'} run."
        )
    return replace(now, text=before.text, named=before.named, pending=pending)
