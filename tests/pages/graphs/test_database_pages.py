"""The screens on a graph in the Cypher database: the same board, a walk, a shape."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from core.engine import Engine
from core.graph.building.build import in_memory
from core.graph.building.export import build_database
from core.instances.catalogue import find
from core.io.home import ROOT
from core.sources import GraphSource
from core.types import Question
from pages.parts.board.payload import Board
from tests.films import TRIPLES

pytest.importorskip("ladybug", reason="the graph database is not installed")

LANES = (
    "EgoNetwork(hops=3) >> ShortestPaths() >> Rank(model='bm25', keep=40) >> Answer(paths=30)",
    "PersonalizedPageRank() >> FilterSubgraph(model='bm25', keep=3) >> BeamSearch(model='bm25', rank='bm25', width=4, hops=2) >> Answer()",
    "RandomWalks() >> SimplePaths() >> Answer()",
)
TIMED = ("seconds", "cost", "spans")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    home = tmp_path_factory.mktemp("database-home")
    return build_database(TRIPLES, home / "graphs" / "films-db", "films")


def board(graph):
    """What the board is given for one question, seconds left out."""
    engine = Engine()
    question = Question("what genre is the film One", entities=("One",), answers=("Drama", "Ann"))
    job = engine.compare(
        engine.ask(GraphSource.of(graph), question, model=False), [find(spec) for spec in LANES]
    )
    assert job.wait(60) and not job.error
    told = Board(job.comparison).payload()
    engine.jobs.stop()
    return json.loads(
        json.dumps(told),
        object_hook=lambda row: {key: value for key, value in row.items() if key not in TIMED},
    )


def test_a_comparison_is_drawn_as_on_arrays(stored):
    ours = board(stored)
    assert ours == board(in_memory(TRIPLES, "films")) and all(
        lane["paths"] and not lane["error"] for lane in ours["lanes"]
    )


def test_the_graphs_page_walks_and_counts(stored, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(stored.folder.parents[1]))
    at = AppTest.from_file(str(ROOT / "pages" / "graphs.py"), default_timeout=120)
    at.session_state.source = GraphSource("films-db")
    at.query_params["entity"] = "Ann"
    at.run()
    assert not at.exception and not at.error
    assert [metric.value for metric in at.metric] == ["5", "5", "4"]
    assert any("Drawn: 2 of 2 neighbours" in caption.value for caption in at.caption)
    assert "In an embedded graph database, asked in Cypher" in [
        markdown.value for markdown in (*at.markdown, *at.text, *at.caption)
    ]
