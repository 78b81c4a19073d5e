"""Node details in a graph made of texts."""

from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.graph.texts import chunk_nodes

CHUNKS = Table.from_columns(
    id=["Marley", "Scrooge"],
    document=["Marley", "Scrooge"],
    text=["Marley was dead.", "Scrooge signed it."],
)


def test_an_entity_named_like_its_only_chunk_is_no_chunk():
    graph = assemble(
        "one",
        ["Marley", "ledger"],
        [],
        {"description": ["A partner.", "A book."], "chunks": [[0], [1]]},
        {},
        CHUNKS,
    )
    assert chunk_nodes(graph, [0, 1]) == {}


def test_the_chunks_of_a_tree_are_its_leaves():
    nodes = {"description": ["", "", "Both."], "chunks": [[0], [1], [0, 1]], "level": [0, 0, 1]}
    graph = assemble("tree", ["Marley", "Scrooge", "summary"], [], nodes, {}, CHUNKS)
    names = graph.names([0, 1, 2])
    assert {names[node]: row for node, row in chunk_nodes(graph, [0, 1, 2]).items()} == {
        "Marley": 0,
        "Scrooge": 1,
    }
