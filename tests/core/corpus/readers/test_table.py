"""Tables and JSON rows: a document for each row."""

from __future__ import annotations

import json

import pytest

from core.corpus.readers.packed import Held
from core.corpus.readers.recoded import as_utf8
from core.corpus.readers.table import columns_of, guessed, header
from core.corpus.readers.table import json_lines as read_json
from core.corpus.readers.table import table as read_table
from core.errors import BadInput


def table(name, data, columns):
    return read_table(as_utf8(Held(name, data)), columns)


def json_lines(name, data, columns):
    return read_json(as_utf8(Held(name, data)), columns)


def told(documents):
    return [(document.id, document.title, document.text) for document in documents]


def test_columns_are_guessed_by_their_names():
    data = b'Id,Title,Body\n7,One,"First, with <b>\nand more"\n8,Two,Second\n9,Three,\n'
    assert told(table("m.csv", data, {})) == [("m.csv:7", "One", "First, with <b>\nand more"), ("m.csv:8", "Two", "Second")]


def test_columns_can_be_named():
    rows = table("m.csv", b"a;b;c\nx;y;z\n", columns_of("text=C, title=a"))
    assert told(rows) == [("m.csv:1", "x", "z")]
    assert told(table("m.tsv", b"title\tpassage\nT\tsome, text\n", {})) == [("m.tsv:1", "T", "some, text")]
    assert told(table("one.csv", b"anything\nfirst\nsecond\n", {})) == [("one.csv:1", "one", "first"), ("one.csv:2", "one", "second")]


def test_blank_lines_before_a_header_are_passed_over():
    assert told(table("m.csv", b"\n\ntext\na\n", {})) == [("m.csv:1", "m", "a")]


def test_an_id_that_comes_again_gets_its_row():
    assert [document.id for document in table("m.csv", b"id,text\n1,a\n1,b\n,c\n", {})] == ["m.csv:1", "m.csv:1:2", "m.csv:3"]


ROWS = [{"_id": "a", "title": "A", "text": "First {x}."}, {"_id": 5, "text": ["Second.", "And more."]}]


@pytest.mark.parametrize(
    "data", ["\n".join(map(json.dumps, ROWS)), json.dumps(ROWS), json.dumps({"data": ROWS}), "\ufeff" + json.dumps(ROWS, indent=1)]
)
def test_rows_are_read_from_lines_and_from_arrays(data):
    assert told(json_lines("r.jsonl", data.encode(), {})) == [("r.jsonl:a", "A", "First {x}."), ("r.jsonl:5", "r", "Second. And more.")]


def test_one_object_is_one_row():
    assert told(json_lines("r.json", b'{"text": "All.", "n": 1}', {})) == [("r.json:1", "r", "All.")]


@pytest.mark.parametrize(
    "read, data, columns, sentence",
    [
        (table, b"", {}, "x is empty"),
        (table, b"a,b\n1,2\n", {}, "has the columns a, b; name the one that holds the text, as in text=b"),
        (table, b"a,b\n1,2\n", {"text": "c"}, "no column “c”"),
        (table, b"id,text\n1,\n", {}, "no row with a text in its column “text”"),
        (json_lines, b'{"text": "a"}\n{"text": \n', {}, "x, line 2: not JSON"),
        (table, b",,\n1,2,3\n", {}, "no rows with named columns"),
        (json_lines, b"[]", {}, "no rows with named columns"),
        (json_lines, b"[1, 2]", {}, "line 1: expected a JSON object"),
        (json_lines, b"nonsense", {}, "x, line 1: not JSON"),
        (json_lines, b"[" * 100_000, {}, "x, line 1: this JSON is nested too deep"),
        (json_lines, b'{"n": 1, "m": 2}', {}, "has the columns n, m"),
    ],
)
def test_what_is_no_table_of_texts_is_refused(read, data, columns, sentence):
    with pytest.raises(BadInput, match=sentence):
        read("x", data, columns)


@pytest.mark.parametrize("text", ["Body", "text=", "texts=Body", "=x"])
def test_columns_are_named_as_said(text):
    with pytest.raises(BadInput, match="Name columns as text=Body"):
        columns_of(text)


def test_columns_are_told_before_anything_is_read():
    assert header(Held("m.csv", b"\nRe;Message;\nx;y;z\n")) == ["Re", "Message"]
    assert header(Held("m.jsonl", b'{"a": 1}\n{"b": 2, "a": 3}')) == header(Held("m.json", b'[{"a": 1}, {"b": 2}]')) == ["a", "b"]
    assert guessed(["No", "Body", "Name", "TEXT"]) == {"text": "TEXT", "title": "Name"}
    with pytest.raises(BadInput, match="line 1: expected a JSON object"):
        header(Held("m.json", b"[1]"))


def test_a_column_may_be_none():
    assert told(table("m.csv", b"id,title,text\n7,T,x\n", {"title": "", "id": ""})) == [("m.csv:1", "m", "x")]
