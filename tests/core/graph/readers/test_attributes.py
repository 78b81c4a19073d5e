"""Types, descriptions, keywords and weights in files become columns of the graph in every format.

The columns are those of graphs made of documents.
"""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from core.graph.building.build import build, build_in_memory, edge_ids
from core.graph.columns import NO_TABLES
from core.graph.readers.triple_file import TripleFile
from core.graph.store import Graph
from core.graph.texts import edge_weights, node_labels, relation_texts
from tests.core.graph.verifying import verify
from tests.notes import NoteWith

TRIPLES = [("Anna", "sails", "The Gull"), ("The Gull", "built in", "Turku")]
NODES = {
    "Anna": ("person", "A sailor."),
    "The Gull": ("ship", "Old, but sound."),
    "Turku": ("city", ""),
}
EDGES = [
    {"description": "She sails her daily.", "weight": 2.5},
    {"description": "In 1907.", "weight": 1.0},
]


def edge_row(place: int) -> dict:
    head, relation, tail = TRIPLES[place]
    return {"source": head, "target": tail, "relation": relation, **EDGES[place]}


def node_rows(**names: str) -> list[dict]:
    type, description = names.get("type", "type"), names.get("description", "description")
    return [{"id": name, type: kind, description: text} for name, (kind, text) in NODES.items()]


def networkx_graph():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    for one in node_rows(type="entity_type"):
        graph.add_node(one["id"], **{key: value for key, value in one.items() if key != "id"})
    for place in range(2):
        about = edge_row(place)
        graph.add_edge(about.pop("source"), about.pop("target"), **about)
    return networkx, graph


def as_graphml(file):
    networkx, graph = networkx_graph()
    networkx.write_graphml(graph, file)


def as_gexf(file):
    networkx, graph = networkx_graph()
    networkx.write_gexf(graph, file)


def as_gml(file):
    networkx, graph = networkx_graph()
    networkx.write_gml(graph, file)


def as_node_link(file):
    networkx, graph = networkx_graph()
    file.write_text(json.dumps(networkx.node_link_data(graph, edges="links")), "utf-8")


WRITERS = {"g.graphml": as_graphml, "g.gexf": as_gexf, "g.gml": as_gml, "g.json": as_node_link}


def columns_of(graph):
    """Node columns (type, description) and edge columns (description, weight), by name.

    A column that the graph lacks is left out.
    """
    edges = graph.columns.edges
    texts, numbers = edges.texts("description"), edges.numbers("weight").tolist()
    found = dict(zip(graph.triple_texts(range(graph.n_edges)), zip(texts, numbers)))
    table = graph.columns.nodes
    return dict(
        zip(graph.names(range(graph.n_nodes)), zip(table.texts("type"), table.texts("description")))
    ), found


EXPECTED_COLUMNS = (
    NODES,
    {
        " -> ".join(triple): (about["description"], about["weight"])
        for triple, about in zip(TRIPLES, EDGES)
    },
)


@pytest.mark.parametrize("name", WRITERS)
def test_what_networkx_writes_of_nodes_and_edges_becomes_columns(tmp_path, name):
    WRITERS[name](tmp_path / name)
    file = TripleFile(tmp_path / name)
    graph = build(file, tmp_path / "g", "g")
    assert columns_of(graph) == EXPECTED_COLUMNS
    said = " ".join(file.tally.sentences())
    assert "type from “entity_type”" in said and "weight from “weight”" in said
    verify(graph)
    assert columns_of(Graph.open(tmp_path / "g")) == EXPECTED_COLUMNS
    assert node_labels(graph, graph.nodes_named("Anna")) == ["Anna: person: A sailor."]
    assert relation_texts(graph, [0]) == ["She sails her daily."] and edge_weights(
        graph
    ).tolist() == [2.5, 1.0]


