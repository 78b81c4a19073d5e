"""Links, case files and uploads as nobody made them: what is said is a sentence for a person, never the trace of a fault."""

from __future__ import annotations

import gzip
import json
from urllib.parse import parse_qs

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.cases.examples import DEMO, FOLDER
from core.cases.exchange import load
from core.cases.file import EXTENSION
from core.errors import BadInput
from core.graph.readers.formats import FORMATS as GRAPH_FORMATS
from core.io.plain import to_plain
from core.questions.reading import FORMATS, read_questions, rows_with_graphs
from core.retrievers.runs.formats import FORMATS as RUN_FORMATS
from core.retrievers.runs.formats import TREC, read_run_file
from pages.parts.question.permalink import Link, parse_link
from tests.triples import read_triples

several = lambda examples: settings(
    max_examples=examples,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
QUESTIONS = {
    "q.csv": b'question,answers,entities,hops\nwho directed Inception,Christopher Nolan|Ann,"Inception, the film",1\n',
    "q.txt": b"who directed [Inception]\tChristopher Nolan|Ann\nwho [B]\tA\n",
    "p.txt": b"who is it\tA(A/B/)\tC#r#A#<end>#A\n",
    "q.jsonl": b'{"question": "who", "answer": ["A"], "q_entity": ["B"], "graph": [["A", "r", "B"]]}\n{"question": "x"}\n',
    "q.json": b'[{"RawQuestion": "who", "QuestionId": "1", "Parses": [{"TopicEntityName": "A", "Answers": [{"EntityName": "B"}]}]}]',
    "d.json": b'{"Version": 1, "Questions": [{"qid": 1, "question": "who", "answer": [{"answer_argument": "a"}]}]}',
}
GRAPHS = {
    "g.tsv": b"A\tr\tB\nB\tr\tC\n",
    "g.csv": b'head,relation,tail\n"A, a",r,B\n',
    "g.nt": b'<http://a/a> <http://a/r> "b"@en .\n_:x <http://a/r> <http://a/c> .\n',
    "g.graphml": b'<graphml><key id="d" for="node" attr.name="label"/><graph><node id="a"><data key="d">A</data></node>'
    b'<edge source="a" target="a"/></graph></graphml>',
    "g.jsonl": b'{"graph": [["A", "r", "B"]]}\n',
    "h.jsonl": b'{"head": "A", "relation": "r", "tail": {"name": "B"}}\n',
    "n.json": b'{"nodes": [{"id": 1, "label": "A"}, {"id": "b"}], "links": [{"source": 1, "target": "b", "type": "r"}]}',
    "o.json": b'{"docs": [{"extracted_triples": [["A", "r", "B"], ["x"]]}]}',
    "w.csv": b"A;r;B\n:START_ID;:END_ID;:TYPE\n",
    "g.edgelist": b"# c\nA B 3\nB C 1\n",
    "g.ttl": b'@prefix s: <http://schema.org/> .\n<http://a/a> s:name "A"@en ; <http://a/r> [ s:name "B" ] .\n',
    "g.rdf": b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="http://a/a">'
    b'<r xmlns="http://a/">b</r></rdf:Description></rdf:RDF>',
    "g.jsonld": b'{"@id": "http://a/a", "http://a/r": [{"@id": "http://a/b"}]}',
    "g.gexf": b'<gexf version="1.2" xmlns="http://www.gexf.net/1.2draft"><graph><nodes><node id="0" label="A"/></nodes>'
    b'<edges><edge id="0" source="0" target="0"/></edges></graph></gexf>',
    "g.gml": b'graph [ node [ id 0 label "A" ] edge [ source 0 target 0 relation "r" ] ]',
    "g.graphson": b'{"id": {"@type": "g:Int32", "@value": 1}, "label": "a", "outE": {"r": [{"inV": 1}]}, '
    b'"properties": {"name": [{"value": "A"}]}}',
    "g.net": b'*vertices 2\n1 "A"\n2 "B"\n*arcs\n1 2 1\n',
}
RUNS = {
    "t.trec": b"q1 Q0 d1 1 0.5 mine\nq1 Q0 d2 2 0.4 mine\n",
    "r.jsonl": b'{"user_input": "who", "retrieved_contexts": ["a", {"text": "b", "metadata": {"id": 1}}], "response": "A"}\n{"x": 1}\n',
    "r.json": b'[{"question": "who", "docs": ["a"], "doc_scores": [0.5], "answer": "A"}, {"id": 2, "ctxs": [["T", ["a"]]]}]',
    "r.csv": b"question,contexts,answer\nwho,\"['a', 'b']\",A\n",
    "p.json": b'{"answer": {"1": "A"}, "sp": {"1": [["T", 0]]}}',
    "o.json": b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t", "attributes": [{"key": "input.value", "value": '
    b'{"stringValue": "who"}}, {"key": "retrieval.documents.0.document.content", "value": {"stringValue": "a"}}]}]}]}]}',
    "s.json": b'[{"context": {"trace_id": "t"}, "attributes": {"retrieval": {"documents": [{"document": {"content": "a"}}]}}}]',
    "l.json": b'{"id": "t", "timestamp": 1, "input": {"q": "who"}, "output": "A", '
    b'"observations": [{"type": "RETRIEVER", "output": ["a"]}]}',
}
PIECES = st.sampled_from(
    [
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b'"',
        b"[",
        b"{",
        b"}",
        b"]",
        b"\n",
        b"\r",
        b"\t",
        b",",
        b"<",
        b"&a;",
        b"<!DOCTYPE g [",
        b"null",
        b"-1e999",
    ]
    + [
        b"\\ud800",
        b"1" * 5000,
        b"[" * 3000,
        b"true",
        "²".encode(),
        b"\x1f\x8b",
        b"<node id='a'/>",
        b"\\",
        b"NaN",
    ]
)


@st.composite
def spoiled(draw, files: dict[str, bytes]):
    """A file's name and content: a valid one in which pieces were put or left out, or any bytes; sometimes packed, sometimes cut."""
    name, data = draw(st.sampled_from(sorted(files.items())))
    if draw(st.integers(0, 5)) == 0:
        data = draw(st.binary(max_size=200))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        data = (
            data[:at] + draw(PIECES | st.binary(max_size=3)) + data[at + draw(st.integers(0, 8)) :]
        )
    if draw(st.booleans()):
        name, data = name + ".gz", gzip.compress(data, 1)
        if draw(st.integers(0, 3)) == 0:
            at = draw(st.integers(0, len(data)))
            data = data[:at] + draw(st.binary(max_size=2)) + data[at + draw(st.integers(0, 30)) :]
    return name, data


@several(250)
@given(
    spoiled(QUESTIONS),
    st.sampled_from(["auto", "auto", "auto", *FORMATS]),
    st.sampled_from(["", "", "question,answers"]),
)
def test_questions(tmp_path, file, format, columns):
    path = tmp_path / file[0]
    path.write_bytes(file[1])
    try:
        found = read_questions(path, format=format, columns=columns)
        rows_with_graphs(path)
    except BadInput as error:
        assert str(error)
    else:
        assert found and all(question.text.encode() and question.id.encode() for question in found)


@several(500)
@given(spoiled(GRAPHS), st.sampled_from(["auto", "auto", "auto", *GRAPH_FORMATS]))
def test_graphs(tmp_path, file, format):
    path = tmp_path / file[0]
    path.write_bytes(file[1])
    try:
        found = list(read_triples(path, format=format))
    except BadInput as error:
        assert str(error)
    else:
        assert found and all(name.strip() for triple in found for name in triple)


NESTED = b"<a:a> <a:b> " + b"<<( <a:a> <a:b> " * 100_000 + b"<a:c>" + b" )>>" * 100_000 + b" .\n"


@pytest.mark.parametrize("name", ["g.nt", "g.nq", "g.ttl", "g.trig"])
def test_triples_nested_without_end_are_a_sentence(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(NESTED)
    with pytest.raises(BadInput, match="Triples about triples"):
        list(read_triples(path))


@several(400)
@given(spoiled(RUNS), st.sampled_from(["auto", "auto", "auto", TREC, *RUN_FORMATS]))
def test_runs(tmp_path, file, format):
    path = tmp_path / file[0]
    path.write_bytes(file[1])
    try:
        found = read_run_file(path, format)
    except BadInput as error:
        assert str(error)
    else:
        assert found.rows and all((row.id or row.question) and row.holds for row in found.rows)
        assert json.dumps([to_plain(row) for row in found.rows], ensure_ascii=False).encode()


VALUE = (
    st.none()
    | st.booleans()
    | st.integers(-3, 10**20)
    | st.floats()
    | st.text(max_size=5)
    | st.just([])
    | st.just({})
    | st.just([[1]])
)


def places(value, path=()):
    """The paths of all that a JSON value holds."""
    yield path
    for key, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield from places(inner, (*path, key))


@pytest.fixture(scope="module")
def case_lines():
    """The heading of a file of cases, and its shortest case."""
    head, *rows = gzip.decompress((FOLDER / f"{DEMO}{EXTENSION}").read_bytes()).splitlines()
    return head, min(rows, key=len)


@several(50)
@given(st.data())
def test_cases(tmp_path, monkeypatch, case_lines, data):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    head, row = json.loads(case_lines[0]), json.loads(case_lines[1])
    for _ in range(data.draw(st.integers(1, 2))):
        known = [path for path in places(row) if path]
        *way, last = data.draw(st.sampled_from(known))
        inside = row
        for key in way:
            inside = inside[key]
        inside[last] = data.draw(VALUE)
    text = b"\n".join(json.dumps(one).encode() for one in (head, row))
    try:
        load(gzip.compress(text, 1) if data.draw(st.booleans()) else text)
    except BadInput as error:
        assert str(error)


@several(200)
@given(st.binary(max_size=300))
def test_any_bytes_are_no_cases(tmp_path, monkeypatch, data):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    with pytest.raises(BadInput):
        load(data)


KEYS = st.sampled_from(["q", "e", "a", "lane", "graph", "seed", "llm", "reader", "corpus", "x"])
TEXTS = st.sampled_from(
    ["²", "-1", "9" * 40, "../..", "![a](http://b)", "\x00", "metaqa:", "corpus/", ""]
) | st.text(max_size=20)


@several(250)
@given(st.dictionaries(KEYS, TEXTS | st.lists(TEXTS, max_size=6), max_size=6))
def test_links(query):
    link = parse_link(query)
    assert isinstance(link, Link) and 1 <= len(link.lanes) <= 4 and 0 <= link.seed < 10**9
    again = parse_link(link.parameters())
    assert (again.seed, again.model, again.reader, again.source) == (
        link.seed,
        link.model,
        link.reader,
        link.source,
    )
    try:
        assert parse_qs(link.address("http://here/").partition("?")[2]) is not None
    except UnicodeEncodeError:
        pytest.fail("a link that cannot be written")
