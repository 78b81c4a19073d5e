"""Fixtures that run lines on the story graph."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.environment import Environment
from core.operators import OPERATORS
from core.operators.base import Context
from core.operators.text import parse_line
from core.types import Question, State
from tests.core.operators.texts.kit import story
from tests.films import Written


@pytest.fixture
def told(tmp_path, monkeypatch):
    """Functions that run lines on the story.

    `told.state(line, question)` is the state after a line, and `told.one(name, state)` that after
    one operator. `told.ids(state)`, `told.names(state)` and `told.triples(state)` are its chunks,
    entities and relations.
    """
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    graph = story()

    def state(line="", question="a question", on=None, models=None, start=None, answering=True):
        context = Context(on or graph, Environment(models or Written()), answering=answering)
        found = start or State(Question(question))
        for operator in parse_line(line) if line else ():
            found = operator(found, context)
        return found

    def one(name, start, on=None, models=None, answering=True, **parameters):
        """Return the state after one operator alone."""
        context = Context(on or graph, Environment(models or Written()), answering=answering)
        return OPERATORS[name](**parameters)(start, context)

    return SimpleNamespace(
        graph=graph,
        state=state,
        one=one,
        names=lambda state: graph.names(state.nodes.items),
        triples=lambda state: graph.triple_texts(state.relations.items),
        ids=lambda state: graph.columns.chunks.texts("id", state.chunks.items),
        titles=lambda state: graph.columns.communities.texts("title", state.communities.items),
    )
