"""RDF in every syntax that pyoxigraph writes, and things named by their labels."""

from __future__ import annotations

import random

import pytest

from core.errors import BadInput
from core.graph.building.build import build
from core.graph.identifier_names import is_unnamed
from core.graph.readers import rdf
from core.graph.readers.triple_file import TripleFile
from tests.notes import NoteWith
from tests.triples import read_triples

PREFIXES = """@prefix ex: <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix schema: <https://schema.org/> .
"""
TURTLE = (
    PREFIXES
    + """
ex:gull rdfs:label "The Gull"@en, "Die Möwe"@de, "La Mouette"@fr ; skos:altLabel "Gull"@en ; ex:sails ex:b1 .
ex:b1 schema:name "Turku" ; ex:length 42 .
ex:sails rdfs:label "sails to"@en .
ex:c ex:sails ex:gull .
"""
)
SAME = [
    ("The Gull", "altLabel", "Gull"),
    ("The Gull", "sails to", "Turku"),
    ("Turku", "length", "42"),
    ("c", "sails to", "The Gull"),
]


def read(tmp_path, text: str, name: str = "g.ttl", **how):
    (tmp_path / name).write_text(text, "utf-8")
    file = TripleFile(tmp_path / name, **how)
    return list(file.read()), file.tally.sentences()


def test_labels_name_things_and_relations_and_are_no_triples(tmp_path):
    triples, sentences = read(tmp_path, TURTLE)
    assert sorted(triples) == SAME
    assert sentences == [
        NoteWith(3, "labels", "en first", 3, "en, de, fr"),
        NoteWith("2 literals", "entities", "altLabel, length"),
    ]


@pytest.mark.parametrize(
    ("language", "name"),
    [("de", "Die Möwe"), ("fr-CA", "La Mouette"), ("es", "The Gull"), ("none", "gull")],
)
def test_the_language_is_chosen_with_a_fallback(tmp_path, language, name):
    triples, _ = read(tmp_path, TURTLE, language=language)
    assert (
        name,
        "sails to" if language != "none" else "sails",
        "Turku" if language != "none" else "b1",
    ) in triples
    assert language != "none" or ("gull", "label", "Die Möwe") in triples


def test_rdfs_label_comes_first_and_equal_labels_get_identifiers(tmp_path):
    text = PREFIXES + (
        'ex:a schema:name "S" ; skos:prefLabel "P" ; rdfs:label "R" ; ex:r ex:b . ex:b '
        'rdfs:label "R" . ex:b ex:r ex:c .'
    )
    assert read(tmp_path, text)[0] == [("R", "r", "R (b)"), ("R (b)", "r", "c")]


def test_wikidata_relations_have_the_labels_of_their_properties(tmp_path):
    wd, wdt, label = (
        "http://www.wikidata.org/entity/",
        "http://www.wikidata.org/prop/direct/",
        "<http://www.w3.org/2000/01/rdf-schema#label>",
    )
    (tmp_path / "labels.ttl").write_text(
        f'<{wd}P50> {label} "author"@en . <{wd}Q1> {label} "The Gull"@en .', "utf-8"
    )
    text = f"<{wd}Q1> <{wdt}P50> <{wd}Q2> .\n"
    assert read(tmp_path, text, "g.nt")[0] == [("Q1", "P50", "Q2")]
    assert read(tmp_path, text, "g.nt", labels=tmp_path / "labels.ttl")[0] == [
        ("The Gull", "author", "Q2")
    ]
    with pytest.raises(BadInput, match="should be an RDF file"):
        read(tmp_path, text, "g.nt", labels=tmp_path / "labels.csv")


@pytest.mark.parametrize(
    "suffix", [".nt", ".ttl", ".nq", ".trig", ".rdf", ".owl", ".jsonld", ".n3"]
)
def test_every_syntax_gives_the_same_triples(tmp_path, suffix):
    from pyoxigraph import RdfFormat, parse, serialize

    syntax = getattr(RdfFormat, rdf.PYOXIGRAPH_FORMATS[rdf.SYNTAX_BY_SUFFIX[suffix]])
    quads = list(parse(TURTLE, format=RdfFormat.TURTLE))
    items = quads if syntax.supports_datasets else [quad.triple for quad in quads]
    (tmp_path / f"g{suffix}").write_bytes(serialize(items, format=syntax))
    assert sorted(read_triples(tmp_path / f"g{suffix}")) == SAME


