"""The outcome of a comparison on triples in sentences.

Each lane's sentence tells how it found the known answers or lost them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.comparison.endings import without_end
from core.comparison.lane import ENDED, Comparison, Lane
from core.diagnosis.funnel import right
from core.diagnosis.measure import READER, by_model, counted_by, lane_by_model, two_measures
from core.diagnosis.verdict.contrast import LaneSummary, contrast
from core.diagnosis.verdict.explanation import ComparisonVerdict, Explained, explained
from core.diagnosis.verdict.lane_words import lane_names, says
from core.diagnosis.wording import joined, sentence


def verdict_paths(comparison: Comparison) -> ComparisonVerdict:
    """Return the sentences of the lanes and the one for all.

    The latter is empty until every lane has retrieved or ended.
    """
    graph, answers = comparison.graph, comparison.ask.question.answers
    lanes = comparison.lanes
    models = [lane_by_model(comparison, lane) for lane in lanes]
    found = explained(
        graph, [lane.states if lane.retrieved else () for lane in lanes], answers, models
    )
    explanations = tuple(one and _beside(comparison, lane, one) for lane, one in zip(lanes, found))
    if not all(lane.retrieved or lane.status in ENDED for lane in lanes):
        return ComparisonVerdict("", explanations)
    text = _for_all(comparison, models, explanations)
    return ComparisonVerdict(
        text, explanations, tuple(answer for answer in dict.fromkeys(answers) if answer in text)
    )


def _for_all(
    comparison: Comparison, models: Sequence[bool], explanations: Sequence[Explained | None]
) -> str:
    """Return the sentence for all lanes."""
    lanes, answers = comparison.lanes, comparison.ask.question.answers
    names = lane_names(comparison)
    summaries = [
        LaneSummary(
            name,
            one,
            says(lane, model),
            without_end(lane),
            _by_reader(comparison, lane) if model else None,
        )
        for name, lane, model, one in zip(names, lanes, models, explanations)
    ]
    others = [
        name
        for name, model, one in zip(names, models, summaries)
        if model and one.explained and not by_model(comparison)
    ]
    parts = [
        contrast(summaries, answers, counted_by(comparison)),
        _otherwise(others) if answers and len(others) < len(lanes) else "",
    ]
    return " ".join(filter(None, parts))


def _by_reader(comparison: Comparison, lane: Lane) -> int | None:
    """Return how many known answers a lane's graph reader names; None where it has none."""
    return right(comparison.graph, lane.state, comparison.ask.question.answers, reader=True)


def _beside(comparison: Comparison, lane: Lane, one: Explained) -> Explained:
    """Add to a lane's explanation that the graph reader's answers are counted.

    The number of answers that the language model names is added once it has answered. Lanes that
    are counted otherwise stay as they are.
    """
    if not one.of or not two_measures(comparison) or lane_by_model(comparison, lane):
        return one
    said = right(comparison.graph, lane.state, comparison.ask.question.answers, reader=False)
    also = "" if said is None else f"; the language model names {said:,} of {one.of:,}"
    return replace(one, text=f"{one.text} Counted {READER}{also}.")


def _otherwise(names: Sequence[str]) -> str:
    """Return a sentence on lanes without a graph reader, whose language model is counted."""
    if names:
        return (
            f"{sentence(joined(names))} {'has' if len(names) == 1 else 'have'} only the language "
            "model's answer."
        )
    return ""
