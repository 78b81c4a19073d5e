"""Endpoints that are broken or hostile, and partial answers that a header announces."""

from __future__ import annotations

import gzip
import json
import re
import threading
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.databases import replies, sparql
from core.databases.limits import CopyLimits
from core.databases.live_database import LiveDatabase, LiveSettings
from core.errors import BadInput, RunCancelled, UnknownEntity
from core.watch import Watch
from tests.core.databases.endpoint import endpoint
from tests.core.databases.test_sparql import chain, read

JSON = {"Content-Type": "application/sparql-results+json"}
IRI = {"type": "uri", "value": "http://x/a"}
CUT_OFF = {**JSON, "X-SQL-State": "S1TAT", "X-SQL-Message": "Returning incomplete results."}


def term(value, kind="uri", **more):
    return {"type": kind, "value": value, **more}


def reply(names, rows, headers=JSON):
    bindings = [dict(zip(names, row)) for row in rows]
    body = {"head": {"vars": list(names)}, "results": {"bindings": bindings}}
    return 200, dict(headers), json.dumps(body).encode()


def endpoint_with_rows(rows, headers=JSON):
    """An endpoint that returns these rows for every query."""
    count = reply("n", [[term(str(len(rows)), "literal")]])
    return lambda query, number: count if "COUNT" in query else reply("spo", rows, headers)


A, P, B = (term(f"http://x/{name}") for name in "apb")


@pytest.mark.parametrize(
    "odd, kept",
    [
        ([term("nodeID://b10011", "bnode"), P, B], True),
        ([term("_:n1"), P, B], True),
        ([term("_:n1", "bnode"), P, B], True),
        ([term("5c.b", "bnode"), P, B], True),
        (
            [A, P, term("12", "typed-literal", datatype="http://www.w3.org/2001/XMLSchema#int")],
            True,
        ),
        ([A, P, term(12, "literal")], True),
        ([term("http://x/c d"), P, B], False),
        ([A, P, term("x", "literal", **{"xml:lang": "no language"})], False),
        ([A, P, term("\ud800", "literal")], False),
        ([A, P, term(None, "literal")], False),
        ([A, P, term({"subject": A, "predicate": P, "object": B}, "triple")], False),
        ([A, P, "b"], False),
        ([A, P, term("b", "odd")], False),
    ],
)
def test_one_bad_row_affects_no_other(tmp_path, odd, kept):
    rows = [[A, P, B], [B, P, A], odd]
    with endpoint(instead=endpoint_with_rows(rows)) as served:
        triples, notes = read(served, tmp_path, language="none")
    assert {("a", "p", "b"), ("b", "p", "a")} <= triples and len(triples) == 2 + kept
    assert ("1 row that is no triple left out" in notes[0]) == (not kept)


def test_the_first_bad_row_is_named(tmp_path):
    with endpoint(instead=endpoint_with_rows([[A, P, B], [term("http://x/c d"), P, B]])) as served:
        assert "“http://x/c d”" in read(served, tmp_path, language="none")[1][0]


def test_blank_nodes_stay_apart_under_any_label(tmp_path):
    labels = ["b1", "_:b2", "b_1", "b-1", "_b1", "1", "_1", "_5f_1", "b_2d_1", "b.1", "ß", "://"]
    rows = [[term(label, "bnode"), P, B] for label in labels]
    with endpoint(instead=endpoint_with_rows(rows)) as served:
        triples, _ = read(served, tmp_path, language="none")
    assert len({head for head, _, _ in triples}) == len(labels)


@pytest.mark.parametrize("form", ["SELECT ?s ?p ?o", "CONSTRUCT { ?s ?p ?o }"])
def test_a_partial_answer_is_noted(tmp_path, form):
    query = form + " WHERE { ?s ?p ?o }"
    part = lambda headers: (
        reply("spo", [[A, P, B]] * 3, headers)
        if form.startswith("SELECT")
        else (200, dict(headers), b"<http://x/a> <http://x/p> <http://x/b> .\n" * 3)
    )
    for more, said in (
        ({"X-SQL-State": "S1TAT", "X-SQL-Message": "incomplete"}, "a part of the rows only"),
        ({"X-SPARQL-MaxRows": "3"}, "3 rows of a query at most"),
        ({"X-SPARQL-MaxRows": "4"}, ""),
        ({"X-SQL-State": "00000"}, ""),
    ):
        kind = JSON if form.startswith("SELECT") else {"Content-Type": "application/n-triples"}
        answer = part({**kind, **more})
        with endpoint(instead=lambda query, number, answer=answer: answer) as served:
            _, notes = read(served, tmp_path, query=query, language="none")
        assert any("Not all is here" in note and said in note for note in notes) == bool(said)


