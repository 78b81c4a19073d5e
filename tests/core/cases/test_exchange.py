"""Cases in one file: imported completely or not at all, and never over existing ones."""

from __future__ import annotations

import gzip
import json

import pytest

from core.cases import cases, comparison_of_case, delete, edit, export, get_case, load, save
from core.cases import examples as shipped
from core.errors import BadInput
from core.results import comparison_dict

own = lambda: [case for case in cases() if not case.example]


@pytest.fixture
def saved_case(compared):
    return save(compared(), {"q": "genre of One"}, "note", ["tag"])


def lines(data: bytes) -> list[dict]:
    return [json.loads(line) for line in gzip.decompress(data).splitlines()]


def packed_rows(rows) -> bytes:
    return gzip.compress(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()
    )


def test_case_is_exported_and_imported_again(saved_case, compared):
    second = save(compared(text="who directed One", answers=()))
    data = export([saved_case.id, second.id])
    assert data == export([saved_case.id, second.id]) and [
        row.get("id") for row in lines(data)
    ] == [
        None,
        saved_case.id,
        second.id,
    ]
    before = comparison_dict(comparison_of_case(saved_case.id))
    delete(saved_case.id)
    loaded = load(data)
    assert [case.id for case in loaded.added] == [saved_case.id] and loaded.n_known == 1
    assert (
        get_case(saved_case.id) == saved_case
        and comparison_dict(comparison_of_case(saved_case.id)) == before
    )
    assert load(data).added == () and len(own()) == 2


def test_existing_id_is_never_overwritten(saved_case):
    data = export([saved_case.id])
    edit(saved_case.id, notes="mine, newer")
    (added,) = load(data).added
    assert (
        added.id != saved_case.id
        and get_case(saved_case.id).notes == "mine, newer"
        and get_case(added.id).notes == "note"
    )


def test_uncompressed_file_is_read(saved_case):
    data = gzip.decompress(export([saved_case.id]))
    delete(saved_case.id)
    assert load(data).added[0].id == saved_case.id


def test_invalid_id_is_replaced(saved_case):
    heading, row = lines(export([saved_case.id]))
    for odd in ("example-x-1", "../../etc", "<script>", 7, None, "A" * 12):
        (added,) = load(packed_rows([heading, {**row, "id": odd}])).added
        assert len(added.id) == 12 and added.id.isalnum() and not get_case(added.id).example


def with_value(row, *keys, to):
    """Return the row with one nested value changed."""
    row = json.loads(json.dumps(row))
    at = row
    for key in keys[:-1]:
        at = at[key]
    at[keys[-1]] = to
    return row


