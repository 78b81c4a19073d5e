"""Suggested size of the subgraph that Personalized PageRank selects, with the reasons.

It depends on the question and on ratings of earlier answers. Build and the lane dialog of Compare
show it with the parameter `keep`, and a click applies it.
"""

from __future__ import annotations

from typing import Any

from core.cases import ratings
from core.diagnosis.changes.size_advice import SizeAdvice, advise_subgraph_size
from core.errors import HopscopeError, UnknownEntity
from core.graph.names.seeds import seeds_of
from core.operators.base import Operator
from core.operators.extract import PersonalizedPageRank
from core.types import Question
from pages.parts.question.question_bar import known_question
from pages.parts.shared.session import chosen_source, engine
from pages.parts.shared.session_state import session
from pages.parts.shared.wording import tr


def compare_question() -> Question:
    """Return the question in the bar of Compare, with its entities."""
    text = session.question
    hops = (known_question(text) or Question(text)).hops
    return Question(text, entities=tuple(session.entities), hops=hops)


def trial_question() -> Question:
    """Return the question on Build, with the facts of its set."""
    text = session.try_question
    return known_question(text) or Question(text)


def advise_size(operator: Operator, question: Question) -> SizeAdvice | str | None:
    """Return the suggested size for an operator that selects the nodes of largest PageRank.

    If no size can be suggested, return a sentence that says why. Return None for other operators,
    without a question, and while the graph is not open.
    """
    job = engine().jobs.get(f"open-{chosen_source().graph_name}")
    graph = job.result if job is not None else None
    if not isinstance(operator, PersonalizedPageRank) or not question.text.strip() or graph is None:
        return None
    try:
        return _advice(graph, question)
    except UnknownEntity:
        return None  # The question bar shows this error.
    except HopscopeError as error:
        return str(error)


def same_size_text(keep: int) -> str:
    """Return a sentence that the present size is also suggested."""
    return tr("{keep:,} nodes is also what this question suggests.", keep=keep)


def advice_data(operator: Operator | None, question: Question) -> dict[str, Any] | None:
    """Return the suggestion as plain data; None without one.

    It has a title, the reasons, and the value that a button sets for the parameter `name`. The
    value is None without a suggested size, and if the operator has this size already.
    """
    advice = advise_size(operator, question) if operator is not None else None
    if advice is None:
        return None
    if isinstance(advice, str):
        return {"title": advice, "reasons": [], "name": "keep", "value": None, "button": ""}
    suggestion = {
        "reasons": list(advice.reasons),
        "name": "keep",
        "button": tr("Keep {keep:,} nodes", keep=advice.keep),
    }
    if advice.keep == getattr(operator, "keep", None):
        return {**suggestion, "title": same_size_text(advice.keep), "value": None}
    return {
        **suggestion,
        "title": tr("Suggested for this question: {keep:,} nodes", keep=advice.keep),
        "value": advice.keep,
    }


def _advice(graph: Any, question: Question) -> SizeAdvice:
    """Return the suggestion, computed again when the question or the ratings change."""
    graph_ratings = ratings(graph.digest)
    last_time = graph_ratings[-1].time if graph_ratings else 0
    key = (graph.digest, question, len(graph_ratings), last_time)
    advice_by_key = session.advice
    if key not in advice_by_key:
        seeds = seeds_of(graph, question.text, question.entities)
        linked_question = Question(
            question.text, question.id, tuple(graph.names(seeds)), question.answers, question.hops
        )
        advice_by_key.clear()
        advice_by_key[key] = advise_subgraph_size(graph, linked_question, seeds, graph_ratings)
    return advice_by_key[key]
