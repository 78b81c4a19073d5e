"""The sentences on the outcome of a comparison, for each lane and for all.

This is the entry to the modules of this folder, for graphs of triples and for corpora.
"""

from __future__ import annotations

from dataclasses import replace

from core.comparison.lane import ENDED_STATUSES, MethodComparison
from core.diagnosis.verdict.explainers import explainer_of
from core.diagnosis.verdict.explanation import ComparisonVerdict
from core.diagnosis.verdict.lane_words import lane_names
from core.diagnosis.wording import join_words


def explain_comparison(comparison: MethodComparison) -> ComparisonVerdict:
    """Return the sentences on a comparison, as far as it has run.

    A comparison may continue an earlier one with new lanes. While these run, the sentence for all
    lanes is about the lanes that were taken over.
    """
    explainer = explainer_of(comparison.ask.source)
    verdict = explainer.verdict(comparison)
    earlier_lanes = [lane for lane in comparison.lanes if lane.is_taken_over]
    if verdict.text or not earlier_lanes:
        return verdict
    old_verdict = explainer.verdict(replace(comparison, lanes=earlier_lanes))
    running_names = [
        name
        for name, lane in zip(lane_names(comparison), comparison.lanes)
        if not lane.is_taken_over and lane.status not in ENDED_STATUSES
    ]
    pending = ""
    if running_names and old_verdict.text:
        have = "has" if len(running_names) == 1 else "have"
        pending = f"It is counted again once {join_words(running_names)} {have} run."
    return replace(
        verdict,
        text=old_verdict.text,
        named_answers=old_verdict.named_answers,
        pending_text=pending,
    )
