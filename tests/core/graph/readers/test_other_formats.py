"""Tables with other headers, edge lists, JSON, Parquet and network files, and the notes on each.

The files look as other tools write them.
"""

from __future__ import annotations

import json

import pytest

from core.cli import main
from core.errors import BadInput
from core.graph.building.build import build
from core.graph.readers.triple_file import TripleFile
from tests.notes import NoteWith
from tests.triples import read_triples

TWO = [("Anna", "sails", "The Gull"), ("The Gull", "built in", "Turku")]


def read(tmp_path, text: str | bytes, name: str, **how):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    file = TripleFile(tmp_path / name, **how)
    return list(file.read()), file.tally.sentences()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "e.tsv",
            "entity1\trelation\tentity2\nAnna\tsails\tThe Gull\nThe Gull\tbuilt in\tTurku\n",
            "head from “entity1”",
        ),
        (
            "f.csv",
            "From,Rel,To\nAnna,sails,The Gull\nThe Gull,built in,Turku\n",
            "relation from “Rel”",
        ),
        (
            "g.csv",
            "Source,Target,Type,Id,Label,Weight\nAnna,The Gull,Directed,0,sails,1.0\nThe "
            "Gull,Turku,Directed,1,built in,2.0\n",
            "relation from “Label”, tail from “Target”; not read: Type, Id. Also taken: of edges, weight from “weight”.",
        ),
        (
            "n.csv",
            ":START_ID,:END_ID,:TYPE\nAnna,The Gull,sails\nThe Gull,Turku,built in\n",
            "relation from “:TYPE”",
        ),
        (
            "d.csv",
            "id,source,target,description,weight\n1,Anna,The Gull,sails,2\n2,The Gull,"
            "Turku,built in,1\n",
            "relation from “description”",
        ),
        (
            "s.csv",
            "\ufeffhead;relation;tail\r\nAnna;sails;The Gull\r\nThe Gull;built in;Turku\r\n",
            "",
        ),
    ],
)
def test_headers_of_other_tools_determine_the_columns(tmp_path, name, text, said):
    triples, sentences = read(tmp_path, text, name)
    assert triples == TWO and (said in " ".join(sentences)) and bool(said) == bool(sentences)
    large = build(TripleFile(tmp_path / name, memory=1 << 26), tmp_path / "large", "g")
    assert sorted(large.triple_texts(range(2))) == [" -> ".join(triple) for triple in TWO]


def test_a_header_above_chosen_columns_is_skipped_with_a_note(tmp_path):
    triples, sentences = read(
        tmp_path, "from,to,what\nAnna,The Gull,sails\n", "c.csv", columns=(1, 3, 2)
    )
    assert (
        triples == TWO[:1]
        and "head from “from”, relation from “what”, tail from “to”" in sentences[0]
    )
    assert read(tmp_path, "Anna,The Gull,sails\n", "c.csv", columns=(1, 3, 2)) == (TWO[:1], [])


@pytest.mark.parametrize("name", ["w.tsv", "w.csv"])
def test_a_weighted_edge_list_is_no_list_of_triples(tmp_path, name):
    text = "Alpha\tBeta\t3\nBeta\tGamma\t1.5\n".replace("\t", "\t" if name == "w.tsv" else ",")
    with pytest.raises(BadInput, match="links without relations"):
        read(tmp_path, text, name)
    with pytest.raises(BadInput, match="links without relations"):
        build(TripleFile(tmp_path / name, memory=1 << 26), tmp_path / "large", "g")
    triples, sentences = read(tmp_path, text, name, format="edges")
    assert triples == [("Alpha", "connected_to", "Beta"), ("Beta", "connected_to", "Gamma")]
    assert sentences == [
        NoteWith("without relations", "connected_to"),
        NoteWith("taken", "edges", "weight from “weight”"),
    ]


def test_numbers_as_tails_stay_triples(tmp_path):
    assert read(tmp_path, "Anna\tage\t31\nBob\tage\t44\n", "a.tsv")[0] == [
        ("Anna", "age", "31"),
        ("Bob", "age", "44"),
    ]
    # A graph with numbers as names.
    assert read(tmp_path, "1\t2\t3\n2\t2\t1\n", "i.tsv")[0] == [("1", "2", "3"), ("2", "2", "1")]


def test_an_edge_list_of_networkx_by_blanks_with_comments(tmp_path):
    text = "# a graph\nanna gull {'weight': 3}\ngull turku {}\nlonely\n"
    (tmp_path / "g.edgelist").write_text(text.replace("lonely\n", ""), "utf-8")
    assert [triple[::2] for triple in read_triples(tmp_path / "g.edgelist")] == [
        ("anna", "gull"),
        ("gull", "turku"),
    ]
    (tmp_path / "g.edgelist").write_text(text, "utf-8")
    with pytest.raises(BadInput, match="line 4: .*“lonely”"):
        list(read_triples(tmp_path / "g.edgelist"))


