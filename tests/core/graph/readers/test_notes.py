"""Notes on how a file was read: each note once, in full."""

from __future__ import annotations

import pytest

from core.graph.readers.formats import AUTO_TRIPLE_FORMAT
from core.graph.readers.triple_file import TripleFile

TURTLE_PREFIXES = (
    "@prefix ex: <http://a/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
)
WEIGHT = "Also taken: of edges, weight from “weight”."
EDGE = '<edge source="a" target="b"><data key="k">sails</data></edge>'


@pytest.mark.parametrize(
    "name, text, notes",
    [
        (
            "g.jsonl",
            '{"head": "a", "relation": "r", "tail": "b"}\n',
            ["Each row is a triple: head from “head”, relation from “relation”, tail from “tail”."],
        ),
        (
            "g.csv",
            "from,rel,to,weight,year\nAnna,sails,The Gull,3,1907\n",
            [
                "The first line is a header: head from “from”, relation from “rel”,"
                " tail from “to”; not read: year.",
                WEIGHT,
            ],
        ),
        (
            "edges.tsv",
            "Alpha\tBeta\t3\n",
            ["Links without relations: each is called connected_to.", WEIGHT],
        ),
        (
            "g.json",
            '{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, "weight": 2}]}',
            ["Nodes and links: relations are called by no key: each is “connected_to”.", WEIGHT],
        ),
        (
            "g.graphml",
            '<graphml><key id="k" for="edge" attr.name="verb"/>'
            f'<graph><node id="a"/><node id="b"/>{EDGE}</graph></graphml>',
            [
                "Entities are called by their ids, relations by no attribute:"
                " each is “connected_to”.",
                "Attributes that are not read: of edges verb.",
                "Every edge has the relation “connected_to”, so methods that go by relations have"
                " nothing to go by. Edges also have: verb.",
            ],
        ),
        (
            "g.ttl",
            f'{TURTLE_PREFIXES}ex:a rdfs:label "Anna"@en, "Anja"@de; ex:length 42; ex:r ex:b .',
            [
                "1 things and relations are called by their labels, en first,"
                " of 2 languages (en, de).",
                "1 literal is an entity (length); literals can be attributes of their things,"
                " or left out.",
            ],
        ),
        ("g.trig", f"{TURTLE_PREFIXES}ex:g {{ ex:a ex:r ex:b . }}", ["1 named graph read as one."]),
    ],
)
def test_each_note_is_given_once_in_full(tmp_path, name, text, notes):
    (tmp_path / name).write_text(text, "utf-8")
    file = TripleFile(
        tmp_path / name, format="edges" if name == "edges.tsv" else AUTO_TRIPLE_FORMAT
    )
    assert list(file.read()) and file.tally.sentences() == notes
