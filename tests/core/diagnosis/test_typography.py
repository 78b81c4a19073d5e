"""Known answers at every stage of a run, however the graph, the passages and the reply write them."""

from __future__ import annotations

import pytest

from core.corpus import Document, write_corpus
from core.diagnosis.funnel import funnel, gold_nodes
from core.diagnosis.name_lookup import is_in_corpus, is_in_graph
from core.diagnosis.targets import Target
from core.graph.building.build import build_in_memory
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.sources import CorpusSource
from core.types import Question, State

PASSAGES = (
    "Jo’Ann O’Neil kept the light from 1939–1945.",
    "A\u030ase Kru\u0308ger lived on Stone\u2011Hill.",
    "The oﬃce of Ｈａｌｅ\u00a0＆\u00a0Ｃｏ lay by the light\u00adhouse.",
    "她在北京\n大学。",
    "The mast is 12.5 m long, made of 1,000 boards in 10⁶ days.",
)
HELD = (
    "Jo'Ann O'Neil",
    "1939-1945",
    "Åse Krüger",
    "STONE-HILL",
    "office",
    "Hale & Co",
    "lighthouse",
    "北京大学",
    "12,5 m",
    "1000 boards",
    "10^6",
)
NOT_HELD = ("12", "106", "39-45", "北京 学", "Ase Kruger")


@pytest.fixture
def source(tmp_path):
    documents = [Document(f"d{at}", text) for at, text in enumerate(PASSAGES)]
    ids = [one.id for one in documents]
    table = Table.from_columns(
        id=ids,
        document=ids,
        title=[""] * len(ids),
        place=[""] * len(ids),
        text=list(PASSAGES),
        tokens=[9] * len(ids),
    )
    graph = assemble("texts", ["Nobody"], [], {"description": [""]}, {}, table)
    return CorpusSource("texts", graph, write_corpus(tmp_path / "texts", documents))


@pytest.mark.parametrize("name", HELD)
def test_a_name_is_found_in_the_documents(source, name):
    assert is_in_corpus(source, source.graph, name) and is_in_graph(source.graph, name)


@pytest.mark.parametrize("name", NOT_HELD)
def test_another_value_is_not(source, name):
    assert not is_in_corpus(source, source.graph, name) and not is_in_graph(source.graph, name)


def test_a_node_is_found_by_its_name_among_those_of_a_graph_of_texts():
    nodes = ["Jo’Ann O’Neil", "Nobody"]
    graph = assemble("names", nodes, [], {"description": ["", ""]}, {})
    assert is_in_graph(graph, "Jo'Ann O'Neil") and not is_in_graph(graph, "Ann Lee")


def test_a_known_answer_is_alive_at_every_stage(source):
    name = "Jo'Ann O'Neil"
    state = State(
        Question("Who kept it?", answers=(name,)), answer="It was Jo\u02bcAnn O\u2032Neil."
    )
    stages = funnel(source, source.graph, state, [Target("answer", name)])
    assert {stage.name: stage.alive for stage in stages} == {
        "corpus": (name,),
        "graph": (name,),
        "answer": (name,),
    }


@pytest.mark.parametrize(
    ("node", "answer"),
    [
        ("A\u030ase Kru\u0308ger", "Åse Krüger"),
        ("Spider–Rock", "spider-rock"),
        ("Ｈａｌｅ", "Hale"),
        ("1984", "1984.0"),
        ("12,500", "12500"),
        ("Dr. Fox, Esq.", "Dr Fox Esq"),
        ("“The Tern”", "The Tern"),
        ("C++", "c++"),
    ],
)
def test_a_node_is_a_known_answer_however_it_is_written(node, answer):
    graph = build_in_memory([(node, "is", "other"), ("C", "is", "other")], "five")
    assert graph.names(gold_nodes(graph, answer)) == [node]
    assert not gold_nodes(graph, "C#")


def test_of_two_nodes_the_one_written_so_is_meant():
    graph = build_in_memory([("O'Neil", "is", "one"), ("O’Neil", "is", "other")], "two")
    assert graph.names(gold_nodes(graph, "O’Neil")) == ["O’Neil"]
    assert set(graph.names(gold_nodes(graph, "o＇neil"))) == {"O'Neil", "O’Neil"}