HOSTILE = {
    "no file at all": lambda h, r: b"",
    "random bytes": lambda h, r: bytes(range(256)) * 20,
    "a pickle": lambda h, r: (
        b"\x80\x04\x95\x1a\x00\x00\x00\x00\x00\x00\x00\x8c\x05posix\x94\x8c\x06system\x94\x93\x94."
    ),
    "a zip file": lambda h, r: b"PK\x03\x04" + bytes(200),
    "a file cut short": lambda h, r: packed_rows([h, r])[:-20],
    "another kind of file": lambda h, r: packed_rows([{"kind": "graph"}, r]),
    "another version": lambda h, r: packed_rows([{**h, "version": 9}, r]),
    "a list": lambda h, r: packed_rows([[1, 2, 3]]),
    "not JSON": lambda h, r: packed_rows([h, "{oops"]),
    "deep nesting": lambda h, r: packed_rows([h, "[" * 200_000]),
    "a case that is text": lambda h, r: packed_rows([h, '"case"']),
    "no comparison": lambda h, r: packed_rows(
        [h, {k: v for k, v in r.items() if k != "comparison"}]
    ),
    "notes as a number": lambda h, r: packed_rows([h, {**r, "notes": 5}]),
    "tags as text": lambda h, r: packed_rows([h, {**r, "tags": "abc"}]),
    "a hundred tags": lambda h, r: packed_rows([h, {**r, "tags": [str(i) for i in range(100)]}]),
    "endless notes": lambda h, r: packed_rows([h, {**r, "notes": "x" * 30_000}]),
    "a time that is none": lambda h, r: packed_rows([h, {**r, "created": "NaN"}]),
    "a link with code": lambda h, r: packed_rows([h, {**r, "link": {"q": {"a": 1}}}]),
    "a link of a megabyte": lambda h, r: packed_rows([h, {**r, "link": {"q": "x" * 1_000_000}}]),
    "half a character": lambda h, r: packed_rows(
        [
            h,
            json.dumps(
                with_value(r, "comparison", "run", "states", 0, "question", "text", to="\ud800")
            ),
        ]
    ),
    "a huge number": lambda h, r: packed_rows(
        [h, with_value(r, "comparison", "run", "paths", "node", 0, to=10**40)]
    ),
    "an unknown operator": lambda h, r: packed_rows(
        [h, with_value(r, "comparison", "lanes", 0, "line", to="Evil()")]
    ),
    "a good case and a bad one": lambda h, r: packed_rows(
        [h, {**r, "id": "0" * 12}, {**r, "tags": 1}]
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_file_is_refused_and_changes_nothing(saved_case, kind):
    heading, row = lines(export([saved_case.id]))
    with pytest.raises(BadInput) as error:
        load(HOSTILE[kind](heading, row))
    assert str(error.value).endswith(".") and own() == [saved_case]


def test_bad_line_is_named(saved_case):
    heading, row = lines(export([saved_case.id]))
    with pytest.raises(BadInput, match="Line 3 of this file"):
        load(packed_rows([heading, row, {**row, "tags": 1}]))


def test_compression_bomb_is_refused_before_unpacking(saved_case, monkeypatch):
    heading, _ = lines(export([saved_case.id]))
    # 40 kB hold 40 MB in one line.
    bomb = gzip.compress(json.dumps(heading).encode() + b"\n" + b" " * 40_000_000)
    with pytest.raises(BadInput, match="Line 2 of this file is larger than a case may be"):
        load(bomb)
    monkeypatch.setattr("core.cases.file.MAX_UNPACKED_CASES_BYTES", 1_000_000)
    with pytest.raises(BadInput, match="larger than a case may be"):
        load(gzip.compress(json.dumps(heading).encode() + b"\n" + b" " * 1_100_000))
    monkeypatch.setattr("core.cases.file.MAX_CASES_FILE_BYTES", 1_000)
    with pytest.raises(BadInput, match="too large"):
        load(b"x" * 2_000)


def test_too_many_cases_are_refused(saved_case, monkeypatch):
    heading, row = lines(export([saved_case.id]))
    monkeypatch.setattr("core.cases.file.MAX_CASES", 2)
    with pytest.raises(BadInput, match="more than 2 cases"):
        load(packed_rows([heading, row, row, row]))
    assert own() == [saved_case]


def test_example_can_be_duplicated_but_not_changed(saved_case, tmp_path, monkeypatch):
    from core.cases import duplicate

    (tmp_path / "show.cases.gz").write_bytes(export([saved_case.id]))
    monkeypatch.setattr(shipped, "EXAMPLE_FOLDER", tmp_path)
    example = next(case for case in cases() if case.example)
    assert (example.id, example.question, example.notes) == (
        "example-show-1",
        saved_case.question,
        "note",
    )
    assert comparison_of_case(example.id).lanes[0].state.answer == "Drama"
    for forbidden in (edit, delete):
        with pytest.raises(BadInput, match="duplicate it to change it"):
            forbidden(example.id)
    copy = duplicate(example.id)
    assert not copy.example and edit(copy.id, notes="changed").notes == "changed"
    assert lines(export([example.id]))[1]["id"] == "example-show-1"