def tables(tmp_path):
    """Write the two triples and their columns as delimited text, JSON rows, Parquet and Arrow."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    rows = [edge_row(place) for place in range(2)]
    lines = [",".join(rows[0]), *(",".join(f'"{value}"' for value in row.values()) for row in rows)]
    (tmp_path / "g.csv").write_text("\n".join(lines), "utf-8")
    (tmp_path / "g.tsv").write_text(
        "\n".join("\t".join(map(str, row)) for row in [rows[0], *(row.values() for row in rows)]),
        "utf-8",
    )
    (tmp_path / "g.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    pa.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "g.parquet")
    pa.feather.write_feather(
        pa.Table.from_pylist(rows), str(tmp_path / "g.arrow"), compression="uncompressed"
    )


@pytest.mark.parametrize("name", ["g.csv", "g.tsv", "g.jsonl", "g.parquet", "g.arrow"])
@pytest.mark.parametrize("memory", [None, 1 << 26])
def test_columns_of_edges_come_from_every_kind_of_table_built_at_once_and_in_steps(
    tmp_path, name, memory
):
    tables(tmp_path)
    graph = build(TripleFile(tmp_path / name, memory=memory), tmp_path / "g", "g")
    assert graph.columns.nodes is None
    found = zip(
        graph.triple_texts(range(2)),
        graph.columns.edges.texts("description"),
        graph.columns.edges.numbers("weight").tolist(),
    )
    assert {text: rest for text, *rest in found} == {
        text: list(rest) for text, rest in EXPECTED_COLUMNS[1].items()
    }
    verify(graph)


def test_a_file_without_columns_gives_the_graph_of_earlier_versions(tmp_path):
    (tmp_path / "g.tsv").write_text("\n".join("\t".join(triple) for triple in TRIPLES), "utf-8")
    graph = build(tmp_path / "g.tsv", tmp_path / "g", "g")
    assert graph.columns is NO_TABLES or not graph.columns
    assert graph.digest == build_in_memory(TRIPLES, "g").digest
    assert not (graph.data_folder / "columns").exists()


def test_weights_of_a_triple_that_comes_twice_are_summed_and_its_descriptions_joined_in_any_order(
    tmp_path,
):
    rows = ["a,r,b,2,second", "a,r,b,0.5,first", "b,r,c,,", "a,r,b,0.5,first", "c,r,a,often,"]
    graphs = []
    for seed in range(3):
        random.Random(seed).shuffle(rows)
        (tmp_path / "g.csv").write_text(
            "\n".join(["head,relation,tail,weight,description", *rows]), "utf-8"
        )
        file = TripleFile(tmp_path / "g.csv")
        graphs.append(build(file, tmp_path / f"g{seed}", "g"))
        said = file.tally.sentences()
        assert (
            NoteWith("1 weight", "no number", "as 1") in said
            and NoteWith("1 triple", "without a weight", "as 1") in said
        )
    assert len({graph.digest for graph in graphs}) == 1
    assert graphs[0].columns.edges.numbers("weight").tolist() == [3.0, 1.0, 1.0]
    assert graphs[0].columns.edges.texts("description") == ["first second", "", ""]


def test_the_source_of_the_relation_is_no_column(tmp_path):
    """The relationships table of microsoft/graphrag has a description but no relation."""
    (tmp_path / "g.csv").write_text(
        "id,source,target,description,weight\n1,A,B,A knows B.,4\n", "utf-8"
    )
    graph = build(TripleFile(tmp_path / "g.csv"), tmp_path / "g", "g")
    assert graph.triple_texts([0]) == ["A -> A knows B. -> B"] and graph.columns.edges.names == (
        "weight",
    )


def test_relations_that_are_left_out_take_their_columns_with_them(tmp_path):
    (tmp_path / "g.csv").write_text(
        "head,relation,tail,weight\na,is,b,7\na,has,c,3\nb,is,c,9\n", "utf-8"
    )
    graph = build(TripleFile(tmp_path / "g.csv", drop=("is",)), tmp_path / "g", "g")
    assert graph.triple_texts([0]) == ["a -> has -> c"] and graph.columns.edges.numbers(
        "weight"
    ).tolist() == [3.0]


def test_bad_lines_left_out_in_steps_do_not_shift_columns(tmp_path):
    (tmp_path / "g.csv").write_text(
        "head,relation,tail,weight\na,r,b,7\nonly\nb,,c,3\nb,r,c,9\n", "utf-8"
    )
    file = TripleFile(tmp_path / "g.csv", skips=True)
    graph = build(file, tmp_path / "g", "g")
    assert graph.columns.edges.numbers("weight").tolist() == [7.0, 9.0]
    assert sum(count for count, _ in file.tally.bad_lines.values()) == 2


def test_lightrag_quotation_marks_and_separators_are_removed(tmp_path):
    held = {
        "nodes": [
            {
                "id": '"ANNA"',
                "entity_type": '"PERSON"',
                "description": '"A sailor."<SEP>"A woman."',
            },
            {"id": "b", "description": "x"},
        ],
        "links": [{"source": '"ANNA"', "target": "b", "weight": float("inf"), "keywords": "k"}],
    }
    (tmp_path / "g.json").write_text(json.dumps(held), "utf-8")
    graph = build(TripleFile(tmp_path / "g.json"), tmp_path / "g", "g")
    assert (
        graph.columns.nodes.texts("type") == ["PERSON", ""]
        and graph.columns.nodes.texts("description")[0] == "A sailor. A woman."
    )
    assert graph.columns.edges is None or not graph.columns.edges.has_column("weight")


def test_edge_ids_give_the_edge_of_each_triple():
    heads, relations, tails = (np.array(ids) for ids in ([1, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 1]))
    assert edge_ids((heads, relations, tails)).tolist() == [2, 0, 2, 1]
    assert edge_ids((np.array([], np.int64),) * 3).tolist() == []


@pytest.mark.parametrize("memory", [None, 1 << 26])
def test_a_single_relation_despite_other_attributes_is_a_warning(tmp_path, memory):
    (tmp_path / "g.csv").write_text(
        "head,type,tail,kind,weight\na,RELATED,b,sails,1\nb,RELATED,c,owns,2\n", "utf-8"
    )
    links = [
        {"source": "a", "target": "b", "label": "RELATED", "kind": "sails"},
        {"source": "b", "target": "a", "label": "RELATED"},
    ]
    (tmp_path / "g.json").write_text(
        json.dumps({"nodes": [{"id": "a"}, {"id": "b"}], "links": links}), "utf-8"
    )
    for name in ("g.csv", "g.json"):
        file = TripleFile(tmp_path / name, memory=memory)
        build(file, tmp_path / f"{name}-g", "g")
        warning = "Every edge has the relation “RELATED”, so methods that go by relations have nothing to go by. Edges also have: kind."
        assert file.tally.warnings == [warning] and warning in file.tally.sentences()
    (tmp_path / "g.csv").write_text("head,relation,tail,weight\na,is,b,1\nb,is,c,2\n", "utf-8")
    file = TripleFile(tmp_path / "g.csv", memory=memory)
    build(file, tmp_path / "plain", "g")
    assert not file.tally.warnings


def test_operators_use_weights_and_descriptions_of_a_file(tmp_path):
    """A walker goes from Hub to A three times as often as to B.

    From A and B it returns to Hub, so that A scores three times as much.
    """
    from core.indexes.vector_blocks import texts_of_items
    from core.operators.nodes.adaptive_reranking import neighbour_lookup
    from core.operators.texts.pagerank import weighted_pagerank

    (tmp_path / "g.csv").write_text(
        "head,relation,tail,weight,description\nHub,near,A,1.5,first\nHub,near,B,0.5,"
        "second\nHub,far,A,0,\n",
        "utf-8",
    )
    (tmp_path / "n.csv").write_text("id,type\nHub,port\nB,ship\n", "utf-8")
    graph = build(TripleFile(tmp_path / "g.csv", nodes=(tmp_path / "n.csv",)), tmp_path / "g", "g")
    a, b, hub = range(3)
    shares = np.array([0.0, 0.0, 1.0])
    scores = weighted_pagerank(graph, shares, 0.85, True)
    assert scores[a] / scores[b] == pytest.approx(3, rel=1e-5)
    even = weighted_pagerank(graph, shares, 0.85, False)
    assert even[a] / even[b] == pytest.approx(2, rel=1e-5)  # Two edges lead to A, one to B.
    assert neighbour_lookup(graph)(hub) == [a, b]
    assert texts_of_items(graph, "nodes", [hub, b]) == ["Hub: port", "B: ship"]
    assert texts_of_items(graph, "relations", [1, 2]) == ["near Hub A first", "near Hub B second"]


@pytest.fixture()
def described_graph(tmp_path):
    as_node_link(tmp_path / "g.json")
    return build(TripleFile(tmp_path / "g.json"), tmp_path / "g", "g")


def test_saved_cases_include_columns(described_graph):
    from core.graph.storage.excerpt import ExcerptGraph, cut_excerpt

    found = ExcerptGraph.thaw(json.loads(json.dumps(cut_excerpt(described_graph, [0, 1], [0]))))
    assert found.names(range(2)) == ["Anna", "The Gull"] and found.columns.nodes.texts("type") == [
        "person",
        "ship",
    ]
    assert found.columns.edges.numbers("weight").tolist() == [2.5] and not found.columns.has_texts


@pytest.mark.parametrize(
    ("kind", "names", "types"),
    [
        ("edge", TRIPLES[0], {"Anna": "person", "The Gull": "ship", "Turku": "city"}),
        ("rename", ("Anna", "Ann"), {"Ann": "person", "The Gull": "ship", "Turku": "city"}),
        ("merge", ("Turku", "The Gull"), {"Anna": "person", "The Gull": "ship"}),
    ],
)
def test_edited_graphs_keep_the_columns_of_the_rest(described_graph, kind, names, types):
    from core.graph.edits import Edit, edit_graph

    found = edit_graph(described_graph, [Edit(kind, names)])
    said = dict(zip(found.names(range(found.n_nodes)), found.columns.nodes.texts("type")))
    assert said == types and len(found.columns.edges) == found.n_edges


def test_a_large_file_notes_that_its_attributes_are_ignored(tmp_path, monkeypatch):
    monkeypatch.setattr("core.graph.large.sources.MAX_WHOLE_TEXT_BYTES", 10)
    (tmp_path / "e.csv").write_text(
        "Source,Label,Target,Weight,Description\nAnna,sails,The Gull,2,She sails it.\n"
    )
    file = TripleFile(tmp_path / "e.csv")
    graph = build(file, tmp_path / "g", "large")
    assert not graph.columns and graph.n_edges == 1
    assert any(
        note.startswith("Not taken: “weight”, “description”. Of a file with more than 128 MB")
        for note in file.tally.sentences()
    )
    (tmp_path / "bare.csv").write_text("Source,Label,Target\nAnna,sails,The Gull\n")
    bare = TripleFile(tmp_path / "bare.csv")
    build(bare, tmp_path / "b", "bare")
    assert not any("128 MB" in note for note in bare.tally.sentences())
    (tmp_path / "e.jsonl").write_text(
        '{"head": "Anna", "relation": "sails", "tail": "The Gull", "weight": 2}\n'
    )
    rows = TripleFile(tmp_path / "e.jsonl")
    build(rows, tmp_path / "r", "rows")
    assert any(
        note.startswith("Types, descriptions, keywords and weights ")
        for note in rows.tally.sentences()
    )