def test_pages_continue_despite_partial_answers_and_wrong_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(sparql, "SPARQL_LIMITS", replace(sparql.SPARQL_LIMITS, page_rows=10))
    all_rows = [[term(f"http://x/{at}"), P, B] for at in range(25)]

    def answer(query, number):
        if "COUNT" in query:
            return reply("n", [[term("4", "literal")]], CUT_OFF)
        at, most = (
            int(re.search(rf"{word} (\d+)|$", query)[1] or 0) for word in ("OFFSET", "LIMIT")
        )
        return reply("spo", all_rows[at : at + min(4, most)], CUT_OFF if at + 4 < 25 else JSON)

    with endpoint(instead=answer) as served:
        assert len(read(served, tmp_path, language="none")[0]) == 25
    low = lambda query, number: (
        reply("n", [[term("2", "literal")]]) if "COUNT" in query else answer(query, number)
    )
    with endpoint(instead=low) as served:
        assert len(read(served, tmp_path, language="none")[0]) == 25


def test_an_empty_page_after_a_timeout_is_no_end(tmp_path):
    def answer(query, number):
        if "COUNT" in query:
            return 500, {}, b""
        return reply("spo", [[A, P, B]] if "OFFSET 0" in query else [], CUT_OFF)

    with endpoint(instead=answer) as served, pytest.raises(BadInput, match="breaks off"):
        read(served, tmp_path, language="none")


def test_partial_labels_are_noted(tmp_path):
    def answer(query, number):
        return reply("spo", [], CUT_OFF) if "VALUES" in query else None

    with endpoint(instead=answer) as served:
        served.load(chain(3))
        assert any("Some labels are missing" in note for note in read(served, tmp_path)[1])


@pytest.mark.parametrize("count", ["-5", "9" * 4000, "many", ""])
def test_an_invalid_count_is_ignored(tmp_path, count):
    def answer(query, number):
        return reply("n", [[term(count, "literal")]]) if "COUNT" in query else None

    with endpoint(instead=answer) as served:
        served.load(chain(2))
        assert read(served, tmp_path)[1][0].startswith("2 triples copied")


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_repeated_page_ends_the_copy_and_keeps_its_triples(tmp_path, shuffled):
    def answer(query, number):
        if "COUNT" in query:
            return 500, {}, b""
        rows = [[A, P, B], [B, P, A]]
        return reply("spo", rows[::-1] if shuffled and number % 2 else rows)

    with endpoint(instead=answer) as served:
        triples, notes = read(served, tmp_path, language="none")
    assert len(triples) == 2 and any("whatever OFFSET says" in note for note in notes)
    assert len(served.queries) < 6


def test_named_graphs_with_equal_statements_are_no_repeated_pages(tmp_path, monkeypatch):
    from pyoxigraph import RdfFormat

    monkeypatch.setattr(sparql, "SPARQL_LIMITS", replace(sparql.SPARQL_LIMITS, page_rows=1))
    line = "<http://x/a> <http://x/r> <http://x/b> <http://g/{}> .\n"
    with endpoint(
        instead=lambda query, number: (500, {}, b"") if "COUNT" in query else None
    ) as served:
        served.load("".join(line.format(at) for at in range(3)), RdfFormat.N_QUADS)
        _, notes = read(served, tmp_path, language="none")
        assert not any("OFFSET" in note for note in notes)
        assert sum("OFFSET" in query for query in served.queries) == 4


def nested(opening, inner, closing, times=100_000):
    return (opening * times + inner + closing * times).encode()


DEEP = nested('{"type": "triple", "value": {"subject": {}, "predicate": {}, "object": ', "{}", "}}")


