"""The data that the map sends to the browser."""

import gzip
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from core.datasets import open_graph
from core.graph.algorithms.igraph_library import WITHOUT_IGRAPH_NOTE, has_igraph
from core.graph.building.build import build
from core.indexes.graph_maps import load_map, saved_map
from core.types import Path, Question, Ranking, State, Subgraph
from pages.parts.compare import map_highlights
from pages.parts.compare.map_highlights import retrieved_highlights
from pages.parts.map import graph_map as module
from pages.parts.shared.session import engine
from tests.libraries import no_igraph

CLIQUES = [(f"{name}{i}", "r", f"{name}{j}") for name in "ab" for i in range(6) for j in range(i)]


@pytest.fixture
def graph(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    triples = [*CLIQUES, ("a0", "r", "b0"), ("a0", "r", "<b>x\ny</b>")]
    graph = build(triples, tmp_path / "graphs" / "two", "two", "both")
    yield graph
    engine().background_jobs._jobs.pop(f"map-{graph.digest}", None)


def test_the_packed_bytes_hold_the_map(graph):
    graph_map = load_map(graph)
    layout, names, titles = module._map_files(graph, graph_map)
    content = gzip.decompress(layout)
    n, m, n_types = np.frombuffer(content, "<u4", 3).tolist()
    assert (n, m, n_types) == (13, 32, 0)
    nodes, degrees, counts, tails = (
        part.tolist()
        for part in np.split(np.frombuffer(content, "<u4", 3 * n + m, 12), [n, 2 * n, 3 * n])
    )
    assert graph.node_name(nodes[0]) == "a0" and degrees[0] == 7
    assert counts[0] == 7 and sum(counts) == m and sorted(tails[:7]) == tails[:7]
    offset = 12 + 4 * (3 * n + m)
    xy = np.frombuffer(content, "<u2", 2 * n, offset).reshape(n, 2) / 65535
    assert abs(xy - graph_map.xy).max() < 1e-4
    hues = np.frombuffer(content, "u1", n, offset + 4 * n)
    by_clique = {graph.node_name(node)[0]: hue for node, hue in zip(nodes, hues.tolist())}
    assert by_clique["a"] != by_clique["b"] and min(by_clique["a"], by_clique["b"]) > 0
    assert len(content) == offset + 6 * n
    lines = gzip.decompress(names).decode().split("\n")
    assert len(lines) == n and lines[0] == "a0" and "<b>x y</b>" in lines
    assert [title[0] for title in titles["topics"]] == ["a0", "b0"]


def test_marked_nodes_get_their_numbers_on_the_map(graph):
    graph_map = load_map(graph)
    wanted = [graph.nodes_named("b0")[0], graph.nodes_named("a0")[0], 10**6]
    numbers = module._map_numbers(graph_map, wanted)
    assert graph.names(graph_map.nodes[numbers]) == ["a0", "b0"]


def test_types_have_hues_by_their_frequency():
    types = ["ship", "", "port", "ship"]
    table = SimpleNamespace(
        has_column=lambda name: name == "type", texts=lambda name, rows: [types[i] for i in rows]
    )
    graph = SimpleNamespace(columns=SimpleNamespace(nodes=table))
    names, hues = module._colour_types(graph, np.array([3, 1, 2, 0]))
    assert names == ["ship", "port"] and hues.tolist() == [1, 0, 2, 1]


def page():
    import streamlit as st

    from core.datasets import open_graph
    from pages.parts.map.graph_map import draw_graph_map

    st.write(repr(draw_graph_map(open_graph("two"), key="here")))


def test_the_map_is_laid_out_and_drawn_in_one_run(graph):
    at = AppTest.from_function(page).run()
    assert not at.exception and at.markdown[0].value == "None"


def test_the_map_says_that_its_topics_are_found_without_igraph(graph):
    with no_igraph():
        load_map(graph)
        told = [caption.value for caption in AppTest.from_function(page).run().caption]
    assert told == [WITHOUT_IGRAPH_NOTE]
    with_igraph = AppTest.from_function(page).run().caption
    assert len(with_igraph) == (0 if has_igraph() else 1)


def test_a_very_large_graph_is_laid_out_by_a_button(graph, monkeypatch):
    monkeypatch.setattr(module, "OVERVIEW", replace(module.OVERVIEW, max_counted_triples=10))
    drawn = []
    monkeypatch.setattr(module, "component", lambda name: lambda key, **_: drawn.append(key))
    at = AppTest.from_function(page).run()
    assert not at.exception and not drawn and saved_map(open_graph("two")) is None
    next(b for b in at.button if b.label == "Draw the map").click().run()
    assert not at.exception and drawn == ["here"]


def test_a_cancelled_map_is_not_laid_out_unasked(graph, monkeypatch):
    def cancel(graph, job):
        job.stop()
        job.check()

    with monkeypatch.context() as patch:
        patch.setattr(module, "load_map", cancel)
        at = AppTest.from_function(page).run()
    assert not at.exception and saved_map(open_graph("two")) is None
    assert not at.run().exception and saved_map(open_graph("two")) is None
    next(b for b in at.button if b.label == "Draw the map").click().run()
    assert not at.exception and saved_map(open_graph("two")) is not None


@pytest.mark.parametrize("clicked, returned", [(3, "3"), (13, "None"), ("3", "None")])
def test_only_a_node_of_the_graph_is_returned(graph, clicked, returned, monkeypatch):
    monkeypatch.setattr(
        module, "component", lambda name: lambda key, **_: SimpleNamespace(clicked=clicked)
    )
    at = AppTest.from_function(page)
    at.session_state["here"] = SimpleNamespace(clicked=clicked)
    assert at.run().markdown[0].value == returned


def lane(graph, label, **results):
    state = State(Question("q"), **results)
    return SimpleNamespace(
        graph=graph, state=state, retrieved=True, method=SimpleNamespace(label=label)
    )


def test_retrieved_nodes_of_this_graph_are_marked(graph, toy, monkeypatch):
    part = Subgraph(np.array([1, 2]), np.array([0]))
    paths = Ranking("path", (Path((4, 2), (0,), (True,)), Path((1,), (), ())))
    lanes = (
        lane(graph, "Nearby", subgraph=part),
        lane(toy, "Elsewhere", subgraph=part),
        lane(graph, "Paths", paths=paths),
        lane(graph, "Nothing"),
    )
    shown = SimpleNamespace(comparison=SimpleNamespace(lanes=lanes))
    monkeypatch.setattr(map_highlights, "screen_comparison", lambda: shown)
    marked = retrieved_highlights(graph)
    assert [(name, nodes) for name, _, nodes in marked] == [
        ("Nearby", [1, 2]),
        ("Paths", [1, 2, 4]),
    ]
    assert len({colour for _, colour, _ in marked}) == 2
    monkeypatch.setattr(map_highlights, "screen_comparison", lambda: None)
    assert retrieved_highlights(graph) == []
