"""Differences of two graphs, and growth of one graph chunk by chunk, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.graph.building.build import build
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.graph.difference import compare_graphs, comparison_key, unite_graphs
from core.graph.growth import GraphGrowth
from tests.core.operators.texts.kit import plain, story


def test_nodes_and_links_of_one_graph_alone(tmp_path):
    first = build(
        [
            ("Ann", "knows", "Bob"),
            ("Bob", "knows", "Cid"),
            ("Ann", "sees", "Dan Brown"),
            ("Émile", "is", "émile"),
        ],
        tmp_path / "a",
        "first",
    )
    second = build(
        [
            ("ann", "likes", "bob"),
            ("Ann", "likes", "Cid"),
            ("Dan Browne", "knows", "Bob"),
            ("EMILE", "knows", "Bob"),
        ],
        tmp_path / "b",
        "second",
    )
    found = compare_graphs(first, second)
    # In both graphs: ann, bob, cid, emile; linked in both: ann-bob. Only in the first graph:
    # bob-cid (between shared nodes) and ann-dan brown. Only in the second graph: ann-cid and
    # emile-bob (between shared nodes) and dan browne-bob.
    assert (found.n_common_nodes, found.n_common_links) == (4, 1)
    assert first.names(found.first.nodes) == ["Dan Brown"] and (
        found.first.n_links,
        found.first.n_links_between_common,
    ) == (2, 1)
    assert second.names(found.second.nodes) == ["Dan Browne"] and (
        found.second.n_links,
        found.second.n_links_between_common,
    ) == (3, 2)
    ((a, b, score),) = found.similar_pairs
    assert (first.node_name(a), second.node_name(b)) == (
        "Dan Brown",
        "Dan Browne",
    ) and score == pytest.approx(94.7, abs=0.1)


def test_the_difference_is_symmetric_and_empty_for_equal_graphs():
    graph = story()
    same = compare_graphs(graph, graph)
    assert (
        same.n_common_nodes,
        same.n_common_links,
        len(same.first.nodes),
        same.second.n_links,
        same.similar_pairs,
    ) == (5, 4, 0, 0, ())
    empty = compare_graphs(graph, plain())
    assert (
        empty.n_common_nodes,
        len(empty.first.nodes),
        empty.first.n_links,
        empty.similar_pairs,
    ) == (0, 5, 4, ())


def test_names_are_compared_without_case_accents_and_marks():
    assert (
        comparison_key("“Zürich”,") != ""
        and comparison_key("ZÜRICH") == comparison_key("Zurich,") == "zurich"
    )
    assert comparison_key("...") == "..."  # A name of punctuation alone stays as it is.


def test_growth_counts_each_node_with_its_first_chunk():
    growth = GraphGrowth(story())
    assert growth.first_chunks("nodes").tolist() == [1, 1, 0, 0, 2] and growth.first_chunks(
        "edges"
    ).tolist() == [1, 1, 0, 2]
    third = growth.additions(2)
    names = story().names
    assert (names(third.new_nodes), names(third.known_nodes)) == (["Tim"], ["Scrooge", "Cratchit"])
    assert (third.new_edges.tolist(), third.known_edges.tolist()) == ([3], [0])
    assert [len(part) for part in vars(growth.additions(3)).values()] == [0, 0, 0, 0]


def test_growth_of_unmentioned_nodes_and_of_an_empty_graph(tmp_path):
    chunks = Table.from_columns(id=["a#0"], document=["a"], title=[""], text=["One."], tokens=[1])
    loose = assemble(
        "loose", ["A", "B"], [("A", "r", "B")], {"chunks": [[], [0]]}, {"chunks": [[]]}, chunks
    )
    growth = GraphGrowth(loose)
    assert (
        growth.node_counts.tolist() == [2]
        and growth.edge_counts.tolist() == [1]
        and growth.first_chunks("nodes").tolist() == [-1, 0]
    )
    assert GraphGrowth(plain()).node_counts.tolist() == [0, 0, 0, 0]
    assert np.array_equal(
        GraphGrowth(build([("A", "r", "B")], tmp_path / "c", "triples")).node_counts, []
    )


def test_the_union_takes_the_nodes_with_the_largest_shares_of_both_graphs(tmp_path):
    first = build(
        [("Ann", "knows", "Bob"), ("Ann", "knows", "Cid"), ("Ann", "knows", "Dan")],
        tmp_path / "a",
        "first",
    )
    second = build([("ANN", "likes", "Eve"), ("Bob", "likes", "Ann")], tmp_path / "b", "second")
    # Shares of all ends of relations: ann 3/6 + 2/4, bob 1/6 + 1/4, eve 1/4, cid and dan 1/6 each.
    both = unite_graphs(first, second, 3)
    assert both.names == (["Ann", "Bob", ""], ["ANN", "Bob", "Eve"])
    assert both.pairs == ({(0, 1)}, {(0, 1), (0, 2)})
    assert unite_graphs(first, second, 0).names == ([], [])
