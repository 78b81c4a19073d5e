"""Node tables next to an edge file, as Gephi, Neo4j, microsoft/graphrag, KGX and people write
them.
"""

from __future__ import annotations

import json

import pytest

from core.cli import main
from core.errors import BadInput
from core.graph.building.build import build
from core.graph.readers.triple_file import TripleFile, sort_graph_files
from tests.notes import NoteWith

TWO = [("Anna", "sails", "The Gull"), ("The Gull", "built in", "Turku")]
GEPHI = (
    "Id,Label,Type,Description\n1,Anna,person,A sailor.\n2,The Gull,ship,\n3,Turku,city,\n",
    "Source,Target,Type,Id,Label,Weight\n1,2,Directed,0,sails,2.5\n2,3,Directed,1,built in,1\n",
)
NEO4J = (
    "personId:ID(All),name,born:int,:LABEL\n1,Anna,1880,Person;Sailor\n2,The Gull,,Ship\n"
    "3,Turku,,City\n",
    ":START_ID(All),:END_ID(All),:TYPE,weight:float\n1,2,sails,2.5\n2,3,built in,1\n",
)
KGX = (
    "id\tname\tcategory\nX:1\tAnna\tbiolink:Person\nX:2\tThe Gull\tship\nX:3\tTurku\tcity\n",
    "subject\tpredicate\tobject\nX:1\tsails\tX:2\nX:2\tbuilt in\tX:3\n",
)
NEPTUNE = (
    "~id,~label,name:String\n1,person,Anna\n2,ship,The Gull\n3,city,Turku\n",
    "~id,~from,~to,~label\ne1,1,2,sails\ne2,2,3,built in\n",
)


def write_tables(folder, nodes: str, edges: str, suffix: str = ".csv"):
    (folder / f"nodes{suffix}").write_text(nodes, "utf-8")
    (folder / f"edges{suffix}").write_text(edges, "utf-8")
    return folder / f"edges{suffix}", folder / f"nodes{suffix}"


@pytest.mark.parametrize(
    ("tables", "suffix", "types"),
    [
        (GEPHI, ".csv", ["person", "ship", "city"]),
        (NEO4J, ".csv", ["Person, Sailor", "Ship", "City"]),
        (KGX, ".tsv", ["biolink:Person", "ship", "city"]),
        (NEPTUNE, ".csv", ["person", "ship", "city"]),
    ],
    ids=["gephi", "neo4j", "kgx", "neptune"],
)
@pytest.mark.parametrize("memory", [None, 1 << 26])
def test_entities_are_named_by_the_labels_of_the_table(tmp_path, tables, suffix, types, memory):
    edges, nodes = write_tables(tmp_path, *tables, suffix)
    for file in (
        TripleFile(edges, nodes=(nodes,), memory=memory),
        sort_graph_files([nodes, edges], memory=memory),
        sort_graph_files([edges, nodes]),
    ):
        graph = build(file, tmp_path / "g", "g")
        assert sorted(graph.triple_texts(range(2))) == sorted(" -> ".join(triple) for triple in TWO)
        assert (
            graph.names(range(3)) == ["Anna", "The Gull", "Turku"]
            and graph.columns.nodes.texts("type") == types
        )


def test_ids_of_neo4j_are_unique_in_their_space_only(tmp_path):
    people, ships = tmp_path / "people.csv", tmp_path / "ships.csv"
    people.write_text(":ID(Person),name,:LABEL\n1,Anna,Person\n2,Bo,Person\n", "utf-8")
    ships.write_text(":ID(Ship),name,:LABEL\n1,The Gull,Ship\n", "utf-8")
    edges = tmp_path / "edges.csv"
    edges.write_text(":START_ID(Person),:END_ID(Ship),:TYPE\n1,1,sails\n2,1,paints\n", "utf-8")
    assert list(sort_graph_files([people, ships, edges]).read()) == [
        ("Anna", "sails", "The Gull"),
        ("Bo", "paints", "The Gull"),
    ]


