"""The Graphs screen through Streamlit's own test driver, and its picture as text."""

from __future__ import annotations

import gzip
import io
import json
import re
import time
import zipfile
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.datasets import free_graph_name, open_graph
from core.errors import BadInput
from core.graph.building.build import build
from core.io.home import ROOT
from core.sources import GraphSource
from pages.parts.graphs import shape
from pages.parts.graphs.walk_view import neighbourhood, picture_html
from tests.pages.bringing.zone_kit import drop

PAGE = str(ROOT / "pages" / "graphs.py")
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)> href='javascript:alert(3)' **bold** $x$"
HUB = 10_000


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with one graph: a hub of 10,000 neighbours, and a hostile name."""
    folder = tmp_path_factory.mktemp("graphs-home")
    triples = [("Hub", "knows", f"Person {i:05}") for i in range(HUB)] + [
        ("Person 00000", HOSTILE, HOSTILE),
        (HOSTILE, "likes", "Hub"),
    ]
    build(triples, folder / "graphs" / "walked", "walked", "both")
    return folder


@pytest.fixture()
def own(monkeypatch, home):
    monkeypatch.setenv("HOPSCOPE_HOME", str(home))
    return home


def opened(graph: str = "walked", **query: str) -> AppTest:
    at = AppTest.from_file(PAGE, default_timeout=60)
    at.session_state.source = GraphSource(graph)
    for key, value in query.items():
        at.query_params[key] = value
    return at.run()


def button(at: AppTest, label: str):
    return next(b for b in at.button if b.label == label)


def test_counts_and_somewhere_to_start(own):
    at = opened()
    assert not at.exception and not at.error
    counts = f"{HUB + 2:,} entities · {HUB + 2:,} triples · 3 relations"
    assert counts in [caption.value for caption in at.caption]
    button(at, "Hub").click().run()
    assert at.query_params["entity"] == "Hub"
    assert any("Shown: 59 of 10,001 neighbours" in caption.value for caption in at.caption)


def test_the_first_page_shows_the_map_and_a_walk_leads_back_to_it(own, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "pages.parts.graphs.walk.draw_graph_map",
        lambda graph, key, **options: drawn.append((graph.name, options["highlights"])),
    )
    at = opened()
    assert drawn == [("walked", [])] and any(b.label == "Hub" for b in at.button)
    button(at, "Hub").click().run()
    assert len(drawn) == 1 and at.query_params["entity"] == "Hub"
    button(at, "Map").click().run()
    assert not at.exception and len(drawn) == 2 and "entity" not in at.query_params


def test_each_graph_has_its_own_filter_and_page_of_steps(own):
    build(
        [("Hub", "is near", f"Place {i:03}") for i in range(120)],
        own / "graphs" / "others",
        "others",
        "both",
    )
    at = opened(entity="Hub")
    at.selectbox(key=next(one.key for one in at.selectbox if one.label == "Relation")).select_index(
        1
    ).run()
    button(at, "Next").click().run()
    assert any("Steps 51 to 100 of 10,000" in one.value for one in at.caption)
    at.session_state.source, at.query_params["entity"] = GraphSource("others"), "Hub"
    at.run()
    assert not at.exception and any("Steps 1 to 50 of 120" in one.value for one in at.caption)
    assert next(one for one in at.selectbox if one.label == "Relation").value == -1
    at.session_state.source = GraphSource("walked")
    at.run()
    assert any("Steps 51 to 100 of 10,000" in one.value for one in at.caption)  # as it was left


def test_a_very_large_graph_is_counted_when_asked(own, monkeypatch):
    monkeypatch.setattr(shape, "OVERVIEW", replace(shape.OVERVIEW, max_counted_triples=100))
    at = opened()
    assert any("Counting reads the whole graph: 10,002 triples" in m.value for m in at.markdown)
    button(at, "Count them").click().run()
    assert not at.exception and any("Most edges of one entity" == c.value for c in at.caption)


def test_a_hub_is_paged(own):
    at = opened(entity="Hub")
    assert any("Steps 1 to 50 of 10,001" in caption.value for caption in at.caption)
    button(at, "Next").click().run()
    assert any("Steps 51 to 100 of 10,001" in caption.value for caption in at.caption)
    steps = at.dataframe[0].value
    assert steps["Neighbour"].iloc[0] == "Person 00050"


def test_the_filter_keeps_one_relation(own):
    at = opened(entity="Hub")
    choice = next(s for s in at.selectbox if s.label == "Relation")
    assert [label.split(" · ")[1] for label in choice.options] == ["10,001 steps", "10,000", "1"]
    choice.select_index(2).run()
    assert list(at.dataframe[0].value["Way"]) == ["←"]


def test_searching_walking_and_coming_back(own):
    at = opened(entity="Hub")
    at.text_input(key="walk_search").set_value("person 0012").run()
    button(at, "Person 00120").click().run()
    assert at.query_params["entity"] == "Person 00120"
    button(at, "Hub").click().run()  # the way so far
    assert at.query_params["entity"] == "Hub"
    at.text_input(key="walk_search").set_value("zzzzqqqq ####").run()
    assert not at.exception


def test_an_entity_that_is_not_there(own):
    at = opened(entity="Nobody*")
    assert "not in this graph" in at.warning[0].value
    assert any(b.label == "Hub" for b in at.button)


def test_hostile_names_stay_text(own):
    at = opened(entity=HOSTILE)
    assert not at.exception
    assert at.query_params["entity"] == HOSTILE
    assert any("\\<" in markdown.value for markdown in at.markdown)


def test_the_picture_holds_names_as_text_only(home):
    from core.graph.names.lookup import name_lookup
    from core.graph.store import Graph

    graph = Graph.open(home / "graphs" / "walked")
    here = name_lookup(graph).find(HOSTILE)
    part = neighbourhood(graph, here, graph.steps(here)[0].tolist(), 60)
    html = picture_html(graph, part, dark=False)
    assert "alert(1)</script>" not in html and "<img" not in html
    data = re.search(r"new vis\.DataSet\((\[.*?\])\);", html).group(1)
    assert "<" not in data and "href" not in data.lower()
    nodes = json.loads(data)
    assert len(nodes) <= 60 and any(node["label"].startswith("</script>") for node in nodes)
    assert all({"x", "y"} <= set(node) for node in nodes)
    assert not re.search(r"<(script|link)[^>]*https?://", html)
    assert '"physics": {"enabled": false}' in html and '"smooth": false' in html


def test_a_large_neighbourhood_is_drawn_in_part(home):
    from core.graph.store import Graph

    graph = Graph.open(home / "graphs" / "walked")
    (hub,) = graph.nodes_named("Hub")
    part = neighbourhood(graph, hub, graph.steps(hub)[0][:300].tolist(), 60)
    assert len(part.near) == 59 and not part.far
    again = picture_html(graph, part, dark=True)
    assert again == picture_html(graph, part, dark=True)


def upload(at: AppTest, name: str, content: bytes) -> AppTest:
    return drop(at, (name, content), brought_as="graph")


def test_a_file_with_a_wrong_column_names_the_line(own):
    at = upload(opened(), "bad.tsv", b"a\tr\tb\na\tr\n")
    assert not at.exception
    assert "line 2" in at.error[0].value and "2 columns" in at.error[0].value


def test_a_file_becomes_a_graph(own):
    at = upload(opened(), "My films (1).csv.gz", gzip.compress(b"a,r,b\nb,r,c\n"))
    assert not at.exception and not at.error
    assert list(at.dataframe[0].value["Head"]) == ["a", "b"]
    name = next(t for t in at.text_input if t.label == "Name")
    assert name.value == "my-films-1"
    button(at, "Build the graph").click().run()
    for _ in range(100):
        at.run()
        if at.success:
            break
        time.sleep(0.1)
    assert "my\\-films\\-1" in at.success[0].value
    at.session_state["question"], at.session_state["job"], at.session_state["applied_bar_state"] = (
        "who?",
        "of the graph before",
        ("who?", True, True),
    )
    button(at, "Open it").click().run()
    assert at.session_state["source"] == GraphSource("my-films-1")
    assert (
        at.session_state["question"] == ""
        and "job" not in at.session_state
        and "applied_bar_state" not in at.session_state
    )
    assert "3 entities · 2 triples · 1 relation" in [caption.value for caption in at.caption]
    with pytest.raises(BadInput, match="already a graph"):
        free_graph_name("My films 1")


def test_a_bad_line_far_down_is_found_while_building(own):
    at = upload(opened(), "late.tsv", b"a\tr\tb\n" * 6000 + b"a\tr\n")
    assert not at.error
    button(at, "Build the graph").click().run()
    for _ in range(100):
        at.run()
        if at.error:
            break
        time.sleep(0.1)
    assert "line 6001" in at.error[0].value
    assert not (own / "graphs" / "late" / "graph.json").exists()


def test_names_of_graphs():
    with pytest.raises(BadInput, match="letters, digits or dashes"):
        free_graph_name("../..")


def test_a_graph_is_taken_along_in_every_format(own):
    from core.graph.writers.exports import EXPORT_FORMATS
    from pages.parts.graphs.downloads import graph_file

    at = opened()
    assert at.selectbox(key="out_format").options == [one.title for one in EXPORT_FORMATS.values()]
    assert any("Read by networkx, igraph, Gephi" in caption.value for caption in at.caption)
    graph = open_graph("walked")
    assert graph_file(graph, "graphml", "walked.graphml").startswith(
        b"<?xml"
    ) and b"<script>" not in graph_file(graph, "graphml", "w.graphml")
    with zipfile.ZipFile(io.BytesIO(graph_file(graph, "neo4j", "walked-neo4j"))) as archive:
        assert archive.namelist() == ["edges.csv", "nodes.csv"] and archive.read(
            "nodes.csv"
        ).startswith(b":ID,name\n0,")
    assert not list(own.glob(".upload-*"))


def test_a_graph_of_millions_is_written_by_the_command(own, monkeypatch):
    monkeypatch.setattr("pages.parts.graphs.downloads.MAX_DOWNLOAD_TRIPLES", 10)
    at = opened()
    assert "hopscope graph export walked" in [one.value for one in at.code]
    assert not [box for box in at.selectbox if box.key == "out_format"]
