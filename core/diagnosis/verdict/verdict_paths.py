"""The outcome of a comparison on triples in sentences.

Each lane's sentence tells how it found the known answers or lost them.
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
    """Return the sentences of the lanes and the one for all.

    The latter is empty until every lane has retrieved or ended.
    """
    graph, answers = comparison.graph, comparison.ask.question.answers
    lanes = comparison.lanes
    models = [lane_counts_by_model(comparison, lane) for lane in lanes]
    lane_explanations = explain_lanes(
        graph, [lane.states if lane.retrieved else () for lane in lanes], answers, models
    )
    explanations = tuple(
        explanation and _with_reader_count(comparison, lane, explanation)
        for lane, explanation in zip(lanes, lane_explanations)
    )
    if not all(lane.retrieved or lane.status in ENDED_STATUSES for lane in lanes):
        return ComparisonVerdict("", explanations)
    text = _joint_text(comparison, models, explanations)
    return ComparisonVerdict(
        text, explanations, tuple(answer for answer in dict.fromkeys(answers) if answer in text)
    )


def _joint_text(
    comparison: MethodComparison,
    models: Sequence[bool],
    explanations: Sequence[LaneExplanation | None],
) -> str:
    """Return the sentence for all lanes."""
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
        for name, lane, model, explanation in zip(names, lanes, models, explanations)
    ]
    others = [
        name
        for name, model, summary in zip(names, models, summaries)
        if model and summary.explanation and not counts_by_model(comparison)
    ]
    parts = [
        compare_lanes(summaries, answers, measure_words(comparison)),
        _without_reader_text(others) if answers and len(others) < len(lanes) else "",
    ]
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

    The number of answers that the language model names is added once it has answered. Lanes that
    are counted otherwise stay as they are.
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