def test_blank_nodes_and_named_graphs(tmp_path):
    text = PREFIXES + "ex:g { ex:a ex:r [ ex:s ex:b ] . } ex:a ex:r ex:c ."
    one, sentences = read(tmp_path, text, "g.trig")
    again, _ = read(tmp_path, text, "g.trig")
    # The parser may name blank nodes differently.
    assert sorted(one) == [("_:b0", "s", "b"), ("a", "r", "_:b0"), ("a", "r", "c")] and one == again
    assert sentences == [NoteWith("1 named graph")]


@pytest.mark.parametrize("labels", [True, False])
def test_a_large_build_gives_the_same_graph(tmp_path, labels):
    draw = random.Random(5)
    label, gap = "<http://www.w3.org/2000/01/rdf-schema#label>", "http://x.org/"
    lines = [
        f"<{gap}{draw.randint(0, 60)}> <{gap}r{draw.randint(0, 3)}> <{gap}{draw.randint(0, 60)}> ."
        for _ in range(400)
    ]
    lines += [f'<{gap}{n}> {label} "Thing {n % 40}"@en .' for n in range(50)] if labels else []
    draw.shuffle(lines)
    (tmp_path / "g.nt").write_text("\n".join(lines) + "\n", "utf-8")
    small = build(TripleFile(tmp_path / "g.nt"), tmp_path / "small", "g")
    large = build(TripleFile(tmp_path / "g.nt", memory=1 << 26), tmp_path / "large", "g")
    assert sorted(small.triple_texts(range(small.n_edges))) == sorted(
        large.triple_texts(range(large.n_edges))
    )
    assert any("Thing" in name for name in small.names(range(small.n_nodes))) == labels


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("g.ttl", "ex:a ex:b ex:c .", "g.ttl, line 1: not Turtle"),
        ("g.jsonld", "{", "not JSON-LD"),
        (
            # Nothing is fetched.
            "g.jsonld",
            '{"@context": "https://example.org/far", "@id": "a"}',
            "not JSON-LD",
        ),
        ("g.rdf", "<html/>", "g.rdf"),
        ("g.ttl", "", "holds no triples"),
        (
            "g.rdf",
            '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n<r/>',
            "declares XML entities within",
        ),
        (
            "g.rdf",
            '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/hostname">]>\n<r>&a;</r>',
            "declares XML entities within",
        ),
        (
            "g.rdf",
            "<!-- <r> "
            + "x" * (1 << 20)
            + ' --><!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><r/>',
            "no element begins in its first 1 MiB",
        ),
        (
            "g.rdf",
            f'<!DOCTYPE r [<!ENTITY a "<r>"> {" " * (1 << 20)} <!ENTITY b "&a;&a;">]><r/>',
            "no element begins in its first 1 MiB",
        ),
        (
            "g.ttl",
            "<< <http://x/a> <http://x/b> <http://x/c> >> <http://x/d> <http://x/e> .",
            "RDF-star|not Turtle",
        ),
    ],
)
def test_bad_files_are_refused_with_file_and_fault(tmp_path, name, text, words):
    with pytest.raises(BadInput, match=words):
        read(tmp_path, text, name)


def test_labels_of_a_large_file_are_read_only_on_request(tmp_path, monkeypatch):
    monkeypatch.setattr(rdf, "MAX_LABEL_SEARCH_BYTES", 50)
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    text = (
        f'<http://x.org/a> {label} "Anna"@en .\n<http://x.org/a> <http://x.org/r> '
        "<http://x.org/b> .\n"
    )
    triples, sentences = read(tmp_path, text, "g.nt")
    assert (
        "a",
        "r",
        "b",
    ) in triples and "Labels of this large file are not looked for" in sentences[0]
    assert read(tmp_path, text, "g.nt", language="en")[0] == [("Anna", "r", "b")]


def test_the_language_must_be_a_language_tag(tmp_path):
    with pytest.raises(BadInput, match="tag of a language"):
        read(tmp_path, TURTLE, language="Deutsch bitte")


