"""Ratings of answers (thumbs up or down) by users.

The adviser reads them, and so does the operator of the case memory, which learns from questions
whose answers are known.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from core.cases.database import case_file
from core.cases.store import cases
from core.comparison.lane import MethodLane
from core.io.plain_data import from_plain, to_plain
from core.languages.spelling import contains_whole
from core.sharing import check_may_change, forget_owner, record_owner
from core.types import Question, Rating

RATING_KIND = "rating"
# Columns of the table that are fields of a rating. The column `about` has its other fields as JSON.
RATING_COLUMNS = ("question", "digest", "line", "answer", "up", "time")


def answer_text(lane: MethodLane) -> str:
    """Return the answer of a lane as one text; empty if it gave none.

    It is the language model's answer if there is one, else the excerpt, else the graph reader's
    answers.
    """
    state = lane.state
    if state.answer is not None:
        return state.answer
    if state.excerpt is not None:
        return state.excerpt.text
    return ", ".join(lane.graph.names(state.reader or ()))


def rating_of(lane: MethodLane, up: bool) -> Rating:
    """Return a rating of the answer that `answer_text` returns for a lane.

    If the question has no known answers, the rating takes the graph reader's answers that the rated
    answer names.
    """
    graph, question, state = lane.graph, lane.ask.question, lane.state
    answer = answer_text(lane)
    named_answers = [
        name
        for name in graph.names(state.reader or ())
        if state.answer is None or contains_whole(answer, name)
    ]
    subgraph_sizes = (step.sizes["nodes"] for step in state.trace if "nodes" in step.sizes)
    return Rating(
        question.text,
        getattr(graph, "origin", graph.digest),
        repr(lane.line),
        answer,
        up,
        entities=question.entities,
        graph=graph.name,
        instance=lane.method.name,
        answers=question.answers or tuple(dict.fromkeys(named_answers)),
        size=next(subgraph_sizes, None),
        hops=question.hops,
    )


def rate(rating: Rating) -> None:
    """Save a rating and replace an earlier one of the same answer.

    Raises NotAllowed if the earlier one is another person's.
    """
    name = _check_owner(rating.digest, rating.question, rating.line, rating.answer)
    about = {key: value for key, value in to_plain(rating).items() if key not in RATING_COLUMNS}
    row = (rating.digest, rating.question, rating.line, rating.answer, int(rating.up), rating.time)
    with case_file().open_for_writing() as database:
        database.execute(
            "INSERT OR REPLACE INTO feedback VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*row, json.dumps(about)),
        )
        record_owner(RATING_KIND, name)


def delete_rating(digest: str, question: str, line: str, answer: str) -> None:
    """Delete a rating. Raises NotAllowed if it is another person's."""
    name = _check_owner(digest, question, line, answer)
    with case_file().open_for_writing() as database:
        database.execute(
            "DELETE FROM feedback WHERE digest = ? AND question = ? AND line = ? AND answer = ?",
            (digest, question, line, answer),
        )
        forget_owner(RATING_KIND, name)


def _check_owner(digest: str, question: str, line: str, answer: str) -> str:
    """Return the name of a rating in the records of owners.

    Raises NotAllowed if the rating exists and is another person's.
    """
    name = hashlib.sha256(json.dumps([digest, question, line, answer]).encode()).hexdigest()[:32]
    if is_rated_up(digest, question, line, answer) is not None:
        check_may_change(RATING_KIND, name)
    return name


def is_rated_up(digest: str, question: str, line: str, answer: str) -> bool | None:
    """Return whether an answer was rated up (True) or down (False).

    None without a rating.
    """
    with case_file().open_for_reading() as database:
        row = database.execute(
            "SELECT up FROM feedback WHERE digest = ? AND question = ? AND line = ? AND answer = ?",
            (digest, question, line, answer),
        ).fetchone()
    return None if row is None else bool(row[0])


def ratings(digest: str | None = None) -> list[Rating]:
    """Return the ratings on the graph with a digest, oldest first.

    Without a digest, return those on all graphs.
    """
    with case_file().open_for_reading() as database:
        rows = database.execute(
            f"SELECT {', '.join(RATING_COLUMNS)}, about FROM feedback WHERE ? IN (digest, '') "
            "ORDER BY time, question, line",
            (digest or "",),  # an empty text matches every row
        ).fetchall()
    return list(map(_read_rating, rows))


def solved(digest: str) -> list[Question]:
    """Return the solved questions on a graph: those whose answers cases or ratings tell.

    `digest` is that of the graph. Of the ratings only those up count. Each text occurs once: cases
    take precedence over ratings, and newer ones over older. Questions without entities or answers
    are left out. The result is sorted by text.
    """
    by_text: dict[str, Question] = {}
    for case in cases():
        if case.digest == digest and case.answers and case.entities:
            question = Question(case.question, f"case-{case.id}", case.entities, case.answers)
            by_text.setdefault(question.text, question)
    for rating in reversed(ratings(digest)):
        if rating.up and rating.answers and rating.entities:
            key = f"thumb-{rating.time}"
            question = Question(rating.question, key, rating.entities, rating.answers, rating.hops)
            by_text.setdefault(question.text, question)
    return [by_text[text] for text in sorted(by_text)]


def _read_rating(row: Sequence[Any]) -> Rating:
    """Return the rating of a row with the `RATING_COLUMNS` and the column `about`."""
    columns = dict(zip(RATING_COLUMNS, row))
    columns["up"] = bool(columns["up"])
    return from_plain(Rating, json.loads(row[-1]), **columns)
