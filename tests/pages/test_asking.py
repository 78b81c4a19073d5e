"""What the question bar looks up, and when."""

from __future__ import annotations

from core.datasets.sets import QuestionSet
from pages.parts import asking


def test_question_sets_are_read_only_where_there_is_a_question(monkeypatch):
    read = []
    monkeypatch.setattr(asking, "graph_name", lambda: "metaqa")
    monkeypatch.setattr(QuestionSet, "questions", lambda known: read.append(known.name) or ())
    asking._by_text.cache_clear()
    assert asking.known_question("") is None and asking.known_question("  ") is None and not read
    assert asking.known_question("who is it") is None and "metaqa-2hop-test" in read
    asking._by_text.cache_clear()
