"""Questions on the shipped Chinese and Arabic graphs find their names and reach their answers."""

from __future__ import annotations

import pytest

from core.datasets import open_graph, questions
from core.engine import Engine
from core.graph.names.language import graph_language
from core.graph.names.lookup import name_lookup
from core.methods.catalogue import catalogue
from core.operators.expected_answer import expect_answer
from core.sources import GraphSource
from core.types import Question
from tests.films import Table, Written

# Methods on shortest paths, over all relations and over the 64 nearest ones. All relations are
# among the 64, whatever the encoder.
ROWS = ("lego-1", "lego-10")


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("HOPSCOPE_HOME", str(tmp_path_factory.mktemp("home")))
    yield
    patch.undo()


@pytest.mark.parametrize(("name", "code"), [("qingshui-graph", "zh"), ("marj-graph", "ar")])
def test_each_question_names_its_entity_and_two_methods_find_the_answer(name, code):
    graph, engine = open_graph(name), Engine(Written(encoder=Table({})))
    assert graph_language(graph).code == code
    rows = [catalogue()[id] for id in ROWS]
    for question in questions(name):
        found = [
            graph.node_name(link.mention.node)
            for link in name_lookup(graph).find_links(question.text)
        ]
        assert found == list(question.entities), question.text
        # Without entities, as a person types it.
        typed = Question(question.text, "typed", answers=question.answers)
        job = engine.compare(
            engine.prepare_question(GraphSource.of(graph), typed, uses_model=False), rows
        )
        assert job.wait(60)
        for lane in job.comparison.lanes:
            ends = {graph.node_name(path.end) for path in lane.state.paths.items}
            assert lane.error is None and set(question.answers) & ends, (
                lane.method.id,
                question.text,
            )
    engine.jobs.stop()


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("青石桥的设计者是谁？", "设计者"),
        ("青石桥的设计者的师傅是谁？", "师傅"),
        ("清水博物馆第一任馆长的儿子是谁？", "儿子"),
    ],
)
def test_the_last_of_two_relations_is_expected(question, word):
    assert expect_answer(open_graph("qingshui-graph"), question).word == word
