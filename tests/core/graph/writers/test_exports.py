"""Exported graphs are read by other tools, and by our own readers as the same graph."""

from __future__ import annotations

import csv
import random

import pytest

from core.cli import main
from core.errors import BadInput
from core.graph.building.build import build, build_in_memory
from core.graph.building.text_graph import assemble
from core.graph.columns import Table
from core.graph.readers.triple_file import sort_graph_files
from core.graph.writers import exports, parts
from core.graph.writers.exports import (
    EXPORT_FORMATS,
    default_export_name,
    export_graph,
    unwritten_sentences,
)
from core.watch import Watch
from tests.notes import NoteWith

NODES = [
    "Anna",
    "The Gull",
    "Turku",
    "<script>alert('1')</script> & co",
    'a "quoted", name; with\ttab'.replace("\t", " "),
    "naïve 🎬",
    "|",
]
TRIPLES = [
    ("Anna", "sails", "The Gull"),
    ("Anna", "owns & loves", "The Gull"),
    ("The Gull", "built in", "Turku"),
    ("Turku", "<near>", NODES[3]),
    (NODES[3], 'is "not"', NODES[4]),
    (NODES[4], "r\\n", NODES[5]),
    (NODES[5], "self", NODES[5]),
    (NODES[6], "sails", "Anna"),
]
SAID = {
    "type": ["person, sailor", "ship", "", "<b>", "", "", ""],
    "description": ["A sailor, of Turku.", "", "City; old.", "a<b", "", "é", ""],
}
OF_EDGES = {
    "description": ["daily", "", "in 1907", "x > y", "", "", "", ""],
    "keywords": ["sea, ship", *[""] * 7],
    "weight": [2.5, 1.0, 1.0, 0.5, 1.0, 3.0, 1.0, 1.0],
}


def described_graph(**kwargs):
    return assemble("g", NODES, TRIPLES, SAID, OF_EDGES, **kwargs)


def read_back(out, folder, **how):
    """Build the graph that our readers find in the written files."""
    files = sorted(out.iterdir()) if out.is_dir() else [out]
    file = sort_graph_files(files, **how)
    return build(file, folder, "g"), file.tally.sentences()


def export_to(graph, format, tmp_path):
    out = tmp_path / default_export_name("g", format)
    export_graph(graph, format, out)
    return out


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_triples_come_back_as_the_very_same_graph(tmp_path, format, monkeypatch):
    monkeypatch.setattr(parts, "PART_ROWS", 3)  # Forces many parts.
    graph = build_in_memory(TRIPLES, "g")
    found, _ = read_back(export_to(graph, format, tmp_path), tmp_path / "again")
    assert found.digest == graph.digest and not found.columns


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_columns_come_back_too_as_far_as_the_format_holds_them(tmp_path, format):
    graph = described_graph()
    found, _ = read_back(
        export_to(graph, format, tmp_path), tmp_path / "again", literals="attributes"
    )
    assert found.columns.nodes.arrow.equals(graph.columns.nodes.arrow)
    if format == "turtle":
        assert found.columns.edges is None
        assert unwritten_sentences(graph, format) == [
            NoteWith("descriptions, keywords, weights", "not written")
        ]
    else:
        assert found.digest == graph.digest and unwritten_sentences(graph, format) == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_any_graph_comes_back(tmp_path, format, seed):
    rng = random.Random(seed)
    names = [
        "ß",
        "e\u0301",
        "é",
        "İ",
        "x" * 300,
        "0",
        "00",
        "_:b",
        "http://a/b",
        "<iri>",
        "a'b",
        "\\",
        "%20",
        "–",
        "=1+1",
        "NaN",
        "null",
        "n0",
    ]
    triples = [(rng.choice(names), f"r{rng.randrange(4)}", rng.choice(names)) for _ in range(60)]
    graph = build_in_memory(triples, "g")
    assert (
        read_back(export_to(graph, format, tmp_path), tmp_path / "again")[0].digest == graph.digest
    )


