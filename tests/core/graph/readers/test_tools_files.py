"""Files as graph tools export them: APOC's JSON, GML with parallel edges, list cells, labels in
many languages.
"""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from core.graph.readers.triple_file import TripleFile

TRIPLES = [("Ann Lee", "KEEPS", "The Gull"), ("The Gull", "LIES_OFF", "Port Ness")]
NODES = [
    {"type": "node", "id": str(id), "labels": [kind], "properties": {"name": name, "since": id}}
    for id, (kind, name) in enumerate(
        (("Person", "Ann Lee"), ("Boat", "The Gull"), ("Place", "Port Ness"))
    )
]


def relationship(id, label, start, end, whole):
    ends = {
        key: {name: node[name] for name in ("id", "labels", *(("properties",) if whole else ()))}
        for key, node in (("start", NODES[start]), ("end", NODES[end]))
    }
    return {"id": str(id), "type": "relationship", "label": label, "properties": {"x": 1}, **ends}


def exported_rows(whole):
    return [relationship(0, "KEEPS", 0, 1, whole), relationship(1, "LIES_OFF", 1, 2, whole)]


def lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows)


APOC = {
    "lines": lines([*NODES, *exported_rows(True)]),
    "ends without properties": lines([*NODES, *exported_rows(False)]),
    "relationships first": lines([*exported_rows(False), *NODES]),
    "relationships alone": lines(exported_rows(True)),
    "array": json.dumps([*NODES, *exported_rows(True)], indent=1),
    "object": json.dumps({"nodes": NODES, "rels": exported_rows(True)}),
    "object by ids": json.dumps(
        {
            "nodes": {node["id"]: node for node in NODES},
            "rels": {one["id"]: one for one in exported_rows(False)},
        }
    ),
    "ids as ends": lines(
        [
            *NODES,
            *(
                {**one, "start": one["start"]["id"], "end": one["end"]["id"]}
                for one in exported_rows(False)
            ),
        ]
    ),
}


def read(folder, name, text, **how):
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    file = TripleFile(folder / name, **how)
    return list(file.read()), file


@pytest.mark.parametrize("form", APOC)
def test_exports_of_a_property_graph(tmp_path, form):
    triples, file = read(tmp_path, "export.json", APOC[form])
    assert triples == TRIPLES
    assert file.attributes.nodes["Ann Lee"]["type"] == "Person"


GML = """Creator "a graph [of mine]"
graph
[
  directed 1
  node [ id 0 label "Ann Lee" ]
  node [ id 1 label "The Gull" ]
  edge [ source 0 target 1 label "owns" ]
  edge [ source 0 target 1 label "mended" ]
]
"""


@pytest.mark.parametrize("before", ["", "  multigraph 0\n", "  multigraph 1\n", "\ufeff"])
def test_two_nodes_of_gml_may_have_several_edges(tmp_path, before):
    if before == "\ufeff":
        text = before + GML
    else:
        text = GML.replace("[\n  directed", f"[\n{before}  directed")
    triples, _ = read(tmp_path, "g.gml", text)
    assert triples == [("Ann Lee", "owns", "The Gull"), ("Ann Lee", "mended", "The Gull")]


def test_lists_in_cells_are_a_triple_for_each_name(tmp_path):
    rows = {"head": ["Ann Lee", "Bo"], "relation": ["met", "met"], "tail": [["Cy", "Di"], ["Eve"]]}
    parquet.write_table(pa.table(rows), tmp_path / "t.parquet")
    file = TripleFile(tmp_path / "t.parquet")
    assert list(file.read()) == [
        ("Ann Lee", "met", "Cy"),
        ("Ann Lee", "met", "Di"),
        ("Bo", "met", "Eve"),
    ]
    assert any("lists" in note for note in file.tally.notes)
    row = {"head": "Ann Lee", "relation": "met", "tail": ["Cy", "Di"], "weight": 2}
    triples, file = read(tmp_path, "t.jsonl", lines([row]))
    assert [tail for _, _, tail in triples] == ["Cy", "Di"]
    assert file.attributes.first_rows(2)["weight"] == [2.0, 2.0]


def test_an_empty_list_is_an_empty_name(tmp_path):
    parquet.write_table(
        pa.table(
            {"head": ["Ann"], "relation": ["met"], "tail": pa.array([[]], pa.list_(pa.string()))}
        ),
        tmp_path / "t.parquet",
    )
    with pytest.raises(Exception, match="tail is empty"):
        list(TripleFile(tmp_path / "t.parquet").read())


LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


@pytest.mark.parametrize(
    "tags, wanted, named",
    [
        (("hu", "mul"), "", "mul"),
        (("en", "mul"), "", "en"),
        (("en-GB", "mul"), "", "en-GB"),
        (("en", "mul", "hu"), "de", "mul"),
        (("en", "hu"), "de", "en"),
        (("", "hu"), "de", ""),
        (("hu",), "de", "hu"),
    ],
)
def test_labels_of_all_languages_come_before_english_and_any(tmp_path, tags, wanted, named):
    said = [f'<http://a/1> {LABEL} "name {tag}"{f"@{tag}" if tag else ""} .\n' for tag in tags]
    text = "".join([*said, "<http://a/1> <http://a/keeps> <http://a/2> .\n"])
    triples, _ = read(tmp_path, "t.nt", text, language=wanted)
    assert triples == [(f"name {named}".strip() if named else "name", "keeps", "2")]


@pytest.mark.parametrize("name", ["t.ttl", "t.trig", "t.jsonld"])
def test_a_byte_order_mark_before_rdf_is_no_part_of_it(tmp_path, name):
    text = "@prefix : <http://a/> . :Ann :keeps :Gull ."
    text = text
    if name == "t.jsonld":
        text = '{"@id": "http://a/Ann", "http://a/keeps": {"@id": "http://a/Gull"}}'
    assert read(tmp_path, name, text.encode("utf-8-sig"))[0] == [("Ann", "keeps", "Gull")]
    assert read(tmp_path, name, text.encode("utf-16"))[0] == [("Ann", "keeps", "Gull")]
