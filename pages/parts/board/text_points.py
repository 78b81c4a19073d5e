"""Points that a language model noted on the hits of a lane, as data of the board.

Points are the scored notes of the map step of GraphRAG's global search. The reduce step answers
from the best of them.
"""

from __future__ import annotations

from typing import Any

from core.diagnosis.passages import gold_rows
from core.engine import MethodLane
from core.graph.texts import hit_names
from core.operators.texts.answer.points import (
    PARTS_KEY,
    PARTS_NOT_REACHED_KEY,
    POINTS_SHOWN_KEY,
    UNREADABLE_PARTS_KEY,
    AnswerFromPoints,
    Points,
    diversify_points,
)
from core.runtime.jobs import JOB_FAILED
from core.types import AnswerPoint, State
from pages.parts.board.text_hits import MAX_NAMED_SOURCES, item_hit, passage_data
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

Data = dict[str, Any]


def points_data(lane: MethodLane) -> Data | None:
    """Return the points of a lane in the order of selection.

    It is None for methods without points.

    Returns
    -------
    `rows` with `score`, `text`, `of`, `more` and `unread`, and a `note` that counts the points.
    `of` has the first hits on which a point was noted, each with `key`, `title` and `gold`; `more`
    counts the others. `unread` points had no room in the prompt of the answer.
    """
    state = lane.state
    if state.points is None:
        return None
    n_shown = None  # number of points in the prompt of the answer; None before it is made
    if any(step.operator == AnswerFromPoints.__name__ for step in state.trace):
        n_shown = _count(state, AnswerFromPoints, POINTS_SHOWN_KEY)
    answer_operator = next(
        (part for part in lane.method.line.parts() if isinstance(part, AnswerFromPoints)),
        AnswerFromPoints(),
    )
    rows = [
        {**_row(lane, point), "unread": n_shown is not None and index >= n_shown}
        for index, point in enumerate(diversify_points(state.points, answer_operator.diversity))
    ]
    return {"rows": rows, "note": _note(lane, state, n_shown)}


def _row(lane: MethodLane, point: AnswerPoint) -> Data:
    gold = gold_rows(lane.graph, lane.state.question.gold)
    named_items = point.items[:MAX_NAMED_SOURCES]
    hit_rows = [_hit_data(lane, point, item, gold) for item in named_items]
    return {
        "score": point.score,
        "text": point.text,
        "of": hit_rows,
        "more": len(point.items) - len(named_items),
    }


def _hit_data(lane: MethodLane, point: AnswerPoint, item: int, gold: frozenset[int]) -> Data:
    """Return the data of one hit that a point was noted on."""
    key = item_hit(lane.graph, point.kind, item).key
    if point.kind == "chunk":
        data = passage_data(lane.graph, item, gold)
        return {"key": key, "title": data["title"], "gold": data["gold"]}
    return {"key": key, "title": hit_names(lane.graph, point.kind, [item])[0], "gold": False}


def _note(lane: MethodLane, state: State, n_shown: int | None) -> str:
    """Return sentences on the number of points and their use."""
    assert state.points is not None
    parts = _count(state, Points, PARTS_KEY)
    parts_text = many(parts, "part")
    if not_reached := _count(state, Points, PARTS_NOT_REACHED_KEY):
        parts_text = tr("{parts:,} of {of}", parts=parts, of=many(parts + not_reached, "part"))
    sentences = [tr("{points} from {of}.", points=many(len(state.points), "point"), of=parts_text)]
    if unreadable := _count(state, Points, UNREADABLE_PARTS_KEY):
        replies = tr("{unreadable:,} replies", unreadable=unreadable)
        if unreadable == 1:
            replies = tr("One reply")
        sentences.append(tr("{unreadable} could not be read.", unreadable=replies))
    if n_shown == 0 and state.points:
        sentences.append(tr("The answer was made from none of them."))
    elif n_shown is not None and n_shown < len(state.points):
        sentences.append(tr("The answer was made from the best {shown:,}.", shown=n_shown))
    if lane.status == JOB_FAILED and n_shown is None:
        sentences.append(tr("Then the method failed: no answer was made from them."))
    return " ".join(sentences)


def _count(state: State, operator: type, size_key: str) -> int:
    """Return a count that an operator's last step recorded.

    It is 0 if there is none.
    """
    for step in reversed(state.trace):
        if step.operator == operator.__name__:
            return step.sizes.get(size_key, 0)
    return 0