def test_quoted_names_between_tabs_are_read_or_noted(tmp_path):
    text = 'head\trelation\ttail\nAnna\tsails\t"The ""Gull"""\n'
    triples, sentences = read(tmp_path, text, "q.tsv")
    assert (
        triples == [("Anna", "sails", '"The ""Gull"""')]
        and "read the file as tab-quoted" in sentences[0]
    )
    assert read(tmp_path, text + '"a\tb"\tis\tc\n', "q.tsv", format="tab-quoted")[0] == [
        ("Anna", "sails", 'The "Gull"'),
        ("a\tb", "is", "c"),
    ]
    with pytest.raises(BadInput, match="line 3: found 4 columns, .* 3. "):
        read(tmp_path, text + '"a\tb"\tis\tc\n', "q.tsv")


NODES = [
    {"id": "n0", "label": "Anna"},
    {"id": "n1", "label": "The Gull"},
    {"id": "n2", "label": "Turku"},
]
LINKS = [
    {"source": "n0", "target": "n1", "relation": "sails"},
    {"source": "n1", "target": "n2", "relation": "built in"},
]
VIS = [{"from": one["source"], "to": one["target"], "label": one["relation"]} for one in LINKS]
CYTOSCAPE = {
    "nodes": [{"data": {"id": one["id"], "name": one["label"]}} for one in NODES],
    "edges": [
        {"data": {"source": one["source"], "target": one["target"], "interaction": one["relation"]}}
        for one in LINKS
    ],
}
D3 = {
    "nodes": [{"name": one["label"]} for one in NODES],
    "links": [
        {"source": 0, "target": 1, "type": "sails"},
        {"source": 1, "target": 2, "type": "built in"},
    ],
}


@pytest.mark.parametrize(
    "held",
    [
        {"directed": True, "graph": {}, "nodes": NODES, "links": LINKS},
        {"directed": True, "nodes": NODES, "edges": LINKS},
        {"nodes": NODES, "edges": VIS},
        {"elements": CYTOSCAPE},
        D3,
        {"graph": {"nodes": {one["id"]: {"label": one["label"]} for one in NODES}, "edges": LINKS}},
        [{"subject": a, "predicate": b, "object": c} for a, b, c in TWO],
        {"data": [{"Head": a, "relation": b, "tail": {"name": c}} for a, b, c in TWO]},
        {
            "docs": [
                {"passage": "…", "extracted_triples": [list(TWO[0]), ["too", "short"]]},
                {"extracted_triples": [list(TWO[1])]},
            ]
        },
    ],
    ids=[
        "node-link",
        "networkx 3",
        "vis",
        "cytoscape.js",
        "d3 by place",
        "json graph format",
        "rows",
        "rows in data",
        "openie",
    ],
)
def test_json_of_other_tools(tmp_path, held):
    triples, sentences = read(tmp_path, json.dumps(held), "g.json")
    assert triples == TWO
    assert sentences or "docs" in held
    assert read(tmp_path, json.dumps(held, indent=2), "h.json")[0] == TWO


def test_other_json_is_refused_with_the_known_forms(tmp_path):
    with pytest.raises(BadInput, match="colour, size"):
        read(tmp_path, '{"colour": "red", "size": 3}\n', "g.jsonl")
    with pytest.raises(BadInput, match="link 1 "):
        read(
            tmp_path,
            json.dumps({"nodes": NODES, "links": [{"source": "n0", "target": "n9"}]}),
            "g.json",
        )


def test_nodes_with_equal_labels_get_different_names(tmp_path):
    nodes = [{"id": 1, "label": "Paris"}, {"id": 2, "label": "Paris"}]
    held = {"nodes": nodes, "links": [{"source": 1, "target": 2, "weight": 2}]}
    triples, sentences = read(tmp_path, json.dumps(held), "g.json")
    assert triples == [("Paris", "connected_to", "Paris (2)")]
    assert sentences == [
        NoteWith("Nodes and links", "no key", "“connected_to”"),
        NoteWith("taken", "edges", "weight from “weight”"),
    ]


def networkx_graph():
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiDiGraph()
    for one in NODES:
        graph.add_node(one["label"])
    for head, relation, tail in TWO:
        graph.add_edge(head, tail, relation=relation)
    return networkx, graph


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        (".gexf", "write_gexf"),
        (".gml", "write_gml"),
        (".net", "write_pajek"),
        (".graphml", "write_graphml"),
    ],
)
def test_files_written_by_networkx_are_read(tmp_path, suffix, write):
    networkx, graph = networkx_graph()
    getattr(networkx, write)(graph, tmp_path / f"g{suffix}")
    assert sorted(read_triples(tmp_path / f"g{suffix}")) == sorted(TWO)


