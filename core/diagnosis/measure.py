"""The choice of the answers that count: the language model's or the graph reader's.

A known answer is right if the answer that counts gives it. All figures and sentences on a
comparison follow the same choice.
"""

from __future__ import annotations

from core.comparison.lane import MethodComparison, MethodLane

# words for the answers that count
BY_READER = "by the graph reader"
BY_MODEL = "by the language model"
IN_PROMPT = "in the prompt"


def counts_by_model(comparison: MethodComparison) -> bool:
    """Return whether the language model's answers count.

    They count if every lane that has retrieved and did not fail has one. Else the answers of the
    graph readers count.
    """
    lanes = [lane for lane in comparison.lanes if lane.retrieved and lane.error is None]
    return bool(lanes) and all(lane.state.answer is not None for lane in lanes)


def lane_counts_by_model(comparison: MethodComparison, lane: MethodLane) -> bool:
    """Return whether the language model's answer counts for one lane.

    It counts if it does for all lanes, or if this lane has an answer but no graph reader.
    """
    return counts_by_model(comparison) or (
        lane.state.reader is None and lane.state.answer is not None
    )


def has_two_measures(comparison: MethodComparison) -> bool:
    """Return whether a count must say whose answers it counts. There may be both kinds."""
    return comparison.ask.uses_model and any(
        lane.state.reader is not None for lane in comparison.lanes
    )


def measure_words(comparison: MethodComparison) -> str:
    """Return words for the kind of answers that counts.

    Empty if there is only one kind.

    >>> from core.comparison.lane import MethodComparison
    >>> from core.sources import SourceQuestion, GraphSource
    >>> from core.diagnosis.measure import measure_words
    >>> from core.types import Question
    >>> measure_words(MethodComparison(SourceQuestion(GraphSource(""), Question("who"), (), uses_model=False)))
    ''
    """
    if not has_two_measures(comparison):
        return ""
    return BY_MODEL if counts_by_model(comparison) else BY_READER
