"""Graphs made of texts: tables stay aligned with nodes and edges, in memory and stored."""

import json

import numpy as np
import pytest

from core.errors import BadInput, StoreError
from core.graph.building.build import build_in_memory
from core.graph.building.text_graph import assemble, store_graph, with_tables
from core.graph.columns import IdLists, Table
from core.graph.store import Graph
from core.io import digests
from tests.core.graph.verifying import verify
from tests.timing import costs_like

NODES = ["Scrooge", "Marley", "London", "Alone"]
TRIPLES = [("Scrooge", "partner of", "Marley"), ("Scrooge", "lives in", "London")]
NODE_COLUMNS = {"type": ["person", "person", "place", ""], "chunks": [[0, 1], [0], [1], []]}
EDGE_COLUMNS = {
    "description": ["They shared a firm.", "He has rooms there."],
    "weight": [2.0, 1.0],
    "chunks": [[0], [1]],
}
CHUNKS = Table.from_columns(
    id=["carol-0", "carol-1"],
    text=["Marley was dead: <b>{0}</b>", "Scrooge, 在伦敦"],
    document=["carol", "carol"],
)


def make_text_graph(order=(0, 1, 2, 3), edges=(0, 1)) -> Graph:
    pick = lambda columns, at: {key: [values[i] for i in at] for key, values in columns.items()}
    nodes, triples = [NODES[i] for i in order], [TRIPLES[i] for i in edges]
    return assemble(
        "carol", nodes, triples, pick(NODE_COLUMNS, order), pick(EDGE_COLUMNS, edges), CHUNKS
    )


def columns_by_name(found) -> dict:
    """Columns of each node and edge, by name."""
    nodes, edges = found.columns.nodes, found.columns.edges
    told = {
        n: (nodes.text("type", i), nodes.id_lists("chunks")[i].tolist())
        for i, n in enumerate(found.names(range(found.n_nodes)))
    }
    lines = found.triple_texts(range(found.n_edges))
    return told | {
        line: (edges.text("description", i), float(edges.numbers("weight")[i]))
        for i, line in enumerate(lines)
    }


def test_rows_follow_their_nodes_and_edges():
    found = columns_by_name(make_text_graph())
    assert found["Marley"] == ("person", [0]) and found["Alone"] == ("", [])
    assert found["Scrooge -> lives in -> London"] == ("He has rooms there.", 1.0)


def test_the_graph_does_not_depend_on_the_given_order():
    assert make_text_graph((3, 1, 0, 2), (1, 0)).digest == make_text_graph().digest


def test_another_description_is_another_graph():
    other = assemble(
        "carol",
        NODES,
        TRIPLES,
        NODE_COLUMNS,
        EDGE_COLUMNS | {"description": ["They shared a firm.", "So."]},
        CHUNKS,
    )
    assert other.digest != make_text_graph().digest


def test_stored_and_opened(tmp_path):
    stored = store_graph(make_text_graph(), tmp_path / "carol")
    assert stored.digest == make_text_graph().digest and columns_by_name(
        Graph.open(tmp_path / "carol")
    ) == columns_by_name(make_text_graph())
    assert stored.columns.chunks.texts("text") == CHUNKS.texts("text")
    verify(stored)


def test_stored_over_another(tmp_path):
    store_graph(make_text_graph(), tmp_path / "carol")
    fresh = with_tables(
        make_text_graph(),
        communities=Table.from_columns(level=[0], members=[[0, 1]], title=["Firm"]),
    )
    assert store_graph(fresh, tmp_path / "carol").columns.communities.id_lists("members")[
        0
    ].tolist() == [0, 1]
    assert fresh.digest != make_text_graph().digest


def test_chunks_alone():
    alone = assemble("chunks", [], [], {}, {}, CHUNKS)
    assert (alone.n_nodes, alone.n_edges, len(alone.columns.chunks)) == (0, 0, 2)


def test_chunks_alone_are_stored(tmp_path):
    stored = store_graph(assemble("chunks", [], [], {}, {}, CHUNKS), tmp_path / "chunks")
    assert (stored.n_nodes, stored.shape().busiest, stored.columns.chunks.text("id", 1)) == (
        0,
        (),
        "carol-1",
    )


def test_a_graph_of_triples_has_no_tables(tmp_path):
    plain = build_in_memory(TRIPLES, "plain")
    assert not plain.columns and not store_graph(plain, tmp_path / "plain").columns
    assert not (store_graph(plain, tmp_path / "plain").data_folder / "columns").exists()


@pytest.mark.parametrize(
    "nodes, triples",
    [(["a", "a"], []), (["a"], [("a", "r", "a"), ("a", "r", "a")]), (["a"], [("a", "r", "b")])],
)
def test_inconsistent_tables_are_refused(nodes, triples):
    with pytest.raises(BadInput, match="cannot be put together"):
        assemble("bad", nodes, triples, {}, {})


def test_a_damaged_table(tmp_path):
    stored = store_graph(make_text_graph(), tmp_path / "carol")
    (stored.data_folder / "columns" / "nodes.arrow").write_bytes(b"no arrow")
    with pytest.raises(StoreError, match="build it again"):
        Graph.open(tmp_path / "carol")


def test_a_table_of_other_length(tmp_path):
    stored = store_graph(make_text_graph(), tmp_path / "carol")
    Table.from_columns(type=["person"]).save(stored.data_folder / "columns" / "nodes.arrow")
    (stored.data_folder / digests.DIGESTS_FILE).unlink()  # An earlier version wrote no digests.
    with pytest.raises(StoreError, match="1 rows, not 4"):
        Graph.open(tmp_path / "carol")


def test_rows_that_are_empty():
    empty = IdLists.from_lists([])
    assert len(empty) == 0 and empty.invert(2).to_lists() == [[], []]
    assert (
        Table.from_columns(members=[]).id_lists("members").to_lists() == []
        and Table.from_columns(text=[]).texts("text") == []
    )


def test_a_graph_opens_without_reading_all_its_chunks(tmp_path):
    def last_id(name, count):
        return Graph.open(tmp_path / name).columns.chunks.text("id", count - 1)

    for name, count in (("few", 200), ("many", 20_000)):
        chunks = Table.from_columns(
            id=[f"c{i}" for i in range(count)], text=["some words of a long text " * 200] * count
        )
        store_graph(assemble(name, [], [], {}, {}, chunks), tmp_path / name)
    assert last_id("many", 20_000) == "c19999"
    # There are a hundred times as many chunks. Reading all of them would take a hundred times as
    # long.
    assert costs_like(lambda: last_id("many", 20_000), lambda: last_id("few", 200))


def test_meta_names_no_path(tmp_path):
    store_graph(make_text_graph(), tmp_path / "carol")
    assert str(tmp_path) not in json.dumps(
        json.loads((tmp_path / "carol" / "graph.json").read_text())
    )


def test_numbers_are_not_copied(tmp_path):
    weights = store_graph(make_text_graph(), tmp_path / "carol").columns.edges.numbers("weight")
    assert weights.dtype == np.float32 and not weights.flags.owndata
