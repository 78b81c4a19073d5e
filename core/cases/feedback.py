"""Thumbs up and down on answers: a log that the adviser and the case memory read."""

from __future__ import annotations

import hashlib
import json

from core.cases.database import saved_cases
from core.cases.store import cases
from core.comparison.lane import Lane
from core.diagnosis.matching import match
from core.io.plain import from_plain, to_plain
from core.sharing import check_may_change, forget_owner, made
from core.types import Question, Rating

OWNED_AS = "rating"
# of the table; what else is told of a rating is one text in JSON
COLUMNS = ("question", "digest", "line", "answer", "up", "time")


def answer_text(lane: Lane) -> str:
    """Return what a lane answers as one text; empty where it gave no answer."""
    state = lane.state
    if state.answer is not None:
        return state.answer
    if state.excerpt is not None:
        return state.excerpt.text
    return ", ".join(lane.graph.names(state.reader or ()))


def rating_of(lane: Lane, up: bool) -> Rating:
    """Rate a lane's answer: the model's, or a reader's where no model answered.

    Where no answers are known, those of the reader count that the model's answer names.
    """
    graph, question, state = lane.graph, lane.ask.question, lane.state
    given = answer_text(lane)
    named = [
        name
        for name in graph.names(state.reader or ())
        if state.answer is None or match(given, name)
    ]
    sizes = (step.sizes["nodes"] for step in state.trace if "nodes" in step.sizes)
    return Rating(
        question.text,
        getattr(graph, "origin", graph.digest),
        repr(lane.line),
        given,
        up,
        entities=question.entities,
        graph=graph.name,
        instance=lane.instance.name,
        answers=question.answers or tuple(dict.fromkeys(named)),
        size=next(sizes, None),
        hops=question.hops,
    )


def rate(rating: Rating) -> None:
    """Write a rating, in the place of an earlier one of the same answer. Raises NotAllowed where that is another person's."""
    name = _check(rating.digest, rating.question, rating.line, rating.answer)
    about = {key: value for key, value in to_plain(rating).items() if key not in COLUMNS}
    row = (rating.digest, rating.question, rating.line, rating.answer, int(rating.up), rating.time)
    with saved_cases().writing() as database:
        database.execute(
            "INSERT OR REPLACE INTO feedback VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*row, json.dumps(about)),
        )
        made(OWNED_AS, name)


def unrate(digest: str, question: str, line: str, answer: str) -> None:
    """Take a rating back. Raises NotAllowed where it is another person's."""
    name = _check(digest, question, line, answer)
    with saved_cases().writing() as database:
        database.execute(
            "DELETE FROM feedback WHERE digest = ? AND question = ? AND line = ? AND answer = ?",
            (digest, question, line, answer),
        )
        forget_owner(OWNED_AS, name)


def _check(digest: str, question: str, line: str, answer: str) -> str:
    """The name of a rating as a thing that somebody owns. Raises NotAllowed where it is there and another person's."""
    name = hashlib.sha256(json.dumps([digest, question, line, answer]).encode()).hexdigest()[:32]
    if verdict(digest, question, line, answer) is not None:
        check_may_change(OWNED_AS, name)
    return name


def verdict(digest: str, question: str, line: str, answer: str) -> bool | None:
    """Whether that answer was found good (True) or bad (False); None where nobody said."""
    with saved_cases().reading() as database:
        row = database.execute(
            "SELECT up FROM feedback WHERE digest = ? AND question = ? AND line = ? AND answer = ?",
            (digest, question, line, answer),
        ).fetchone()
    return None if row is None else bool(row[0])


def ratings(digest: str | None = None) -> list[Rating]:
    """The log of a graph, or of all graphs, the oldest first."""
    with saved_cases().reading() as database:
        rows = database.execute(
            "SELECT digest, question, line, answer, up, time, about FROM feedback WHERE ? IN "
            "(digest, '') ORDER BY time, question, line",
            (digest or "",),
        ).fetchall()
    return [_rating(*row) for row in rows]


def solved(digest: str) -> list[Question]:
    """The questions of a graph whose answers are known, from saved cases and from answers with a thumb up.

    Each question once, by its text; what a case knows goes before what a thumb says, newer before older. Questions
    without entities or answers are left out.
    """
    known: dict[str, Question] = {}
    for case in cases():
        if case.digest == digest and case.answers and case.entities:
            known.setdefault(
                case.question,
                Question(case.question, f"case-{case.id}", case.entities, case.answers),
            )
    for rating in reversed(ratings(digest)):
        if rating.up and rating.answers and rating.entities:
            question = Question(
                rating.question,
                f"thumb-{rating.time}",
                rating.entities,
                rating.answers,
                rating.hops,
            )
            known.setdefault(rating.question, question)
    return [known[text] for text in sorted(known)]


def _rating(
    digest: str, question: str, line: str, answer: str, up: int, when: float, about: str
) -> Rating:
    columns = {
        "question": question,
        "digest": digest,
        "line": line,
        "answer": answer,
        "up": bool(up),
        "time": when,
    }
    return from_plain(Rating, json.loads(about), **columns)
