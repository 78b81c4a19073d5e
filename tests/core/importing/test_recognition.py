"""Recognition of files that fit several importers, and reasons where none fits."""

from __future__ import annotations

import pickle

import pytest

from core.errors import BadInput
from core.importing import IMPORT_SUFFIXES, IMPORTERS, recognise, recognise_together
from core.importing.file_head import HEAD_BYTES
from core.importing.importer import KindName
from tests.core.importing.examples import example


def recognise_text(tmp_path, name, text, **how):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return recognise(path, **how)


@pytest.mark.parametrize(
    ("name", "text", "key", "others"),
    [
        ("a.csv", "source,target,label\n1,2,sails\n", "graph/comma", {"documents/csv"}),
        ("a.csv", "question,answer,gold\nWho?,Ann,d1\n", "questions/csv", {"documents/csv"}),
        ("a.csv", "id,body\n1,Ann sails the ship.\n", "documents/csv", {"graph/nodes"}),
        ("a.csv", "question,contexts,answer\nWho?,\"['a']\",Ann\n", "questions/csv", {"run/rows"}),
        ("a.csv", "Ann,sails,The Gull\nBo,mends,nets\n", "graph/comma", {"documents/csv"}),
        ("a.tsv", "Ann\tsails\tThe Gull\n", "graph/tab", {"documents/csv"}),
        ("a.tsv", f"7\t{'A long passage. ' * 20}\n", "documents/csv", {"questions/queries"}),
        ("a.xml", "<graphml><graph/></graphml>", "graph/graphml", set()),
        ("a.json", '{"nodes": [], "links": []}', "graph/rows", set()),
        ("a.json", '[{"text": "Ann sails."}]', "documents/jsonl", set()),
        (
            "a.jsonl",
            '{"question": "Who?", "answer": "Ann", "graph": []}',
            "questions/rows",
            {"graph/rows"},
        ),
        (
            "a.jsonl",
            '{"question": "Who?", "docs": ["a"], "pred": "Ann"}',
            "run/rows",
            {"questions/rows"},
        ),
    ],
)
def test_an_ambiguous_file_lists_all_importers(tmp_path, name, text, key, others):
    found = [one.importer.key for one in recognise_text(tmp_path, name, text)]
    assert found[0] == key
    assert others <= set(found[1:])


def test_only_the_head_of_a_file_is_read(tmp_path):
    row = '{"question": "Who?", "answer": "Ann", "graph": ['
    found = recognise_text(tmp_path, "a.jsonl", row + '["a", "b", "c"],' * HEAD_BYTES)
    assert found[0].importer.key == "questions/rows"
    (tmp_path / "b.tsv").write_bytes(b"A\tr\tB\n" * HEAD_BYTES + b"\xff\n")
    assert recognise(tmp_path / "b.tsv")[0].importer.key == "graph/tab"


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.pkl", pickle.dumps({}), "pickle"),
        ("a.odt", b"PK\x03\x04", "docx"),
        ("a.dot", b"graph { a -- b }", "GraphML"),
        ("a.bin", bytes(900), "binary"),
        ("a.toml", b"name = 1\n", "name = 1"),
        ("a.dat", b" \n", "empty"),
        ("a.trec", b"\xef\xbb\xbf", "empty"),
    ],
)
def test_an_unknown_file_is_refused_with_a_reason(tmp_path, name, data, why):
    with pytest.raises(BadInput, match=why):
        recognise_text(tmp_path, name, data)


def test_folders_and_addresses(tmp_path):
    with pytest.raises(BadInput, match="no file"):
        recognise(tmp_path)
    (tmp_path / "a.md").write_text("# A")
    assert recognise(tmp_path)[0].importer.key == "documents/files"
    (tmp_path / "corpus.jsonl").write_text("{}")
    (tmp_path / "queries.jsonl").write_text("{}")
    assert recognise(tmp_path)[0].importer.key == "set/beir"
    assert recognise("bolt://localhost:7687")[0].importer.key == "database/bolt"
    with pytest.raises(BadInput, match="A database is named"):
        recognise("ftp://localhost/")


def test_several_files_are_one_graph_or_many_documents(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target,label\n1,2,sails\n2,3,built in\n")
    found = recognise_together([tmp_path / "edges.csv", example("graph/nodes")])
    assert [one.importer.kind for one in found] == ["graph", "documents"]
    read = found[0].importer.read_file(*found[0].paths)
    assert read.items[0] == ("Anna", "sails", "The Gull") and read.notes
    texts = recognise_together([example("documents/pdf"), example("documents/md")])
    assert [one.importer.kind for one in texts] == ["documents"]
    with pytest.raises(BadInput, match="one by one"):
        recognise_together([example("documents/pdf"), example("cases/cases")])


def test_the_reason_for_several_files_names_their_format(tmp_path):
    (tmp_path / "nodes.csv").write_text("id,name\n1,Ann sails the ship.\n")
    (tmp_path / "a.graphml").write_text("<graphml/>")
    paths = [tmp_path / "nodes.csv", tmp_path / "a.graphml"]
    nodes, edges = (
        next(one for one in recognise(path) if one.importer.kind == KindName.GRAPH)
        for path in paths
    )
    assert nodes.confidence < edges.confidence and nodes.reason != edges.reason
    graph = next(one for one in recognise_together(paths) if one.importer.kind == KindName.GRAPH)
    assert (graph.importer, graph.reason) == (edges.importer, edges.reason)
    assert graph.confidence == nodes.confidence


def test_the_command_names_a_format_only_if_needed(tmp_path):
    (found,) = recognise_text(tmp_path, "a.xml", "<graphml/>")
    assert found.arguments("gull")[:4] == ["build", found.paths[0], "--format", "graphml"]
    assert "--format" not in recognise(example("graph/turtle"))[0].command
    questions = recognise(example("questions/csv"))[0]
    assert questions.needs_source
    assert questions.arguments("q", ("--corpus", "boats"))[2:] == [
        "--corpus",
        "boats",
        "--name",
        "q",
    ]


def test_suffixes_are_those_of_all_importers():
    assert {".ttl", ".pdf", ".zip", ".gz", ".cases.gz"} <= set(IMPORT_SUFFIXES)
    assert len(IMPORTERS) > 70 and all(one.startswith(".") for one in IMPORT_SUFFIXES)