@pytest.mark.parametrize(
    "headers, body, said",
    [
        (
            JSON,
            b'{"head": {"vars": ["s","p","o"]}, "results": {"bindings": [{"s": %s}]}}' % DEEP,
            "deep",
        ),
        (JSON, b"[" * 100_000, "cannot be read"),
        (JSON, b'{"head": {"vars": ["s","p","o"]}, "results": 5}', "did not answer with rows"),
        (JSON, b'{"head": {"vars": ["s","p","o"]}}', "did not answer with rows"),
        (JSON, b'{"head": 5, "results": {"bindings": []}}', "did not answer with the variables"),
        (JSON, reply("spo", [[A, P, B]])[2] + b"Exception", "more text follows"),
        (JSON, reply("spo", [[A, P, term("x" * 9_000_000, "literal")]])[2], "longer than 8 MB"),
        ({**JSON, "Content-Encoding": "gzip"}, gzip.compress(b" " * (1 << 25)), "unpacks to over"),
        ({**JSON, "Content-Encoding": "gzip, gzip"}, b"", "not asked for"),
        ({**JSON, "Content-Encoding": "zstd"}, b"", "not asked for"),
    ],
)
def test_invalid_answers_give_an_error_sentence(tmp_path, headers, body, said):
    with (
        endpoint(instead=lambda query, number: (200, dict(headers), body)) as served,
        pytest.raises(BadInput, match=said),
    ):
        read(served, tmp_path)


def test_deep_triples_of_a_construct(tmp_path):
    line = b"<a:a> <a:b> " + nested("<<( <a:a> <a:b> ", "<a:c>", " )>>") + b" .\n"
    with (
        endpoint(instead=lambda query, number: (200, {}, line)) as served,
        pytest.raises(BadInput, match="Triples about triples"),
    ):
        read(served, tmp_path, query="CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }")


def test_an_honest_page_is_packed(tmp_path, monkeypatch):
    limits = replace(replies.HTTP_REPLY, expansion_from_bytes=1 << 10)
    monkeypatch.setattr(replies, "HTTP_REPLY", limits)
    rows = [[term(f"http://x/{at}"), P, B] for at in range(1_000)]
    code, headers, body = endpoint_with_rows(rows)("", 1)
    packed = (code, {**headers, "Content-Encoding": "gzip"}, gzip.compress(body))
    with endpoint(
        instead=lambda query, number: (
            (500, {}, b"") if "COUNT" in query else (*packed[:1], dict(packed[1]), packed[2])
        )
    ) as served:
        triples, _ = read(served, tmp_path, language="none")
    assert len(triples) == 1_000


@pytest.mark.parametrize(
    "body, told",
    [
        (b"<script>alert(1)</script> \x1b[31m", ""),
        (b"Fault \x1b[31mred\x07 <b>at</b> <http://x/a>", "Fault red at <http://x/a>"),
        (b"x" * 5000, "x" * 150),
    ],
)
def test_error_texts_of_a_server_are_shown_as_plain_text(tmp_path, body, told):
    with (
        endpoint(instead=lambda query, number: (500, {}, body)) as served,
        pytest.raises(BadInput) as refused,
    ):
        read(served, tmp_path)
    said = str(refused.value)
    assert told in said and "script" not in said and said.isprintable() and len(said) < 300


def test_a_server_that_sends_too_slowly_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(replies, "HTTP_REPLY", replace(replies.HTTP_REPLY, grace_seconds=0.0))
    monkeypatch.setattr(
        replies, "HTTP_REPLY", replace(replies.HTTP_REPLY, min_bytes_per_second=1 << 40)
    )
    with (
        endpoint(
            instead=lambda query, number: (200, {**JSON, "cut": "slow"}, b" " * 100)
        ) as served,
        pytest.raises(BadInput, match="too slowly"),
    ):
        read(served, tmp_path)


def test_headers_that_never_end_are_left(tmp_path, monkeypatch):
    monkeypatch.setattr(replies, "HTTP_REPLY", replace(replies.HTTP_REPLY, header_seconds=0.3))
    answer = threading.Event()
    with endpoint(instead=lambda query, number: answer.wait(60) and None) as served:
        with pytest.raises(BadInput, match=r"did not answer within 0\.3 s"):
            read(served, tmp_path)
        answer.set()


def test_waiting_for_a_silent_server_is_cancelled_at_once(tmp_path):
    asked, answer = threading.Event(), threading.Event()

    def silent(query, number):
        asked.set()
        answer.wait(60)

    def check():
        if asked.is_set():
            raise RunCancelled()

    with endpoint(instead=silent) as served:
        with pytest.raises(RunCancelled):
            read(served, tmp_path, CopyLimits(watch=Watch(check)))
        assert not answer.is_set()
        answer.set()