LITERALS_TURTLE = (
    PREFIXES
    + """
ex:gull rdfs:label "The Gull" ; rdfs:comment "Ein Schiff."@de, "A ship."@en ; ex:length 42 ;
  skos:altLabel "Gull"@en, "Old Gull"@en ; ex:in ex:turku .
ex:turku <http://schema.org/additionalType> "city" ; ex:in [ ex:since "1155" ; ex:in ex:finland ] .
ex:nowhere ex:length 7 .
"""
)
THINGS = [("The Gull", "in", "turku"), ("_:b0", "in", "finland"), ("turku", "in", "_:b0")]


@pytest.mark.parametrize("name", ["g.ttl", "g.nt"])
def test_literals_can_become_attributes_of_their_things(tmp_path, name):
    (tmp_path / name).write_text(
        LITERALS_TURTLE if name == "g.ttl" else as_ntriples(LITERALS_TURTLE), "utf-8"
    )
    for memory in (None, 1 << 26):
        file = TripleFile(tmp_path / name, literals="attributes", memory=memory)
        graph = build(file, tmp_path / "g", "g")
        blank = next(one for one in graph.names(range(graph.n_nodes)) if one.startswith("_:"))
        table = graph.columns.nodes
        found = dict(
            zip(graph.names(range(4)), zip(table.texts("type"), table.texts("description")))
        )
        assert found == {
            "The Gull": ("", "A ship.; length: 42; altLabel: Gull, Old Gull"),
            "turku": ("city", ""),
            blank: ("", "since: 1155"),
            "finland": ("", ""),
        }
        said = "8 literals are part of the descriptions of things: comment, length, altLabel, additionalType, since."
        assert said in file.tally.sentences() and is_unnamed(blank)


def as_ntriples(turtle: str) -> str:
    import pyoxigraph

    statements = pyoxigraph.parse(turtle.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    return pyoxigraph.serialize(statements, format=pyoxigraph.RdfFormat.N_TRIPLES).decode()


def test_literals_can_be_left_out_and_are_counted(tmp_path):
    triples, sentences = read(tmp_path, LITERALS_TURTLE, literals="leave-out")
    assert sorted(triples) == sorted(THINGS)
    assert sentences[-1].startswith("8 literals are left out: ")
    triples, sentences = read(tmp_path, LITERALS_TURTLE)
    assert len(triples) == 11 and "8 literals are entities" in sentences[-1]
    with pytest.raises(BadInput, match="“drop”"):
        read(tmp_path, LITERALS_TURTLE, literals="drop")


def test_a_large_file_notes_that_attributes_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr("core.graph.large.sources.MAX_WHOLE_TEXT_BYTES", 10)
    (tmp_path / "g.ttl").write_text(LITERALS_TURTLE, "utf-8")
    file = TripleFile(tmp_path / "g.ttl", literals="attributes")
    assert not build(file, tmp_path / "g", "g").columns
    assert NoteWith("8 literals", "left out") in file.tally.sentences()


def test_statements_of_wikidata_and_blank_nodes_are_nodes_without_names(tmp_path):
    wd, p, ps = (
        "http://www.wikidata.org/entity/",
        "http://www.wikidata.org/prop/",
        "http://www.wikidata.org/prop/statement/",
    )
    statement = f"<{wd}statement/Q42-F078E5B3-F9A8-480E-B7AC-D97778CBBEF9>"
    labels = "".join(
        f'<{wd}{id}> <{rdf.LABEL_IRIS[0]}> "{label}"@en .\n'
        for id, label in (("Q42", "Adams"), ("Q350", "Cambridge"), ("P19", "born in"))
    )
    (tmp_path / "labels.nt").write_text(labels, "utf-8")
    text = f"<{wd}Q42> <{p}P19> {statement} .\n{statement} <{ps}P19> <{wd}Q350> .\n"
    (first, second), _ = read(tmp_path, text, "g.nt", labels=tmp_path / "labels.nt")
    assert (
        (first[0], second[2]) == ("Adams", "Cambridge")
        and is_unnamed(first[2])
        and first[2] == second[0]
    )
    assert (first[1], second[1]) == ("born in", "born in (P19)")