def test_unknown_ids_of_two_spaces_are_two_entities(tmp_path):
    people, ships = tmp_path / "people.csv", tmp_path / "ships.csv"
    people.write_text(":ID(Person),name,:LABEL\n1,Anna,Person\n", "utf-8")
    ships.write_text(":ID(Ship),name,:LABEL\n1,The Gull,Ship\n", "utf-8")
    edges = tmp_path / "edges.csv"
    edges.write_text(":START_ID(Person),:END_ID(Ship),:TYPE\n7,7,sails\n7,1,paints\n", "utf-8")
    (person, _, ship), (painter, _, gull) = sort_graph_files([people, ships, edges]).read()
    assert person != ship and painter == person and gull == "The Gull"


def test_relationships_of_microsoft_name_their_ends_by_title(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    entities = pa.table(
        {
            "id": ["e-1", "e-2"],
            "human_readable_id": [0, 1],
            "title": ["ANNA", "TURKU"],
            "type": ["PERSON", "GEO"],
        }
    )
    entities = entities.append_column("description", pa.array(["A sailor.", None]))
    links = {
        "id": ["r-1"],
        "source": ["ANNA"],
        "target": ["TURKU"],
        "description": ["Anna lives in Turku."],
        "weight": [9.0],
    }
    pa.parquet.write_table(entities, tmp_path / "entities.parquet")
    pa.parquet.write_table(pa.table(links), tmp_path / "relationships.parquet")
    file = sort_graph_files([tmp_path / "entities.parquet", tmp_path / "relationships.parquet"])
    graph = build(file, tmp_path / "g", "g")
    assert graph.triple_texts([0]) == ["ANNA -> Anna lives in Turku. -> TURKU"]
    assert graph.columns.nodes.texts("type") == ["PERSON", "GEO"] and graph.columns.nodes.texts(
        "description"
    ) == ["A sailor.", ""]
    assert graph.columns.edges.numbers("weight").tolist() == [9.0]


def test_ids_that_the_table_lacks_and_nodes_without_edges_are_counted(tmp_path):
    edges, nodes = write_tables(
        tmp_path,
        GEPHI[0] + "4,Nobody,person,\n",
        GEPHI[1] + "3,9,Directed,2,near,1\n9,1,Directed,3,near,1\n",
    )
    file = sort_graph_files([edges, nodes])
    assert list(file.read())[2:] == [("Turku", "near", "9"), ("9", "near", "Anna")]
    said = file.tally.sentences()
    assert NoteWith("1 id", "edges", "not in the table", "“9”") in said
    assert NoteWith("1 node", "no edge", "left out") in said
    assert NoteWith("nodes.csv", "known by “id”", "called by “label”") in said


def test_two_nodes_of_one_label_stay_two(tmp_path):
    edges, nodes = write_tables(
        tmp_path,
        "id,label\n1,Paris\n2,Paris\n3,\n",
        "source,relation,target\n1,near,2\n2,near,3\n3,near,Paris\n",
    )
    assert list(sort_graph_files([edges, nodes]).read()) == [
        ("Paris", "near", "Paris (2)"),
        ("Paris (2)", "near", "3"),
        ("3", "near", "Paris"),
    ]


def test_a_table_without_a_header_is_ids_and_labels_where_it_is_named(tmp_path):
    edges, nodes = write_tables(tmp_path, "Q1\tAnna\nQ2\tThe Gull\n", "Q1\tsails\tQ2\n", ".tsv")
    file = TripleFile(edges, nodes=(nodes,))
    assert list(file.read()) == TWO[:1]
    assert NoteWith("nodes.tsv", "no header", "id and label") in file.tally.sentences()


def test_tables_of_json_rows_and_packed_ones(tmp_path):
    import gzip

    rows = [
        {"id": place, "name": name, "type": "x"}
        for place, name in enumerate(("Anna", "The Gull", "Turku"))
    ]
    with gzip.open(tmp_path / "nodes.jsonl.gz", "wt") as stream:
        stream.write("\n".join(map(json.dumps, rows)))
    (tmp_path / "edges.jsonl").write_text(
        '{"from": 0, "to": 1, "type": "sails"}\n{"from": 1, "to": 2, "type": "built in"}\n', "utf-8"
    )
    assert (
        list(sort_graph_files([tmp_path / "nodes.jsonl.gz", tmp_path / "edges.jsonl"]).read())
        == TWO
    )


def test_several_files_of_edges_are_one_graph(tmp_path):
    for place, triple in enumerate(TWO):
        (tmp_path / f"{place}.tsv").write_text("\t".join(triple), "utf-8")
    assert list(sort_graph_files([tmp_path / "0.tsv", tmp_path / "1.tsv"]).read()) == TWO
    with pytest.raises(BadInput, match="2 files of edges .*128 MB"):
        build(
            sort_graph_files([tmp_path / "0.tsv", tmp_path / "1.tsv"], memory=1 << 26),
            tmp_path / "g",
            "g",
        )


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (
            "a,b,c\n1,2,3\n",
            "line 1: expected a header that names columns such as id, label, type, description",
        ),
        ("", "expected a header"),
        ("id,label\n", "nodes.csv holds no nodes"),
        ("id,label\n,\n", "line 2: the column “id” is empty"),
    ],
)
def test_other_tables_are_refused_as_node_tables(tmp_path, nodes, words):
    edges, table = write_tables(tmp_path, nodes, "source,relation,target\n1,near,2\n")
    with pytest.raises(BadInput, match=words):
        list(TripleFile(edges, nodes=(table,)).read())


