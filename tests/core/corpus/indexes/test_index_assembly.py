"""A hand-made index of three chunks of two documents, and items that do not fit."""

from __future__ import annotations

import pytest

from core.corpus.indexes.index import (
    IndexChunk,
    IndexCommunity,
    IndexContent,
    IndexDocument,
    IndexEntity,
    IndexRelation,
)
from core.corpus.indexes.index_assembly import assemble_index
from core.errors import BadInput
from tests.notes import NoteWith


def small_index(**changes) -> IndexContent:
    given = {
        "documents": [
            IndexDocument("k1", "town.txt", "Ann lives in Rome. Rome is old."),
            IndexDocument("k2", "ship.txt", "Ann sails."),
        ],
        "chunks": [
            IndexChunk("c1", "Ann lives in Rome.", "k1"),
            IndexChunk("c2", "Rome is old.", "k1"),
            IndexChunk("c3", "Ann sails.", "k2"),
        ],
        "entities": [
            IndexEntity("Ann", "person", "A woman.", ("c3", "c1")),
            IndexEntity("Rome", "city", "A town.", ("c1", "c2")),
        ],
        "relations": [
            IndexRelation(
                "Ann",
                "Rome",
                description="Lives there.",
                keywords="home, life",
                weight=2.0,
                chunks=("c1",),
            )
        ],
    }
    return IndexContent(**{**given, **changes})


def test_chunks_are_in_the_order_of_the_documents_and_whole_documents_are_called_like_them():
    opened = assemble_index(small_index(), "lightrag", "both")
    table = opened.graph.columns.chunks
    assert table.texts("id") == ["ship.txt", "town.txt#lightrag-0", "town.txt#lightrag-1"]
    assert table.texts("document") == ["ship.txt", "town.txt", "town.txt"] and table.numbers(
        "tokens"
    ).tolist() == [3, 5, 4]
    assert opened.graph.names([0, 1]) == ["Ann", "Rome"]
    assert opened.graph.columns.nodes.id_lists("chunks").to_lists() == [[0, 1], [1, 2]]
    edges = opened.graph.columns.edges
    assert (
        edges.texts("keywords"),
        edges.numbers("weight").tolist(),
        edges.id_lists("chunks").to_lists(),
    ) == (["home, life"], [2.0], [[1]])
    assert not opened.left_out and not opened.notes


def test_duplicates_are_merged_and_counted():
    entities = [
        IndexEntity("Ann", "", "A woman."),
        IndexEntity(" Ann ", "person", "A sailor."),
        IndexEntity("Rome"),
    ]
    relations = [
        IndexRelation("Ann", "Rome", weight=2.0, description="a"),
        IndexRelation("Ann", "Rome", weight=3.0, description="b"),
        IndexRelation("Rome", "Ann"),
    ]
    opened = assemble_index(small_index(entities=entities, relations=relations), "t", "both")
    assert opened.graph.columns.nodes.texts("description") == ["A woman. A sailor.", ""]
    assert opened.graph.columns.nodes.texts("type") == ["person", ""]
    # The opposite direction is another relation.
    assert sorted(opened.graph.columns.edges.numbers("weight").tolist()) == [1.0, 5.0]
    assert opened.left_out == {
        "Put together, entities of one name": 1,
        "Put together, relations between the same two entities": 1,
    }


def test_items_with_missing_references_are_left_out_and_counted():
    entities = [IndexEntity("Ann", chunks=("c1", "gone")), IndexEntity(" ")]
    communities = [
        IndexCommunity("0", 0, members=("Ann", "Bob")),
        IndexCommunity(
            "1", 1, parent="0", title="Inner", members=("Ann",), report="Of Ann.", rating=70.0
        ),
        IndexCommunity("2", 1, parent="9", members=("Ann",)),
        IndexCommunity("3", 0, members=("Bob",)),
    ]
    opened = assemble_index(small_index(entities=entities, communities=communities), "t", "both")
    assert opened.graph.n_nodes == 1 and opened.graph.n_edges == 0
    assert opened.left_out == {
        "Left out, entities without a name": 1,
        "Left out, mentions of chunks that the index lacks": 1,
        "Left out, relations of an entity that the index lacks": 1,
        "Left out, members of communities that are no entities of the index": 2,
        "Left out, communities without a member": 1,
    }
    table = opened.graph.columns.communities
    assert table.texts("title") == ["Community 0", "Inner", "Community 2"] and table.numbers(
        "parent"
    ).tolist() == [-1, 0, -1]
    assert table.numbers("rating").tolist() == [0.0, 10.0, 0.0] and table.texts("report") == [
        "",
        "Of Ann.",
        "",
    ]


def test_a_missing_text_is_joined_from_its_chunks():
    opened = assemble_index(
        small_index(documents=[IndexDocument("k2", "ship.txt", "Ann sails.")]), "t", "both"
    )
    assert {one.id: one.text for one in opened.documents} == {
        "ship.txt": "Ann sails.",
        "k1": "Ann lives in Rome.\n\nRome is old.",
    }
    assert opened.notes == [NoteWith("text of", 1, "document", "chunks")]


def test_documents_of_one_title_are_called_by_their_keys():
    same = [
        IndexDocument("k1", "a.txt", "Ann lives in Rome. Rome is old."),
        IndexDocument("k2", "a.txt", "Ann sails."),
    ]
    assert [
        (one.id, one.title)
        for one in assemble_index(small_index(documents=same), "t", "both").documents
    ] == [("k1", "a.txt"), ("k2", "a.txt")]


def test_an_index_without_texts_is_refused():
    with pytest.raises(BadInput, match="no chunk with a text"):
        assemble_index(small_index(chunks=[IndexChunk("c1", " \n")]), "t", "both")


@pytest.mark.parametrize("level", [-3, 10**29, 2**40, 2**31])
def test_an_invalid_level_is_left_out_and_counted(level):
    communities = [
        IndexCommunity("0", level, members=("Ann",)),
        IndexCommunity("1", 2, members=("Ann",)),
    ]
    opened = assemble_index(small_index(communities=communities), "t", "both")
    assert opened.left_out["Left out, levels of communities that are none"] == 1
    assert sorted(opened.graph.columns.communities.numbers("level").tolist()) == [0, 2]
