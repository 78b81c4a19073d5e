"""Chunk by chunk, and two graphs of the same texts side by side."""

from __future__ import annotations

from core.builds import find_build, open_graph, run_build
from core.graph.growth import GraphGrowth
from pages.parts.shared.session import engine
from pages.parts.texts import graph_growth
from pages.parts.texts.graph_comparison import method_on_build
from pages.parts.texts.graph_growth import sizes_figure
from pages.parts.texts.text_trail import CHUNKS_VIEW, COMPARISON_VIEW
from tests.core.operators.texts.kit import story
from tests.pages.texts.texts_kit import html, opened, texts, until


def make_graph(corpus, name: str):
    run_build(corpus, find_build(name), engine().models)
    return open_graph(corpus, name)


def test_a_chunk_shows_what_it_adds_and_what_merged(small, monkeypatch):
    marked = []
    monkeypatch.setattr(
        graph_growth,
        "draw_graph_map",
        lambda graph, highlights, **how: marked.append(
            {name: set(graph.names(nodes)) for name, _, nodes in highlights}
        ),
    )
    make_graph(small, "tkg-noun-phrases")
    at = opened(texts_view=CHUNKS_VIEW)
    assert not at.exception
    assert set(marked[-1]) == {"new"} and "Turku" in marked[-1]["new"]
    assert "New with this chunk**  ·  5" in texts(at) or "New with this chunk" in texts(at)
    assert "No earlier entity." in texts(at) and "<mark" in html(at)
    at.number_input[0].set_value(2).run()
    merged = texts(at)
    assert not at.exception and "Merged with an earlier entity" in merged
    assert {"Olof Lind", "Turku"} <= marked[-1]["known before"]
    names = {one.label for one in at.button}
    assert {"Olof Lind", "Turku"} <= names
    next(one for one in at.button if one.label == "Olof Lind").click().run()
    assert "Olof Lind" in [one.value for one in at.subheader]  # the click leads to the entity


def test_two_graphs_are_held_against_each_other(small):
    make_graph(small, "tkg-noun-phrases")
    at = opened(texts_view=COMPARISON_VIEW)
    assert "These texts have no other graph yet." in " ".join(one.value for one in at.info)
    make_graph(small, "kg-noun-phrases")
    at = opened(texts_view=COMPARISON_VIEW)
    until(at, lambda: "In both" in texts(at))
    assert "These texts have no questions yet." in texts(at)


def test_the_method_stands_on_the_one_graph_or_the_other():
    from core.methods.catalogue import catalogue

    row = next(
        one
        for one in catalogue().values()
        if one.on_documents and repr(one.line).startswith("BuiltGraph(build='tkg')")
    )
    moved = method_on_build(row, find_build("kg-noun-phrases"))
    assert repr(moved.line) == repr(row.line).replace("build='tkg'", "build='kg-noun-phrases'", 1)


def test_the_figure_counts_by_chunk():
    """Marley and Scrooge come with the first chunk of four.

    Cratchit and Fred come with the second, and Tim with the third.
    """
    sizes = sizes_figure(GraphGrowth(story()), 1)
    assert [list(trace.y) for trace in sizes.data] == [[2, 4, 5, 5], [1, 3, 4, 4]]
