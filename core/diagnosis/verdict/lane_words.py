"""Names of lanes in sentences, and the names in a lane's answer."""

from __future__ import annotations

from core.comparison.lane import MethodComparison, MethodLane


def lane_names(comparison: MethodComparison) -> list[str]:
    """Return the name of each lane for sentences.

    It is the everyday name of the method, in quotes. Methods with the same everyday name have the
    name of their paper. If these names are the same too, the number of the lane is added.
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
    """Put a name of words in quotes.

    It then reads as one thing. A name with a digit, such as No. 12, is unchanged, unless a comma
    comes before a changed setting.
    """
    is_number = any(letter.isdigit() for letter in name) and "," not in name
    return name if is_number else f"“{name}”"


def lane_answers(lane: MethodLane, by_model: bool) -> tuple[str, ...]:
    """Return the names in a lane's answer.

    They are the parts of the model's answer between commas if `by_model`, else the names of the
    graph reader's nodes.
    """
    if by_model:
        return tuple(part.strip() for part in (lane.state.answer or "").split(",") if part.strip())
    return tuple(lane.graph.names(lane.state.reader or ()))
