"""GraphSON: TinkerPop's “modern” graph in versions 1, 2 and 3.

The texts are parts of those printed in its documentation.
"""

from __future__ import annotations

import json

import pytest

from core.errors import BadInput
from core.graph.building.build import build
from core.graph.readers.triple_file import TripleFile
from tests.triples import read_triples

typed = lambda kind, value: {"@type": f"g:{kind}", "@value": value}
MARKO_3 = {
    "id": typed("Int32", 1),
    "label": "person",
    "outE": {
        "created": [
            {
                "id": typed("Int32", 9),
                "inV": typed("Int32", 3),
                "properties": {"weight": typed("Double", 0.4)},
            }
        ],
        "knows": [
            {
                "id": typed("Int32", 7),
                "inV": typed("Int32", 2),
                "properties": {"weight": typed("Double", 0.5)},
            }
        ],
    },
    "properties": {
        "name": [{"id": typed("Int64", 0), "value": "marko"}],
        "age": [{"id": typed("Int64", 1), "value": typed("Int32", 29)}],
    },
}
VADAS_3 = {
    "id": typed("Int32", 2),
    "label": "person",
    "inE": {},
    "properties": {"name": [{"id": typed("Int64", 2), "value": "vadas"}]},
}
LOP_3 = {
    "id": typed("Int32", 3),
    "label": "software",
    "properties": {"name": [{"id": typed("Int64", 4), "value": "lop"}]},
}
VERSION_3 = "\n".join(map(json.dumps, (MARKO_3, VADAS_3, LOP_3)))
VERSION_1 = json.dumps(
    {
        "graph": {
            "mode": "NORMAL",
            "vertices": [
                {"_id": "1", "_type": "vertex", "name": "marko", "age": 29},
                {"_id": "2", "_type": "vertex", "name": "vadas"},
                {"_id": "3", "_type": "vertex", "name": "lop"},
            ],
            "edges": [
                {
                    "_id": "9",
                    "_type": "edge",
                    "_outV": "1",
                    "_inV": "3",
                    "_label": "created",
                    "weight": 0.4,
                },
                {
                    "_id": "7",
                    "_type": "edge",
                    "_outV": "1",
                    "_inV": "2",
                    "_label": "knows",
                    "weight": 0.5,
                },
            ],
        }
    }
)
WHOLE_3 = json.dumps(
    {
        "@type": "tinker:graph",
        "@value": {
            "vertices": [
                typed("Vertex", {key: one[key] for key in ("id", "label", "properties")})
                for one in (MARKO_3, VADAS_3, LOP_3)
            ],
            "edges": [
                typed(
                    "Edge",
                    {
                        "id": 9,
                        "label": "created",
                        "inV": typed("Int32", 3),
                        "outV": typed("Int32", 1),
                        "properties": {},
                    },
                ),
                typed(
                    "Edge",
                    {
                        "id": 7,
                        "label": "knows",
                        "inV": 2,
                        "outV": 1,
                        "properties": {"weight": {"value": typed("Double", 0.5)}},
                    },
                ),
            ],
        },
    }
)


@pytest.mark.parametrize(
    "text", [VERSION_3, VERSION_1, WHOLE_3], ids=["3, a vertex a line", "1", "3, whole"]
)
def test_the_modern_graph_in_every_version(tmp_path, text):
    (tmp_path / "g.graphson").write_text(text, "utf-8")
    assert sorted(read_triples(tmp_path / "g.graphson")) == [
        ("marko", "created", "lop"),
        ("marko", "knows", "vadas"),
    ]


def test_labels_are_types_and_properties_weights(tmp_path):
    (tmp_path / "g.graphson").write_text(VERSION_3, "utf-8")
    file = TripleFile(tmp_path / "g.graphson")
    graph = build(file, tmp_path / "g", "g")
    assert graph.names(range(3)) == ["lop", "marko", "vadas"]
    assert graph.columns.nodes.texts("type") == ["software", "person", "person"]
    assert graph.columns.edges.numbers("weight").tolist() == pytest.approx([0.4, 0.5])
    assert "relations are called by “label”" in file.tally.sentences()[0]


@pytest.mark.parametrize(
    "text", ['{"name": "x"}', "[1]", '{"id": 1, "outE": {"knows": [{"inV": 9}]}}', "{", ""]
)
def test_other_json_is_refused_as_graphson(tmp_path, text):
    (tmp_path / "g.graphson").write_text(text, "utf-8")
    with pytest.raises(BadInput, match="g.graphson"):
        list(read_triples(tmp_path / "g.graphson"))


@pytest.mark.parametrize(
    "held",
    [
        '{"graph": [["A", "r", "B"]]}',
        '{"graph": {"vertices": [], "edges": 3}}',
        '{"id": 1, "outE": [2]}',
        "[1]",
    ],
)
def test_malformed_graphson_gives_an_error_sentence_or_no_match(tmp_path, held):
    (tmp_path / "g.json").write_text(held)
    try:
        assert list(read_triples(tmp_path / "g.json", format="graphson")) == []
    except BadInput as error:
        assert "g.json" in str(error)
