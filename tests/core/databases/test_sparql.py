"""Graphs copied from a SPARQL endpoint that runs in the same process."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyoxigraph import RdfFormat

from core.databases import sparql
from core.databases.address import address_of
from core.databases.graph_copy import copy_graph
from core.databases.limits import CopyLimits
from core.errors import BadInput, RunCancelled
from core.watch import Watch
from tests.core.databases.endpoint import endpoint

PREFIXES = """@prefix : <http://x/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
"""
FILMS = (
    PREFIXES
    + """
:f1 :director :p1 ; :year 2010 . :f1 rdfs:label "Inception"@en , "Anfang"@de . :p1 rdfs:label "Christopher Nolan"@en .
:f2 :director :p1 . :director rdfs:label "directed by"@en .
"""
)
INCEPTION = ("Inception", "directed by", "Christopher Nolan")
SECOND = ("f2", "directed by", "Christopher Nolan")


def read(served, tmp_path, limits=None, key="", **how):
    """Triples of the copy, and the notes on it."""
    file = copy_graph(address_of(served.url), tmp_path, limits or CopyLimits(), key, **how)
    return set(file.read()), file.tally.sentences()


def test_things_are_named_by_labels_and_literals_are_optional(tmp_path):
    with endpoint() as served:
        served.load(FILMS)
        triples, notes = read(served, tmp_path, literals="leave-out")
        assert triples == {INCEPTION, SECOND}
        assert notes[0].startswith("2 triples copied from 127.0.0.1:")
        triples, _ = read(served, tmp_path)
        assert triples == {INCEPTION, SECOND, ("Inception", "year", "2010")}


@pytest.mark.parametrize("language, name", [("de", "Anfang"), ("none", "f1"), ("", "Inception")])
def test_labels_in_a_language(tmp_path, language, name):
    with endpoint() as served:
        served.load(FILMS)
        triples, _ = read(served, tmp_path, language=language, literals="leave-out")
        assert name in {head for head, _, _ in triples}


@pytest.mark.parametrize(
    "labels, name",
    [
        ('"Ann Lee"@mul , "Lee Ann"@hu', "Ann Lee"),
        ('"Ann Lee"@en , "A. Lee"@mul', "Ann Lee"),
        ('"Lee Ann"@hu', "Lee Ann"),
    ],
)
def test_labels_of_all_languages_and_of_any(tmp_path, labels, name):
    with endpoint() as served:
        served.load(f'{PREFIXES} :f1 :r :f2 . :f1 rdfs:label {labels} . :f2 rdfs:label "Gull"@en .')
        assert read(served, tmp_path, literals="leave-out")[0] == {(name, "r", "Gull")}


def test_relations_of_wikidata_have_the_labels_of_their_properties(tmp_path):
    with endpoint() as served:
        served.load(
            PREFIXES
            + (
                'wd:Q1 wdt:P50 wd:Q2 . wd:P50 rdfs:label "author"@en . wd:Q1 rdfs:label '
                '"Emma"@en . wd:Q2 rdfs:label "Jane Austen"@en .'
            )
        )
        query = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(isIRI(?o)) }"
        assert read(served, tmp_path, query=query)[0] == {("Emma", "author", "Jane Austen")}


def chain(length):
    return PREFIXES + "".join(f":n{at} :next :n{at + 1} . " for at in range(length))


def test_pages_are_fetched_until_all_triples_are_there(tmp_path, monkeypatch):
    monkeypatch.setattr(sparql, "SPARQL_LIMITS", replace(sparql.SPARQL_LIMITS, page_rows=10))
    with endpoint(most=7) as served:
        served.load(chain(25))
        triples, notes = read(served, tmp_path)
        assert len(triples) == 25 and ("n24", "next", "n25") in triples
        assert notes[0].startswith("25 triples copied") and "Read in 4 pages" in notes[1]


def test_the_limit_is_kept_and_the_total_noted(tmp_path):
    with endpoint() as served:
        served.load(chain(25))
        triples, notes = read(served, tmp_path, CopyLimits(10))
        assert len(triples) == 10
        assert notes[0].startswith("10 of 25 triples copied from") and "more" not in notes[0]
        assert len(read(served, tmp_path, CopyLimits(25))[0]) == 25


def test_the_limit_is_kept_without_a_count(tmp_path):
    with endpoint(
        instead=lambda query, number: (500, {}, b"too slow") if "COUNT" in query else None
    ) as served:
        served.load(chain(25))
        _, notes = read(served, tmp_path, CopyLimits(10))
        assert notes[0].endswith("; there are more.")
        assert read(served, tmp_path)[1][0].startswith("25 triples copied")


def test_named_graphs_are_used_if_the_default_graph_is_empty(tmp_path):
    with endpoint() as served:
        served.load(
            "<http://x/a> <http://x/r> <http://x/b> <http://g/1> .\n<http://x/a> "
            "<http://x/r> <http://x/b> <http://g/2> .",
            RdfFormat.N_QUADS,
        )
        triples, notes = read(served, tmp_path)
        assert triples == {("a", "r", "b")} and "all its named graphs are read as one" in notes[1]
        assert notes[0].startswith("1 of 2 triples") and "the same in another graph" in notes[0]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?a ?r ?b WHERE { ?a ?r ?b . ?b ?r ?c }",
        "construct { ?a ?r ?b } where { ?a ?r ?b . ?b ?r ?c }",
        "#x\nDESCRIBE <http://x/n0>",
    ],
)
def test_an_own_query_is_used(tmp_path, query):
    with endpoint() as served:
        served.load(
            chain(3) + '<http://x/n0> <http://www.w3.org/2000/01/rdf-schema#label> "Zero" .'
        )
        triples, _ = read(served, tmp_path, query=query)
        assert ("Zero", "next", "n1") in triples and len(triples) == (
            1 if "DESCRIBE" in query else 2
        )


@pytest.mark.parametrize(
    "query",
    [
        "DROP ALL",
        "DELETE WHERE { ?s ?p ?o }",
        "ASK { ?s ?p ?o }",
        "hello",
        "PREFIX select: <http://x/SELECT> ASK {}",
    ],
)
def test_other_queries_are_refused_without_a_request(tmp_path, query):
    with endpoint() as served, pytest.raises(BadInput, match="SELECT of three variables"):
        read(served, tmp_path, query=query)
    assert not served.queries


def test_rows_without_a_triple_are_counted(tmp_path):
    with endpoint() as served:
        served.load(FILMS)
        _, notes = read(
            served,
            tmp_path,
            query=(
                "SELECT ?s ?p ?o WHERE { { ?s ?p ?o FILTER(isIRI(?o)) } UNION { ?o ?p ?s "
                "FILTER(isLiteral(?s)) } }"
            ),
        )
        assert notes[0].startswith("2 triples copied") and " 5 rows " in notes[0]


def test_a_name_and_a_password(tmp_path, monkeypatch):
    with endpoint(key="ann:s e:cret") as served:
        served.load(FILMS)
        address = address_of("sparql+" + served.url)
        monkeypatch.setenv("HOPSCOPE_KEY_FILMS", f"{served.url} ann:s e:cret")
        assert read(served, tmp_path, key=address.key("HOPSCOPE_KEY_FILMS"))[0]
        for key in ("", "ann:wrong-word"):
            with pytest.raises(BadInput, match="wants a name and password") as refused:
                read(served, tmp_path, key=key)
            assert "wrong-word" not in str(refused.value)


@pytest.mark.parametrize(
    "reply, said",
    [
        ((200, {"Content-Type": "text/html"}, b"<h1>Welcome</h1>"), "answers with a web page"),
        (
            (302, {"Location": "http://other.example/"}, b""),
            "sends to another address: http://other.example/. Use that",
        ),
        ((404, {}, b"no such thing"), r"refuses the query \(404\): no such thing"),
        (
            (
                200,
                {"Content-Type": "application/json"},
                b'{"head": {"vars": ["s", "p"]}, "results": {"bindings": []}}',
            ),
            "did not answer with the variables",
        ),
        ((200, {"Content-Type": "application/json"}, b"[1, 2"), "answers with what cannot be read"),
        (
            (200, {"Content-Type": "application/json"}, b"\xff\xfe" * 50),
            "answers with what cannot be read",
        ),
        (
            (200, {"Content-Type": "application/json"}, b'{"head": {}, "boolean": true}'),
            "did not answer with",
        ),
        (
            (200, {"Content-Length": "100", "Content-Type": "application/json"}, b'{"head":'),
            "broke off",
        ),
        ((200, {"Content-Encoding": "gzip"}, b"no gzip"), "broke off"),
    ],
)
def test_hostile_replies_give_an_error_sentence(tmp_path, reply, said):
    with (
        endpoint(instead=lambda query, number: reply) as served,
        pytest.raises(BadInput, match=said),
    ):
        read(served, tmp_path)


def test_an_interrupted_copy_gives_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(sparql, "SPARQL_LIMITS", replace(sparql.SPARQL_LIMITS, page_rows=10))
    with endpoint(
        instead=lambda query, number: (500, {}, b"out of memory") if "OFFSET 10" in query else None
    ) as served:
        served.load(chain(25))
        with pytest.raises(BadInput, match=r"refuses the query \(500\): out of memory"):
            read(served, tmp_path)


def test_a_busy_server_is_tried_again_a_few_times(tmp_path, monkeypatch):
    monkeypatch.setattr(
        sparql, "SPARQL_LIMITS", replace(sparql.SPARQL_LIMITS, max_retry_pause_seconds=0.01)
    )
    with endpoint(
        instead=lambda query, number: (503, {"Retry-After": "1"}, b"") if number < 3 else None
    ) as served:
        served.load(FILMS)
        assert read(served, tmp_path)[0]
    with endpoint(instead=lambda query, number: (429, {"Retry-After": "soon"}, b"")) as served:
        with pytest.raises(BadInput, match=r"busy \(429\), also after 4 tries"):
            read(served, tmp_path)
        assert len(served.queries) == 4


def test_a_silent_server_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(sparql, "PIECE_WAIT_SECONDS", 0.2)
    with (
        endpoint(instead=lambda query, number: (200, {"cut": "slow"}, b"{" * 100)) as served,
        pytest.raises(BadInput, match="did not answer|broke off"),
    ):
        read(served, tmp_path)


def test_an_unreachable_server_is_reported(tmp_path):
    with endpoint() as served:
        pass
    with pytest.raises(BadInput, match="cannot be reached, or broke off"):
        read(served, tmp_path)


@pytest.mark.parametrize(
    ("host", "by_proxy"),
    [
        ("localhost", False),
        ("127.0.0.1", False),
        ("[::1]", False),
        ("[2001:db8::1]", True),
        ("192.0.2.1", True),
        ("example.org", True),
    ],
)
def test_only_servers_on_this_computer_bypass_the_proxy(host, by_proxy):
    address = address_of(f"sparql+http://{host}:8080/sparql")
    assert sparql.SparqlEndpoint(address, "", CopyLimits())._session.trust_env is by_proxy


def test_an_empty_database_is_refused(tmp_path):
    with endpoint() as served, pytest.raises(BadInput, match="gives no triples"):
        read(served, tmp_path)


def test_bounds_on_bytes_and_seconds_and_cancel(tmp_path):
    def stop():
        raise RunCancelled

    with endpoint() as served:
        served.load(chain(2000))
        with pytest.raises(BadInput, match="sent more than 1"):
            read(served, tmp_path, CopyLimits(size=10_000))
        with pytest.raises(BadInput, match="took more than 1 second"):
            read(served, tmp_path, CopyLimits(seconds=0))
        with pytest.raises(RunCancelled):
            read(served, tmp_path, CopyLimits(watch=Watch(stop)))
    with pytest.raises(BadInput, match="At least one"):
        CopyLimits(0)


def test_failing_label_queries_give_an_error_sentence(tmp_path):
    with endpoint(
        instead=lambda query, number: (500, {}, b"no") if "VALUES" in query else None
    ) as served:
        served.load(FILMS)
        triples, notes = read(served, tmp_path, literals="leave-out")
        assert ("f1", "director", "p1") in triples and any(
            "Labels of 4 things could not be asked for" in one for one in notes
        )


def test_a_name_with_markup_stays_text(tmp_path):
    with endpoint() as served:
        served.load(
            PREFIXES + ':f1 :r :f2 . :f1 rdfs:label "<script>alert(1)</script>\\n\\"x\\""@en .'
        )
        assert read(served, tmp_path, literals="leave-out")[0] == {
            ('<script>alert(1)</script> "x"', "r", "f2")
        }
