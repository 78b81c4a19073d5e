"""The outcome of a comparison on triples in sentences.

There is a sentence for each lane and one for all. The sentence of a lane tells how it found the
known answers or lost them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.comparison.endings import missing_answer_reason
from core.comparison.lane import ENDED_STATUSES, MethodComparison, MethodLane
from core.diagnosis.funnel import count_right_answers
from core.diagnosis.measure import (
    BY_READER,
    counts_by_model,
    has_two_measures,
    lane_counts_by_model,
    measure_words,
)
from core.diagnosis.verdict.contrast import LaneSummary, compare_lanes
from core.diagnosis.verdict.explanation import ComparisonVerdict, LaneExplanation, explain_lanes
from core.diagnosis.verdict.lane_words import lane_answers, lane_names
from core.diagnosis.wording import capitalised, join_words


def verdict_paths(comparison: MethodComparison) -> ComparisonVerdict:
    """Return the sentences of the lanes and the sentence for all.

    The sentence for all is empty until every lane has retrieved or ended.
    """
    graph, answers = comparison.graph, comparison.ask.question.answers
    lanes = comparison.lanes
    by_model = [lane_counts_by_model(comparison, lane) for lane in lanes]
    lane_explanations = explain_lanes(
        graph, [lane.states if lane.retrieved else () for lane in lanes], answers, by_model
    )
    explanations = tuple(
        explanation and _with_reader_count(comparison, lane, explanation)
        for lane, explanation in zip(lanes, lane_explanations)
    )
    if not all(lane.retrieved or lane.status in ENDED_STATUSES for lane in lanes):
        return ComparisonVerdict("", explanations)
    text = _joint_text(comparison, by_model, explanations)
    return ComparisonVerdict(
        text, explanations, tuple(answer for answer in dict.fromkeys(answers) if answer in text)
    )


def _joint_text(
    comparison: MethodComparison,
    by_model: Sequence[bool],
    explanations: Sequence[LaneExplanation | None],
) -> str:
    """Return the sentence for all lanes.

    `by_model` tells for each lane if its language model's answer counts.
    """
    lanes, answers = comparison.lanes, comparison.ask.question.answers
    names = lane_names(comparison)
    summaries = [
        LaneSummary(
            name,
            explanation,
            lane_answers(lane, model),
            missing_answer_reason(lane),
            _count_by_reader(comparison, lane) if model else None,
        )
        for name, lane, model, explanation in zip(names, lanes, by_model, explanations)
    ]
    # lanes without a graph reader, if the graph readers count for the others
    model_only_names = [
        name
        for name, model, summary in zip(names, by_model, summaries)
        if model and summary.explanation and not counts_by_model(comparison)
    ]
    parts = [
        compare_lanes(summaries, answers, measure_words(comparison)),
    ]
    if answers and len(model_only_names) < len(lanes):
        parts.append(_without_reader_text(model_only_names))
    return " ".join(filter(None, parts))


def _count_by_reader(comparison: MethodComparison, lane: MethodLane) -> int | None:
    """Return how many known answers the graph reader names, if there is one."""
    return count_right_answers(
        comparison.graph, lane.state, comparison.ask.question.answers, reader=True
    )


def _with_reader_count(
    comparison: MethodComparison, lane: MethodLane, explanation: LaneExplanation
) -> LaneExplanation:
    """Add to a lane's explanation that the graph reader's answers are counted.

    Once the language model has answered, the number of answers that it names is added. The
    explanation is unchanged if the model's answers count, or if no model is asked.
    """
    by_model = lane_counts_by_model(comparison, lane)
    if by_model or not explanation.n_answers or not has_two_measures(comparison):
        return explanation
    named_count = count_right_answers(
        comparison.graph, lane.state, comparison.ask.question.answers, reader=False
    )
    model_clause = ""
    if named_count is not None:
        model_clause = f"; the language model names {named_count:,} of {explanation.n_answers:,}"
    return replace(explanation, text=f"{explanation.text} Counted {BY_READER}{model_clause}.")


def _without_reader_text(names: Sequence[str]) -> str:
    """Return a sentence on lanes without a graph reader, whose language model is counted."""
    if not names:
        return ""
    has = "has" if len(names) == 1 else "have"
    return f"{capitalised(join_words(names))} {has} only the language model's answer."
