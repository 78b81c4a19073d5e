"""JSON files read as rows, whatever the size of the pieces."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import BadInput
from core.io import json_pieces as reading
from core.io.json_rows import json_rows

single = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(single, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(
    st.lists(st.dictionaries(st.text(), values, max_size=3), max_size=5),
    st.sampled_from([None, 2]),
    st.integers(1, 40),
)
@settings(max_examples=30, deadline=None)
def test_an_array_is_read_in_pieces(tmp_path_factory, rows, indent, piece):
    file = tmp_path_factory.mktemp("json") / "rows.json"
    file.write_text(
        json.dumps(rows, indent=indent, ensure_ascii=False), "utf-8", errors="surrogatepass"
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reading, "JSON_PIECE_BYTES", piece)
        assert [row for _, row in json_rows(file)] == rows


@pytest.mark.parametrize("piece", [1, 5, 1 << 20])
@pytest.mark.parametrize(
    "text, told",
    [
        ('[{"a": 1},\n {"b": tru}]', r"line 2: not JSON \(Expecting value at column 8\)"),
        ('[{"a": 1}, {"b" 2}]', r"line 1: not JSON \(Expecting ':' delimiter at column 17\)"),
        ('[{"a":\n1,\n"b"}]', r"line 3: not JSON"),
        ('[{"a": 1}\n', r"line 2: not JSON \(Expecting value at column 1\)"),
        ('\n[{"a": 1}]\nmore', "line 2: more text follows after the array has ended"),
        (
            '{"Version": 1,\n"questions": [{"a": 1}]\n} more',
            "line 3: more text follows after the object has ended",
        ),
        (
            '{"questions": [\n{"a": 1},\n{"a" 2}]}',
            r"line 3: not JSON \(Expecting ':' delimiter at column 6\)",
        ),
        ('{"questions": [{"a": 1}]', "line 1: not JSON"),
        ('{"questions" [{"a": 1}]}', r"line 1: not JSON \(Expecting ':' at column 14\)"),
        ('{\n"version": 1}', "holds one JSON object without a list of rows"),
        ('{"questions":\n[]}', "holds one JSON object without a list of rows"),
        ("[\n17]", "line 2: expected a JSON object, found “17”"),
        (b'[\n{"a": "\xff"}]', "line 2: byte 8 is not UTF-8"),
    ],
)
def test_errors_name_their_line(tmp_path, monkeypatch, piece, text, told):
    monkeypatch.setattr(reading, "JSON_PIECE_BYTES", piece)
    (tmp_path / "rows.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput, match=told):
        list(json_rows(tmp_path / "rows.json"))


def test_rows_have_their_lines(tmp_path):
    file = tmp_path / "rows.json"
    file.write_text('\ufeff \n[{"a": 1}, {"b": 2},\n\n{"c": 3}]\n', "utf-8")
    assert list(json_rows(file)) == [
        ("line 2", {"a": 1}),
        ("line 2", {"b": 2}),
        ("line 4", {"c": 3}),
    ]
    file.write_text('{"a": 1}\n\n{"b": 2}\n')
    assert list(json_rows(file)) == [("line 1", {"a": 1}), ("line 3", {"b": 2})]
    file.write_text('{"Version": 1, "Questions": [{"a": 1}]}')
    assert list(json_rows(file)) == [("item 1", {"a": 1})]
    file.write_text("")
    assert list(json_rows(file)) == []


@given(
    st.lists(st.dictionaries(st.text(), values, max_size=3), min_size=1, max_size=4),
    st.sampled_from([None, 2]),
    st.integers(1, 40),
)
@settings(max_examples=30, deadline=None)
def test_an_object_that_holds_rows_is_read_in_pieces(tmp_path_factory, rows, indent, piece):
    file = tmp_path_factory.mktemp("json") / "rows.json"
    file.write_text(
        json.dumps(
            {"about": [1, {}], "data": "none", "questions": rows, "more": [[2]]}, indent=indent
        ),
        "utf-8",
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reading, "JSON_PIECE_BYTES", piece)
        assert [row for _, row in json_rows(file)] == rows


@pytest.mark.parametrize("key", ["data", "questions", "Questions"])
@pytest.mark.parametrize("list", [[{"question": "inner"}], ["a text"], [], [[1]]], ids=str)
@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_rows_that_hold_lists_are_rows(tmp_path, monkeypatch, key, list, piece):
    monkeypatch.setattr(reading, "JSON_PIECE_BYTES", piece)
    file = tmp_path / "rows.jsonl"
    rows = [{"question": "who", key: list}, {"question": "when", key: list}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [row for _, row in json_rows(file)] == rows


def test_a_single_object_is_a_row_unless_it_holds_rows(tmp_path):
    file = tmp_path / "rows.jsonl"
    for row in ({"question": "who", "data": ["a text", {}]}, {"question": "who", "questions": []}):
        file.write_text(json.dumps(row) + "\n\n")
        assert [found for _, found in json_rows(file)] == [row]
    file.write_text(json.dumps({"data": ["a text"], "questions": [{"question": "inner"}]}))
    assert [found for _, found in json_rows(file)] == [{"question": "inner"}]


def test_text_after_a_long_object_is_not_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "JSON_PIECE_BYTES", 1 << 10)
    monkeypatch.setattr("core.io.json_rows.MAX_LINE_BYTES", 1 << 16)
    file = tmp_path / "rows.json"
    # 200 kB on one line.
    file.write_text('{"data": [' + ",".join(['{"question": "who"}'] * 10_000) + "]}")
    assert len(list(json_rows(file))) == 10_000


LONG = {
    "an array": '[\n{"a": [\n%s1]}]',
    "an object": '{"questions": [{"a": 1}, {"a": [\n%s1]}]}',
    "aside": '{"about": {"a": [\n%s1]}, "data": [{}]}',
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_too_long_row_is_refused_before_it_is_read(tmp_path, monkeypatch, text):
    monkeypatch.setattr(reading, "JSON_PIECE_BYTES", 100)
    monkeypatch.setattr(reading, "MAX_JSON_VALUE_CHARACTERS", 1 << 20)
    file = tmp_path / "rows.json"
    file.write_text(text % ("[],\n" * 400_000))
    with pytest.raises(BadInput, match=r"line \d: .*1 MB"):
        list(json_rows(file))


def test_leading_blanks_are_skipped_in_pieces(tmp_path):
    file = tmp_path / "rows.json"
    file.write_text(" \n" * 400_000 + '[{"a": 1}]')
    assert list(json_rows(file)) == [("line 400001", {"a": 1})]
    with pytest.raises(BadInput, match="more than 1 MB of text"):
        list(json_rows(file, max_bytes=700_000))
