"""The suggested size of a subgraph beside its parameter, with the reasons; never applied unless a
person presses the button."""

from __future__ import annotations

from typing import Any

from core.cases import ratings
from core.diagnosis.changes.adviser import SizeAdvice, advise
from core.errors import HopscopeError, UnknownEntity
from core.graph.names.seeds import seeds_of
from core.operators.base import Operator
from core.operators.extract import PersonalizedPageRank
from core.types import Question
from pages.parts.question.question_bar import known_question
from pages.parts.shared.session import engine, source
from pages.parts.shared.session_state import session
from pages.parts.shared.wording import tr


def asked() -> Question:
    """The question on Compare, as it stands in the bar."""
    text = session.question
    known = known_question(text)
    return Question(
        text, entities=tuple(session.entities), hops=known.hops if known is not None else None
    )


def tried() -> Question:
    """The question on Build, with what its set knows of it."""
    text = session.try_question
    return known_question(text) or Question(text)


def advised(operator: Operator, question: Question) -> SizeAdvice | str | None:
    """The suggestion for an operator that keeps the nodes of the largest PageRank, or why there is none in a sentence; None for other
    operators, without a question, and while the graph is not open."""
    job = engine().jobs.get(f"open-{source().graph_name}")
    opened = job.result if job is not None else None
    if (
        not isinstance(operator, PersonalizedPageRank)
        or not question.text.strip()
        or opened is None
    ):
        return None
    try:
        return _advice(opened, question)
    except UnknownEntity:
        return None  # said where the question is asked
    except HopscopeError as error:
        return str(error)


def same_words(keep: int) -> str:
    """That the suggested size is the one that is set."""
    return tr("{keep:,} nodes is also what this question suggests.", keep=keep)


def advice_data(operator: Operator | None, question: Question) -> dict[str, Any] | None:
    """The suggestion as plain data: a title, its reasons, and the value that a button sets where it
    is another one."""
    advice = advised(operator, question) if operator is not None else None
    if advice is None:
        return None
    if isinstance(advice, str):
        return {"title": advice, "reasons": [], "name": "keep", "value": None, "button": ""}
    words = {
        "reasons": list(advice.reasons),
        "name": "keep",
        "button": tr("Keep {keep:,} nodes", keep=advice.keep),
    }
    if advice.keep == getattr(operator, "keep", None):
        return {**words, "title": same_words(advice.keep), "value": None}
    return {
        **words,
        "title": tr("Suggested for this question: {keep:,} nodes", keep=advice.keep),
        "value": advice.keep,
    }


def _advice(opened: Any, question: Question) -> SizeAdvice:
    """The advice, kept for the session as long as question and feedback stay the same."""
    log = ratings(opened.digest)
    key = (opened.digest, question, len(log), log[-1].time if log else 0)
    known = session.advice
    if key not in known:
        seeds = seeds_of(opened, question.text, question.entities)
        named = Question(
            question.text, question.id, tuple(opened.names(seeds)), question.answers, question.hops
        )
        known.clear()
        known[key] = advise(opened, named, seeds, log)
    return known[key]
