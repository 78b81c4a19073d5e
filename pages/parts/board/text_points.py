"""Points that a language model noted on the hits of a lane, as data of the board."""

from __future__ import annotations

from typing import Any

from core.diagnosis.passages import gold_rows
from core.engine import Lane
from core.graph.texts import hit_names
from core.operators.texts.answer.points import (
    NOT_REACHED,
    PARTS,
    SHOWN,
    UNREADABLE,
    AnswerFromPoints,
    Points,
    diverse,
)
from core.runtime.jobs import FAILED
from core.types import Point, State
from pages.parts.board.text_hits import SOURCES, keyed, passage
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr

Data = dict[str, Any]


def points_data(lane: Lane) -> Data | None:
    """Return the points of a lane in the order of selection.

    None for other methods.

    Returns
    -------
    `rows` with `score`, `text`, `of`, `more` and `unread`, and a `note` that counts the points.
    `of` are the first parts that a point was noted on, each with the `key` of its hit; `more`
    counts the others. `unread` points had no room in the prompt of the answer.
    """
    state = lane.state
    if state.points is None:
        return None
    shown = _count(state, AnswerFromPoints, SHOWN) if _ran(state, AnswerFromPoints) else None
    beyond = lambda place: shown is not None and place >= shown
    answering = next(
        (one for one in lane.instance.line.parts() if isinstance(one, AnswerFromPoints)),
        AnswerFromPoints(),
    )
    rows = [
        {**_row(lane, point), "unread": beyond(place)}
        for place, point in enumerate(diverse(state.points, answering.diversity))
    ]
    return {"rows": rows, "note": _note(lane, state, shown)}


def _row(lane: Lane, point: Point) -> Data:
    gold, named = gold_rows(lane.graph, lane.state.question.gold), point.items[:SOURCES]
    of = [_of(lane, point, item, gold) for item in named]
    return {
        "score": point.score,
        "text": point.text,
        "of": of,
        "more": len(point.items) - len(named),
    }


def _of(lane: Lane, point: Point, item: int, gold: frozenset[int]) -> Data:
    """Return the data of one hit that a point was noted on."""
    key = keyed(lane.graph, point.kind, item).key
    if point.kind == "chunk":
        data = passage(lane.graph, item, gold)
        return {"key": key, "title": data["title"], "gold": data["gold"]}
    return {"key": key, "title": hit_names(lane.graph, point.kind, [item])[0], "gold": False}


def _note(lane: Lane, state: State, shown: int | None) -> str:
    """Return sentences on the number of points and their use."""
    assert state.points is not None
    parts, left = _count(state, Points, PARTS), _count(state, Points, NOT_REACHED)
    if left:
        of = tr("{parts:,} of {of}", parts=parts, of=many(parts + left, "part"))
    else:
        of = many(parts, "part")
    said = [tr("{points} from {of}.", points=many(len(state.points), "point"), of=of)]
    if unreadable := _count(state, Points, UNREADABLE):
        said.append(
            tr(
                "{unreadable} could not be read.",
                unreadable=tr("One reply")
                if unreadable == 1
                else tr("{unreadable:,} replies", unreadable=unreadable),
            )
        )
    if shown is not None and shown < len(state.points):
        if shown:
            said.append(tr("The answer was made from the best {shown:,}.", shown=shown))
        else:
            said.append(tr("The answer was made from none of them."))
    if lane.status == FAILED and shown is None:
        said.append(tr("Then the lane failed: no answer was made from them."))
    return " ".join(said)


def _ran(state: State, operator: type) -> bool:
    return any(step.operator == operator.__name__ for step in state.trace)


def _count(state: State, operator: type, what: str) -> int:
    """Return a count of an operator's last step; 0 if there is none."""
    return next(
        (
            step.sizes.get(what, 0)
            for step in reversed(state.trace)
            if step.operator == operator.__name__
        ),
        0,
    )
