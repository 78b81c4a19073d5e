"""Links, case files and uploads as nobody made them are answered with a sentence.

It is a sentence for a person, never the trace of a fault.
"""

from __future__ import annotations

import gzip
import json
from urllib.parse import parse_qs

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.cases.examples import DEMO_NAME, EXAMPLE_FOLDER
from core.cases.exchange import load
from core.cases.file import CASES_EXTENSION
from core.errors import BadInput
from core.importing import IMPORTERS, recognise
from core.io.plain_data import to_plain
from pages.parts.question.permalink import Permalink, parse_link
from tests.core.importing.examples import IN_PROCESS, example
from tests.triples import read_triples

several = lambda examples: settings(
    max_examples=examples,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
MORE = {  # forms of rows that no example has
    "questions/rows": {
        "q.jsonl": b'{"question": "who", "answer": ["A"], "graph": [["A", "r", "B"]]}\n{"question": "x"}\n',
    },
    "graph/rows": {
        "g.jsonl": b'{"graph": [["A", "r", "B"]]}\n',
        "h.jsonl": b'{"head": "A", "relation": "r", "tail": {"name": "B"}}\n',
        "o.json": b'{"docs": [{"extracted_triples": [["A", "r", "B"], ["x"]]}]}',
    },
    "graph/comma": {"w.csv": b"A;r;B\n:START_ID;:END_ID;:TYPE\n"},
    "run/openinference": {
        "s.json": b'[{"context": {"trace_id": "t"}, "attributes": {"retrieval": {"documents": [{"document": {"content": "a"}}]}}}]',
    },
    "run/rows": {"r.csv": b"question,contexts,answer\nwho,\"['a', 'b']\",A\n"},
}
FILES = [
    (key, name, data)
    for key in IN_PROCESS
    for name, data in {
        example(key).name: example(key).read_bytes(),
        **MORE.get(key, {}),
    }.items()
    if key.startswith(("graph", "questions", "run"))
]
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
def spoiled(draw):
    """Draw a format, a file's name and its content.

    The content is a valid one in which pieces were put or left out, or is any bytes. Sometimes it
    is packed or cut.
    """
    key, name, data = draw(st.sampled_from(FILES))
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
    return key, name, data


SOUND = {
    "graph": lambda triple: all(name.strip() for name in triple),
    "questions": lambda question: (
        question.text.encode() is not None and question.id.encode() is not None
    ),
    "run": lambda row: (
        (row.id or row.question)
        and row.has_results
        and json.dumps(to_plain(row), ensure_ascii=False).encode()
    ),
}


@several(1000)
@given(spoiled(), st.sampled_from([None, None, *IN_PROCESS]))
def test_files(tmp_path, file, other):
    key, name, data = file
    one = IMPORTERS[other if other and other.startswith(key.split("/")[0]) else key]
    path = tmp_path / name
    path.write_bytes(data)
    try:
        recognise(path)
        found = one.read_file(path)
    except BadInput as error:
        assert str(error)
    else:
        assert found.items and all(map(SOUND[one.kind], found.items))


NESTED = b"<a:a> <a:b> " + b"<<( <a:a> <a:b> " * 100_000 + b"<a:c>" + b" )>>" * 100_000 + b" .\n"


@pytest.mark.parametrize("name", ["g.nt", "g.nq", "g.ttl", "g.trig"])
def test_triples_nested_without_end_are_a_sentence(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(NESTED)
    with pytest.raises(BadInput, match="Triples about triples"):
        list(read_triples(path))


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
    head, *rows = gzip.decompress(
        (EXAMPLE_FOLDER / f"{DEMO_NAME}{CASES_EXTENSION}").read_bytes()
    ).splitlines()
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
    assert isinstance(link, Permalink) and 1 <= len(link.lanes) <= 4 and 0 <= link.seed < 10**9
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
