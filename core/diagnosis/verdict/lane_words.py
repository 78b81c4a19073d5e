"""Names of lanes in sentences, and the names that a lane answers."""

from __future__ import annotations

from core.comparison.lane import MethodComparison, MethodLane


def lane_names(comparison: MethodComparison) -> list[str]:
    """Return the name of each lane in a sentence.

    It is the plain name of the method in quotes. If two are alike it is the paper's name, and
    if these are alike too, the number of the lane is added.
    """
    methods = [lane.method for lane in comparison.lanes]
    labels = [method.label for method in methods]
    names = [
        method.name if labels.count(method.label) > 1 else _quote_name(method.label)
        for method in methods
    ]
    return [
        f"{name} (method {i + 1})" if names.count(name) > 1 else name
        for i, name in enumerate(names)
    ]


def _quote_name(name: str) -> str:
    """Quote a name of words, so that it reads as one thing.

    A name with a digit, such as No. 12, stays as it is.
    """
    return name if any(letter.isdigit() for letter in name) else f"“{name}”"


def lane_answers(lane: MethodLane, by_model: bool) -> tuple[str, ...]:
    """Return the names that a lane answers.

    They are the model's if its answer counts, else the graph reader's.
    """
    if by_model:
        return tuple(part.strip() for part in (lane.state.answer or "").split(",") if part.strip())
    return tuple(lane.graph.names(lane.state.reader or ()))