def test_networkx_and_igraph_read_the_graphml(tmp_path):
    networkx, igraph = pytest.importorskip("networkx"), pytest.importorskip("igraph")
    graph = described_graph()
    out = export_to(graph, "graphml", tmp_path)
    found = networkx.read_graphml(out, force_multigraph=True)
    label = found.nodes(data="label")
    triples = {
        (label[a], about["relation"], label[b], about["weight"])
        for a, b, about in found.edges(data=True)
    }
    assert triples == {(*triple, weight) for triple, weight in zip(TRIPLES, OF_EDGES["weight"])}
    assert {about["label"]: about.get("type", "") for _, about in found.nodes(data=True)} == dict(
        zip(NODES, SAID["type"])
    )
    other = igraph.Graph.Read_GraphML(str(out))
    names = other.vs["label"]
    assert {(names[edge.source], edge["relation"], names[edge.target]) for edge in other.es} == set(
        TRIPLES
    )


def test_pyoxigraph_reads_the_turtle(tmp_path):
    pyoxigraph = pytest.importorskip("pyoxigraph")
    statements = list(pyoxigraph.parse(path=str(export_to(described_graph(), "turtle", tmp_path))))
    label = {s.subject: s.object.value for s in statements if s.predicate.value.endswith("#label")}
    found = {
        (label[s.subject], label[s.predicate], label[s.object])
        for s in statements
        if s.object in label
    }
    assert found == set(TRIPLES)


def test_pandas_reads_the_tables(tmp_path):
    pandas = pytest.importorskip("pandas")
    graph = described_graph()
    edges = pandas.read_parquet(export_to(graph, "parquet", tmp_path) / "edges.parquet")
    assert set(zip(edges["head"], edges["relation"], edges["tail"])) == set(TRIPLES)
    folder = export_to(graph, "neo4j", tmp_path)
    nodes = pandas.read_csv(folder / "nodes.csv", keep_default_na=False)
    assert dict(zip(nodes["name"], nodes[":LABEL"]))["Anna"] == "person;sailor"
    with open(folder / "edges.csv", encoding="utf-8", newline="") as stream:
        assert next(csv.reader(stream)) == [
            ":START_ID",
            ":TYPE",
            ":END_ID",
            "description",
            "keywords",
            "weight:float",
        ]


def test_what_xml_cannot_hold_is_marked(tmp_path):
    found, _ = read_back(
        export_to(build_in_memory([("a\x01b", "r", "c")], "g"), "graphml", tmp_path),
        tmp_path / "again",
    )
    assert found.triple_texts([0]) == ["a\ufffdb -> r -> c"]


def test_exporting_a_graph_of_texts_notes_that_texts_are_not_written():
    graph = described_graph(chunks=Table.from_columns(id=["c#0"], text=["Anna sails."]))
    assert unwritten_sentences(graph, "graphml") == [
        NoteWith("Texts, communities and reports", "not written")
    ]


def test_exports_overwrite_no_file_and_leave_nothing_after_a_failure(tmp_path, monkeypatch):
    graph, out = build_in_memory(TRIPLES, "g"), tmp_path / "g.ttl"
    out.write_text("mine")
    with pytest.raises(BadInput, match="is there already"):
        export_graph(graph, "turtle", out)
    assert out.read_text() == "mine"
    with pytest.raises(BadInput, match="There is no format “xls”"):
        export_graph(graph, "xls", tmp_path / "g")

    def stop():
        raise KeyboardInterrupt

    for format in EXPORT_FORMATS:
        with pytest.raises(KeyboardInterrupt):
            export_graph(graph, format, tmp_path / f"x-{format}", Watch(stop))
    assert [file.name for file in tmp_path.iterdir()] == ["g.ttl"]


def test_the_command_writes_and_reads_again(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    build([("Anna", "sails", "The Gull")], tmp_path / "home/graphs/mine", "mine")
    for format, one in EXPORT_FORMATS.items():
        out = tmp_path / f"out{one.suffix or format}"
        assert main(["graph", "export", "mine", "--format", format, "--out", str(out)]) == 0
        assert "2 entities, 1 triples in " in capsys.readouterr().out
        files = sorted(map(str, out.iterdir())) if out.is_dir() else [str(out)]
        assert (
            main(["build", *files, "--dry-run"]) == 0
            and "Anna -> sails -> The Gull" in capsys.readouterr().out
        )
    assert main(["graph", "export", "mine", "--format", format, "--out", str(out)]) == 2
    assert main(["graph", "export", "nothing-here"]) == 2
    assert exports.default_export_name("mine", "neo4j") == "mine-neo4j"
