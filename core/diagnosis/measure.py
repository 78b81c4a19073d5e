"""The answers by which a comparison is counted: the language model's or the graph reader's.

The choice holds for all statements on a comparison.
"""

from __future__ import annotations

from core.comparison.lane import Comparison, Lane

READER, MODEL, PROMPT = "by the graph reader", "by the language model", "in the prompt"


def by_model(comparison: Comparison) -> bool:
    """Return whether the language model's answers count.

    They do if every lane that has retrieved and did not fail has one. Else the reader's count.
    """
    lanes = [lane for lane in comparison.lanes if lane.retrieved and lane.error is None]
    return bool(lanes) and all(lane.state.answer is not None for lane in lanes)


def lane_by_model(comparison: Comparison, lane: Lane) -> bool:
    """Return whether a lane is counted by its language model.

    It is if all lanes are, or if it has no graph reader.
    """
    return by_model(comparison) or (lane.state.reader is None and lane.state.answer is not None)


def two_measures(comparison: Comparison) -> bool:
    """Return whether both give answers on this question, so that a count must name its source."""
    return comparison.ask.model and any(lane.state.reader is not None for lane in comparison.lanes)


def counted_by(comparison: Comparison) -> str:
    """Return words on whose answers count; empty where only one of the two was asked.

    >>> from core.comparison.lane import Comparison
    >>> from core.sources import Ask, GraphSource
    >>> from core.diagnosis.measure import counted_by
    >>> from core.types import Question
    >>> counted_by(Comparison(Ask(GraphSource(""), Question("who"), (), model=False)))
    ''
    """
    return (MODEL if by_model(comparison) else READER) if two_measures(comparison) else ""