def test_tables_of_parquet_and_arrow(tmp_path):
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    heads, relations, tails = zip(*TWO)
    table = pa.table(
        {
            "id": [1, 2],
            "source": heads,
            "target": tails,
            "description": relations,
            "weight": [1.0, 2.0],
        }
    )
    pa.parquet.write_table(table, tmp_path / "g.parquet")
    pa.feather.write_feather(table, str(tmp_path / "g.feather"), compression="uncompressed")
    for name in ("g.parquet", "g.feather"):
        file = TripleFile(tmp_path / name)
        assert list(file.read()) == TWO
        assert file.tally.sentences() == [
            NoteWith(
                "head from “source”",
                "relation from “description”",
                "tail from “target”",
                "not read: id",
            ),
            NoteWith("taken", "edges", "weight from “weight”"),
        ]
        assert list(TripleFile(tmp_path / name, columns=(2, 1, 3)).read())[0] == (
            "Anna",
            "1",
            "The Gull",
        )
    pa.parquet.write_table(table.select(["id", "weight"]), tmp_path / "g.parquet")
    with pytest.raises(BadInput, match="columns id, weight"):
        list(read_triples(tmp_path / "g.parquet"))


ENTITY_AFTER_COMMENT = b"<!--" + b" " * (1 << 21) + b'--><!DOCTYPE g [<!ENTITY a "ha">]><gexf/>'


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("g.parquet", b"PAR1 no", "cannot be read as Parquet"),
        ("g.feather", b"", "cannot be read as Arrow"),
        ("g.gexf", b"<html", "is not GEXF"),
        ("g.gml", b"graph [ node [ id", "is not GML"),
        ("g.gexf", b'<!DOCTYPE g [<!ENTITY a "ha">]><gexf/>', "declares XML entities"),
        ("g.gexf", ENTITY_AFTER_COMMENT, "declares XML entities"),
        ("g.gexf", '<!DOCTYPE g [<!ENTITY a "ha">]><gexf/>'.encode("utf-16"), "XML entities"),
        ("g.dot", b"digraph {}", "DOT says how a graph is drawn. Write the graph as GraphML"),
        ("g.gpickle", b"\x80", "A pickle can run anything"),
        ("g.xlsx", b"PK", "Save the sheet as CSV"),
    ],
)
def test_unreadable_files_are_refused_with_a_reason(tmp_path, name, data, words):
    with pytest.raises(BadInput, match=words):
        read(tmp_path, data, name)


def test_a_dry_run_reports_the_reading_and_builds_nothing(tmp_path, capsys):
    (tmp_path / "g.csv").write_text(
        "from,rel,to,weight,year\nAnna,sails,The Gull,3,1907\n", "utf-8"
    )
    assert main(["build", str(tmp_path / "g.csv"), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "1 triple, 2 entities, 1 relation" in said and "called by numbers" not in said
    assert (
        "Anna -> sails -> The Gull" in said
        and "not read: year." in said
        and "weight from “weight”" in said
    )
    assert [file.name for file in tmp_path.iterdir()] == ["g.csv"]
    assert main(["build", str(tmp_path / "g.csv")]) == 2 and "--out" in capsys.readouterr().err


def test_numeric_entities_are_noted_unless_intended(tmp_path, capsys):
    (tmp_path / "g.csv").write_text(
        ":START_ID,:TYPE,:END_ID\n1,ACTED_IN,2\n1,ACTED_IN,3\n", "utf-8"
    )
    assert main(["build", str(tmp_path / "g.csv"), "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert (
        "2 triples, 3 entities, 1 relation" in said
        and "Entities are called by numbers, and questions find them by names" in said
    )
    (tmp_path / "ids.txt").write_text("1\t7\t2\n", "utf-8")
    assert main(["build", str(tmp_path / "ids.txt"), "--dry-run", "--integers"]) == 0
    assert "called by numbers" not in capsys.readouterr().out


def test_hipporags_file_of_openie_with_all_its_keys(tmp_path):
    """The file looks like openie_results_ner_MODEL.json.

    Results of the model that lack one of three parts are counted.
    """
    docs = [
        {
            "idx": f"chunk-{place}",
            "passage": f"{head} … {tail}.",
            "extracted_entities": [head, tail, "Åland"],
            "extracted_triples": [
                [head, relation, tail],
                ["too", "short"],
                [head, "", tail],
                [head, 3, tail],
            ][: 1 + 3 * place],
        }
        for place, (head, relation, tail) in enumerate(TWO)
    ]
    held = {"docs": docs, "avg_ent_chars": 7.5, "avg_ent_words": 1.5}
    triples, sentences = read(
        tmp_path, json.dumps(held, indent=2), "openie_results_ner_gpt-4o-mini.json"
    )
    assert triples == TWO
    assert sentences == [
        "3 triples left out (not of three parts, as models write them now and then)"
    ]
