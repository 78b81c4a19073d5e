"""Paths of lanes on documents, and hits of lanes on triples, are shown and drawn.

They are told of in every lane.

The sentences join Marley with Scrooge and Scrooge with Fred, so that one chain of two hops leads
from Marley to Fred.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.builds import run_build
from core.cases.comparison_data import freeze, thaw
from core.comparison.lane import MethodComparison
from core.corpus import Document, new_folder, write_corpus
from core.engine import Engine
from core.methods.catalogue import find_method
from core.sources import CorpusSource, GraphSource
from core.types import Question
from pages.parts.board.payload import Board
from tests.core.test_corpus_lanes import Words
from tests.films import Parrot

DOCUMENTS = (
    Document("marley", "Marley was the partner of Scrooge.", "Marley"),
    Document("fred", "Fred was the nephew of Scrooge.", "Fred"),
)
ASKED = Question("How are Marley and Fred joined?", answers=("Scrooge",), gold=("fred",))
CHAIN = "BuiltGraph(build='kg-noun-phrases') >> NamesInQuestion(by='names') >> LinkNames() >> KhopPaths(hops=5) >> HitsOfPaths()"
LANES = (
    CHAIN,
    CHAIN.replace("hops=5", "hops=1"),
    CHAIN.replace("kg-", "tkg-"),  # another graph, of the same names
    "BuiltGraph(build='chunks') >> SparseChunks(keep=2)",
)


@pytest.fixture(scope="module")
def compared(movies):
    engine = Engine(Words(Parrot("Scrooge")))
    corpus = write_corpus(new_folder("uncles"), DOCUMENTS, sets={"asked": ("Asked", (ASKED,))})
    for name in ("kg-noun-phrases", "tkg-noun-phrases"):
        run_build(corpus, name, engine.models)
    job = engine.compare(
        engine.prepare_question(CorpusSource.of(corpus), ASKED, uses_model=False),
        [find_method(line, {}) for line in LANES],
    )
    assert job.wait(60) and [lane.error for lane in job.comparison.lanes] == [None] * 4
    return job.comparison


@pytest.fixture(scope="module")
def drawn(compared):
    return Board(compared).payload()


def test_a_path_is_one_row_that_leads_along_entities(drawn):
    (row,) = drawn["lanes"][0]["paths"]
    path = drawn["paths"][row["key"]]
    assert path["nodes"] == ["node Fred", "node Scrooge", "node Marley"]
    assert path["steps"] == ["Fred", "appears with", "Scrooge", "appears with", "Marley"]
    assert path["words"] == ["appears with", "appears with, backwards"] and path["forward"] == [
        True,
        False,
    ]
    assert drawn["lanes"][0]["found"] == {"kept": 1, "ranked": 1}
    assert [lane["paths"] for lane in drawn["lanes"][1::2]] == [[], None]


def test_a_path_has_a_fate_in_every_lane_by_the_names_on_it(drawn):
    (row,) = drawn["lanes"][0]["paths"]
    assert [drawn["fates"][row["key"]][f"lane-{i}"]["text"] for i in range(4)] == [
        "rank 1",
        "never reached: 2 hops away, 1 is searched",
        "rank 1",
        "this method finds no paths",
    ]
    assert [entry["key"] for entry in drawn["lanes"][2]["paths"]] == [row["key"]]


def test_a_path_is_drawn_among_the_hits(drawn):
    path = drawn["paths"][drawn["lanes"][0]["paths"][0]["key"]]
    assert set(path["nodes"]) <= {node["id"] for node in drawn["layout"]["nodes"]}
    assert set(path["edges"]) <= {edge["id"] for edge in drawn["layout"]["edges"]}
    assert set(path["edges"]) <= set(drawn["lanes"][0]["edges"]) and set(path["nodes"]) <= set(
        drawn["lanes"][0]["nodes"]
    )


def test_the_graph_reader_is_heard_where_it_names_anything(compared, drawn):
    assert drawn["lanes"][0]["reader"] is None  # the chain's ends are the question's own
    lane = compared.lanes[0]
    state = lane.state.replace(reader=lane.graph.nodes_named("Scrooge"))
    told = Board(MethodComparison(lane.ask, [replace(lane, states=(state,))])).payload()
    assert told["lanes"][0]["reader"] == ["Scrooge"] and told["lanes"][0]["reader_verdict"] == {
        "right": 1,
        "of": 1,
    }


def test_words_of_an_answer_rest_on_the_paths_to_what_they_name(compared, drawn):
    lane = compared.lanes[0]
    state = lane.state.replace(answer="Through Scrooge.")
    told = Board(MethodComparison(lane.ask, [replace(lane, states=(state,))])).payload()
    (word,) = told["evidence"]["lane-0"]
    key = told["lanes"][0]["paths"][0]["key"]
    assert word == {"text": "Scrooge", "node": "node Scrooge", "paths": [key], "prompt": []}
    assert told["lanes"][0]["rests"] is None and drawn["evidence"].keys() == {
        "lane-0",
        "lane-1",
        "lane-2",
    }


def test_a_saved_comparison_shows_its_paths_as_it_did(compared, drawn):
    again = Board(thaw(freeze(compared))).payload()
    for lane, before in zip(again["lanes"], drawn["lanes"]):
        assert (lane["paths"], lane["found"], lane["stories"]) == (
            before["paths"],
            before["found"],
            before["stories"],
        )
    keys = [row["key"] for row in drawn["lanes"][0]["paths"]]
    assert [again["fates"][key] for key in keys] == [drawn["fates"][key] for key in keys]


def test_hits_of_a_lane_on_triples_are_tables_and_drawn(movies):
    engine = Engine(Words(Parrot("")))
    line = "NamesInQuestion(by='names') >> LinkNames() >> NeighbourRelations(few=2)"
    job = engine.compare(
        engine.prepare_question(
            GraphSource.of(movies), Question("Kismet", entities=("Kismet",)), uses_model=False
        ),
        [find_method(line, {}), find_method("EgoNetwork() >> ShortestPaths()", {})],
    )
    assert job.wait(60)
    told = Board(job.comparison).payload()
    tables = {table["kind"]: table["rows"] for table in told["lanes"][0]["hits"]}
    (entity,) = tables["entity"]
    assert entity["title"] == "Kismet" and told["paths"][entity["key"]]["nodes"] == [
        movies.nodes_named("Kismet")[0]
    ]
    relation = tables["relation"][0]
    assert set(told["paths"][relation["key"]]["nodes"]) <= set(told["lanes"][0]["nodes"])
    assert told["paths"][relation["key"]]["edges"][0] in told["lanes"][0]["edges"]
    assert told["fates"][entity["key"]]["lane-0"]["text"] == "found: rank 1"
    assert told["fates"][entity["key"]]["lane-1"]["text"] == "seeks no entities"
    assert "hits" not in told["lanes"][1] and not any(
        "more" in table for table in told["lanes"][0]["hits"]
    )


def test_of_very_many_relations_the_best_are_listed_and_the_others_counted(movies, monkeypatch):
    engine = Engine(Words(Parrot("")))
    line = find_method(
        "NamesInQuestion(by='names') >> LinkNames() >> NeighbourRelations(few=2)", {}
    )
    job = engine.compare(
        engine.prepare_question(
            GraphSource.of(movies), Question("Kismet", entities=("Kismet",)), uses_model=False
        ),
        [line],
    )
    assert job.wait(60)
    most = len(job.comparison.lanes[0].state.relations) - 2
    assert most > 1
    monkeypatch.setattr("core.types.MAX_HITS", most)
    again = thaw(freeze(job.comparison))
    for told in (Board(job.comparison).payload(), Board(again).payload()):
        table = next(table for table in told["lanes"][0]["hits"] if table["kind"] == "relation")
        assert (len(table["rows"]), table["more"]) == (most, 2)
