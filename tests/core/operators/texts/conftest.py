"""The story, and lines run on it."""

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
    """`told.state(line, question)` after a line on the story, `told.one(name, state)` after one operator, `told.ids(state)` its
    chunks, `told.names(state)` its entities, `told.triples(state)` its relations."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    graph = story()

    def state(line="", question="a question", on=None, models=None, start=None, answering=True):
        context = Context(on or graph, Environment(models or Written()), answering=answering)
        found = start or State(Question(question))
        for operator in parse_line(line) if line else ():
            found = operator(found, context)
        return found

    def one(name, start, on=None, models=None, answering=True, **parameters):
        """The state after one operator alone."""
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