def test_tables_of_nodes_alone_are_no_graph(tmp_path):
    edges, nodes = write_tables(tmp_path, GEPHI[0], GEPHI[0])
    with pytest.raises(BadInput, match="None of these files holds edges"):
        sort_graph_files([edges, nodes])


def test_the_command_takes_both_files_and_reports_them(tmp_path, capsys):
    edges, nodes = write_tables(tmp_path, *GEPHI)
    assert main(["build", str(edges), "--nodes", str(nodes), "--out", str(tmp_path / "g")]) == 0
    assert "3 entities, 2 triples, 2 relations" in capsys.readouterr().out
    assert main(["build", str(edges), str(nodes), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert (
        "Anna -> sails -> The Gull" in said
        and "of nodes, type from “type”, description from “description”" in said
    )


def test_a_zip_is_unpacked_and_read_as_its_files(tmp_path, capsys):
    import zipfile

    edges, nodes = write_tables(tmp_path, *NEO4J)
    with zipfile.ZipFile(tmp_path / "import.zip", "w") as archive:
        for file in (edges, nodes):
            archive.write(file, f"import/{file.name}")
    assert main(["build", str(tmp_path / "import.zip"), "--out", str(tmp_path / "g")]) == 0
    said = capsys.readouterr().out
    assert "3 entities, 2 triples" in said and "edges.csv" in said


def test_triple_and_label_files_are_distinguished_by_content(tmp_path):
    (tmp_path / "labels.nt").write_text(
        '<http://a/1> <http://www.w3.org/2000/01/rdf-schema#label> "Anna"@en .\n', "utf-8"
    )
    (tmp_path / "triples.ttl").write_text(
        "<http://a/1> <http://a/sails> <http://a/gull> .\n", "utf-8"
    )
    assert list(sort_graph_files([tmp_path / "labels.nt", tmp_path / "triples.ttl"]).read()) == [
        ("Anna", "sails", "gull")
    ]


def test_a_preview_does_not_count_nodes_of_later_edges_as_unused(tmp_path):
    edges, nodes = write_tables(tmp_path, *GEPHI)
    file = sort_graph_files([edges, nodes])
    next(iter(file.read()))
    assert not any("no edge" in sentence for sentence in file.tally.sentences())
