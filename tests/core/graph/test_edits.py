"""An edited graph equals a graph that is made of what is left.

Edits remove, merge or rename nodes and triples.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import BadInput
from core.graph.array_checks import check_ids, check_sizes
from core.graph.building.text_graph import assemble, with_tables
from core.graph.columns import Table
from core.graph.edits import Edit, edit_graph, unmatched_edits
from core.graph.pagerank.top_nodes import pagerank_exact

TRIPLES = (
    ("A", "r0", "B"),
    ("A", "r1", "C"),
    ("B", "r2", "C"),
    ("C", "r3", "A"),
    ("C", "r4", "D"),
    ("D", "r6", "D"),
    ("E", "r5", "A"),
)


def graph_of(triples, nodes="ABCDE"):
    return assemble("toy", list(nodes), list(triples), {}, {})


def graph_content(graph):
    """All triples as text, and all names."""
    return graph.triple_texts(range(graph.n_edges)), graph.names(range(graph.n_nodes))


def checked_graph(graph):
    check_sizes(graph)
    check_ids(graph)
    return graph


def remove_node(name):
    return Edit("node", (name,))


def are_equal_graphs(graph, other):
    """Return whether two graphs are equal, apart from relations without a triple."""
    return graph_content(graph) == graph_content(other) and all(
        np.array_equal(getattr(graph, key), getattr(other, key))
        for key in ("out_indptr", "heads", "tails", "in_indptr", "in_edges", "in_heads")
    )


@pytest.mark.parametrize("name", "ABCDE")
def test_removing_a_node_removes_its_triples(toy, name):
    left = [triple for triple in TRIPLES if name not in (triple[0], triple[2])]
    assert are_equal_graphs(
        checked_graph(edit_graph(toy, [remove_node(name)])),
        graph_of(left, sorted(set("ABCDE") - {name})),
    )


@pytest.mark.parametrize("triple", TRIPLES)
def test_removing_a_triple_keeps_the_others(toy, triple):
    without = checked_graph(edit_graph(toy, [Edit("edge", triple)]))
    assert are_equal_graphs(without, graph_of([one for one in TRIPLES if one != triple]))
    assert without.edited_from.edges.tolist() == [
        i for i, one in enumerate(TRIPLES) if one != triple
    ]


def test_an_edit_leaves_the_original_graph_unchanged(toy):
    before, digest = graph_content(toy), toy.digest
    without = edit_graph(toy, [remove_node("C")])
    assert (
        graph_content(toy) == before
        and toy.digest == digest != without.digest
        and without.folder is None
    )
    assert edit_graph(toy, [remove_node("C")]) is without and edit_graph(toy, []) is toy


def test_merging_nodes_moves_triples_and_joins_equal_ones():
    graph = graph_of([("a", "knows", "x"), ("b", "knows", "x"), ("b", "likes", "b")], "abx")
    merged = checked_graph(edit_graph(graph, [Edit("merge", ("b", "a"))]))
    assert graph_content(merged) == (["a -> knows -> x", "a -> likes -> a"], ["a", "x"])
    assert merged.edited_from.new_nodes.tolist() == [
        True,
        False,
    ] and merged.edited_from.new_edges.tolist() == [False, True]


def test_a_renamed_node_is_found_by_its_new_name_alone(toy):
    renamed = checked_graph(edit_graph(toy, [Edit("rename", ("A", "Z"))]))
    assert renamed.nodes_named("Z") == (0,) and renamed.nodes_named("A") == ()
    assert graph_content(
        edit_graph(toy, [Edit("rename", ("A", "Z")), remove_node("Z")])
    ) == graph_content(edit_graph(toy, [remove_node("A")]))


def test_names_stay_in_order_for_searching(toy):
    for edits in ([remove_node("B")], [Edit("rename", ("A", "Z"))], [Edit("merge", ("E", "B"))]):
        graph = edit_graph(toy, edits)
        names = [graph.node_name(int(one)) for one in graph.name_order]
        assert names == sorted(names) and all(graph.nodes_named(name) for name in names)


def test_pagerank_of_an_edited_graph_is_that_of_the_rest(toy):
    left = [triple for triple in TRIPLES if "B" not in (triple[0], triple[2])]
    one, other = edit_graph(toy, [remove_node("B")]), graph_of(left, "ACDE")
    assert np.allclose(pagerank_exact(one, [0], 0.5), pagerank_exact(other, [0], 0.5), atol=1e-9)


def make_text_graph():
    """A graph of two documents, three entities, two relations and two communities.

    Document “carol” has the chunk c0, and “tale” has c1 and c2. Marley is in c0, Scrooge in c0 and
    c1, Fred in c2.
    """
    graph = assemble(
        "story",
        ["Marley", "Scrooge", "Fred"],
        [("Marley", "partner", "Scrooge"), ("Fred", "nephew", "Scrooge")],
        {"description": ["dead", "a miser", "cheerful"], "chunks": [[0], [0, 1], [2]]},
        {"weight": [1.0, 2.0], "chunks": [[0], [1, 2]]},
        Table.from_columns(
            id=["c0", "c1", "c2"], document=["carol", "tale", "tale"], text=["t0", "t1", "t2"]
        ),
    )
    fred, marley, scrooge = (graph.nodes_named(name)[0] for name in ("Fred", "Marley", "Scrooge"))
    table = Table.from_columns(
        title=["all", "one"], members=[[fred, marley, scrooge], [marley]], parent=[-1, 0]
    )
    return with_tables(graph, communities=table)


def test_removing_a_passage_removes_items_found_there_alone():
    without = checked_graph(edit_graph(make_text_graph(), [Edit("passage", ("carol",))]))
    assert graph_content(without) == (["Fred -> nephew -> Scrooge"], ["Fred", "Scrooge"])
    columns = without.columns
    assert columns.chunks.texts("id") == ["c1", "c2"] and columns.nodes.id_lists(
        "chunks"
    ).to_lists() == [[1], [0]]
    assert columns.nodes.texts("description") == ["cheerful", "a miser"] and columns.edges.id_lists(
        "chunks"
    ).to_lists() == [[0, 1]]
    assert columns.communities.texts("title") == ["all"] and columns.communities.id_lists(
        "members"
    ).to_lists() == [[0, 1]]
    assert columns.communities.numbers("parent").tolist() == [-1]
    edited_from = without.edited_from
    assert (
        edited_from.nodes.tolist(),
        edited_from.edges.tolist(),
        edited_from.chunks.tolist(),
        edited_from.communities.tolist(),
    ) == ([0, 2], [0], [1, 2], [0])


def test_a_merged_entity_has_the_chunks_and_descriptions_of_both():
    merged = checked_graph(edit_graph(make_text_graph(), [Edit("merge", ("Marley", "Fred"))]))
    assert merged.columns.nodes.texts("description") == ["cheerful dead", "a miser"]
    assert merged.columns.nodes.id_lists("chunks").to_lists() == [[0, 2], [0, 1]]
    # The community of Marley alone has no members left.
    assert merged.columns.communities.id_lists("members").to_lists() == [[0, 1]]


def test_edits_of_missing_items_are_skipped_and_named(toy):
    edits = [
        remove_node("Q"),
        Edit("edge", ("A", "r9", "B")),
        Edit("edge", ("B", "r0", "A")),
        Edit("passage", ("x",)),
        Edit("merge", ("A", "Q")),
        remove_node("C"),
    ]
    assert unmatched_edits(toy, edits) == tuple(edits[:-1]) and graph_content(
        edit_graph(toy, edits)
    ) == graph_content(edit_graph(toy, [remove_node("C")]))
    assert unmatched_edits(toy, [remove_node("C"), Edit("edge", ("A", "r1", "C"))]) == (
        Edit("edge", ("A", "r1", "C")),
    )


def test_all_nodes_may_be_removed(toy):
    empty = checked_graph(edit_graph(toy, [remove_node(name) for name in "ABCDE"]))
    assert (empty.n_nodes, empty.n_edges) == (0, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "null",
        '["node"]',
        '["node", ""]',
        '["edge", "a", "b"]',
        '["drop", "x"]',
        '["node", 3]',
        "[[]]",
    ],
)
def test_hostile_text_is_no_edit(text):
    with pytest.raises(BadInput):
        Edit.from_text(text)


@given(
    st.lists(
        st.sampled_from(
            [remove_node(n) for n in "ABCDE"]
            + [Edit("edge", t) for t in TRIPLES]
            + [Edit("merge", ("A", "B"))]
        ),
        max_size=6,
    )
)
def test_every_edit_leaves_a_sound_graph(edits):
    graph = checked_graph(edit_graph(graph_of(TRIPLES), edits))
    assert all(
        tuple(text.split(" -> ")) in TRIPLES or Edit("merge", ("A", "B")) in edits
        for text in graph_content(graph)[0]
    )
    for one in edits:
        assert Edit.from_text(one.to_text()) == one