@pytest.mark.parametrize("fault, raised", [(RunCancelled, True), (OSError, False)])
def test_reading_a_text_is_cancelled_and_left_at_any_other_fault(fault, raised):
    class Response:
        raw = SimpleNamespace(read1=lambda size, decode_content: b"refused", tell=lambda: 7)
        __enter__ = lambda self: self
        __exit__ = lambda self, *_: None

    is_read = []

    def check():
        if is_read:
            raise fault

    with replies.HttpReply(Response, CopyLimits(watch=Watch(check)), "The server") as reply:
        assert reply.read_text(7) == "refused"
        is_read.append(True)
        with pytest.raises(fault) if raised else nullcontext():
            assert reply.read_text(1 << 20) == ""


def live_at(served):
    return LiveDatabase("x", LiveSettings(served.url))


def reply_with_equal_names(query, number):
    """Reply of an endpoint with two nodes called A, except for queries about their edges."""
    if "GROUP BY" in query or "?n ?s ?p ?o" in query:
        return None
    names = re.findall(r"\?(\w)", query.partition("WHERE")[0])
    rows = {"spo": [[A, P, B]], "so": [[A, term("A", "literal")], [B, term("A", "literal")]]}
    return reply(names, rows.get("".join(names), [[A]]))


@pytest.mark.parametrize("degree", [[A, term("many", "literal")], [A], [A, term("-1", "literal")]])
def test_an_invalid_degree_gives_an_error_sentence(degree):
    def answer(query, number):
        if "GROUP BY" in query:
            return reply("sn", [degree])
        return reply_with_equal_names(query, number)

    with endpoint(instead=answer) as served, pytest.raises(BadInput, match="not asked for"):
        live_at(served).fetch_graph("", ["A"])


def reply_with_edges_of_equal_names(query, number):
    """Reply of `reply_with_equal_names`, also to queries about edges and degrees."""
    if "GROUP BY" in query:
        return reply("sn", [[A, term("2", "literal")], [B, term("1", "literal")]])
    if "?n ?s ?p ?o" in query:
        return reply("nspo", [[term("0", "literal"), A, P, B], [term("-1", "literal")]])
    return reply_with_equal_names(query, number)


@pytest.mark.parametrize("part", ["SELECT DISTINCT ?s ?o", "GROUP BY", None])
def test_a_partial_look_up_is_noted(part):
    def answer(query, number):
        code, headers, body = reply_with_edges_of_equal_names(query, number)
        cut = part is not None and part in query
        return code, {**headers, **(CUT_OFF if cut else {})}, body

    with endpoint(instead=answer) as served:
        live = live_at(served)
        notes = [live.fetch_graph("", ["A"]).fetched.sentences for _ in range(2)]
    assert notes[0] == notes[1]
    said = [note for note in notes[0] if "a part of the rows" in note]
    assert [("names or degrees" in note) for note in said] == [True] * (part is not None)


@pytest.mark.parametrize("entities", [["C"], []])
def test_a_name_missing_from_a_partial_answer_is_reported(entities):
    def answer(query, number):
        if "?s ?p ?o" in query.partition("WHERE")[0]:
            return reply("spo", [[A, P, B]])
        return reply("so", [], CUT_OFF)

    with endpoint(instead=answer) as served, pytest.raises(UnknownEntity, match="a part of the"):
        live_at(served).fetch_graph("Where is C?", entities)


@pytest.mark.parametrize("number", ["999999", "-7", "x"])
def test_an_edge_of_an_unrequested_node_is_refused(number):
    def answer(query, at):
        if "GROUP BY" in query:
            return reply("sn", [[A, term("2", "literal")]])
        if "?n ?s ?p ?o" in query:
            return reply("nspo", [[term(number, "literal"), A, P, B], [term("-1", "literal")]])
        return reply_with_equal_names(query, at)

    with endpoint(instead=answer) as served, pytest.raises(BadInput, match="not asked for"):
        live_at(served).fetch_graph("", ["A"])


def test_more_edges_than_requested_are_not_read():
    def answer(query, at):
        if "GROUP BY" in query:
            return reply("sn", [[A, term("2", "literal")]])
        if "?n ?s ?p ?o" in query:
            rows = [[term("0", "literal"), A, P, term(f"http://x/n{n}")] for n in range(5000)]
            return reply("nspo", [*rows, [term("-1", "literal")]])
        return reply_with_equal_names(query, at)

    with endpoint(instead=answer) as served:
        graph = LiveDatabase("x", LiveSettings(served.url, hops=1, each=10)).fetch_graph("", ["A"])
    assert graph.n_edges == 10 and sum("?n ?s" in query for query in served.queries) == 1
    assert any("more than 10 triples" in note for note in graph.fetched.sentences)
