"""Tables and JSON rows, with one document for each row."""

from __future__ import annotations

import json
import zipfile

import pytest

from core.corpus.readers import read_files
from core.corpus.readers.file_sources import MemoryFile
from core.corpus.readers.table import column_names, guess_roles, parse_column_roles
from core.corpus.readers.table import read_delimited_table as read_table
from core.corpus.readers.table import read_json_rows as read_json
from core.errors import BadInput
from core.io.recoded_files import as_utf8
from core.watch import NO_WATCH
from tests.notes import NoteWith


def table(name, data, columns):
    return read_table(as_utf8(MemoryFile(name, data)), columns)


def json_lines(name, data, columns):
    return read_json(as_utf8(MemoryFile(name, data)), columns)


def ids_titles_texts(documents):
    return [(document.id, document.title, document.text) for document in documents]


def test_columns_are_guessed_by_their_names():
    data = b'Id,Title,Body\n7,One,"First, with <b>\nand more"\n8,Two,Second\n9,Three,\n'
    assert ids_titles_texts(table("m.csv", data, {})) == [
        ("m.csv:7", "One", "First, with <b>\nand more"),
        ("m.csv:8", "Two", "Second"),
    ]


def test_columns_can_be_named():
    rows = table("m.csv", b"a;b;c\nx;y;z\n", parse_column_roles("text=C, title=a"))
    assert ids_titles_texts(rows) == [("m.csv:1", "x", "z")]
    assert ids_titles_texts(table("m.tsv", b"title\tpassage\nT\tsome, text\n", {})) == [
        ("m.tsv:1", "T", "some, text")
    ]
    assert ids_titles_texts(table("one.csv", b"anything\nfirst\nsecond\n", {})) == [
        ("one.csv:1", "one", "first"),
        ("one.csv:2", "one", "second"),
    ]


def test_blank_lines_before_a_header_are_passed_over():
    assert ids_titles_texts(table("m.csv", b"\n\ntext\na\n", {})) == [("m.csv:1", "m", "a")]


def test_a_repeated_id_gets_the_row_number():
    assert [document.id for document in table("m.csv", b"id,text\n1,a\n1,b\n,c\n", {})] == [
        "m.csv:1",
        "m.csv:1:2",
        "m.csv:3",
    ]


ROWS = [
    {"_id": "a", "title": "A", "text": "First {x}."},
    {"_id": 5, "text": ["Second.", "And more."]},
]


@pytest.mark.parametrize(
    "data",
    [
        "\n".join(map(json.dumps, ROWS)),
        json.dumps(ROWS),
        json.dumps({"data": ROWS}),
        "\ufeff" + json.dumps(ROWS, indent=1),
    ],
)
def test_rows_are_read_from_lines_and_from_arrays(data):
    assert ids_titles_texts(json_lines("r.jsonl", data.encode(), {})) == [
        ("r.jsonl:a", "A", "First {x}."),
        ("r.jsonl:5", "r", "Second. And more."),
    ]


def test_one_object_is_one_row():
    assert ids_titles_texts(json_lines("r.json", b'{"text": "All.", "n": 1}', {})) == [
        ("r.json:1", "r", "All.")
    ]


@pytest.mark.parametrize(
    "read, data, columns, sentence",
    [
        (table, b"", {}, "x is empty"),
        (table, b"a,b\n1,2\n", {"text": "c"}, "no column “c”"),
        (table, b"id,text\n1,\n", {}, "no row with a text in its column “text”"),
        (json_lines, b'{"text": "a"}\n{"text": \n', {}, "x, line 2: not JSON"),
        (table, b",,\n1,2,3\n", {}, "no rows with named columns"),
        (json_lines, b"[]", {}, "no rows with named columns"),
        (json_lines, b"[1, 2]", {}, "line 1: expected a JSON object"),
        (json_lines, b"nonsense", {}, "x, line 1: not JSON"),
        (json_lines, b"[" * 100_000, {}, "x, line 1: this JSON is nested too deep"),
        (table, b"a,b\n,\n", {}, "no row with a text"),
    ],
)
def test_tables_without_texts_are_refused(read, data, columns, sentence):
    with pytest.raises(BadInput, match=sentence):
        read("x", data, columns)


@pytest.mark.parametrize("text", ["Body", "text=", "texts=Body", "=x"])
def test_columns_must_be_named_as_role_and_name(text):
    with pytest.raises(BadInput, match="Name columns as text=Body"):
        parse_column_roles(text)


def test_column_names_are_known_before_reading():
    assert column_names(MemoryFile("m.csv", b"\nRe;Message;\nx;y;z\n")) == ["Re", "Message"]
    assert (
        column_names(MemoryFile("m.jsonl", b'{"a": 1}\n{"b": 2, "a": 3}'))
        == column_names(MemoryFile("m.json", b'[{"a": 1}, {"b": 2}]'))
        == ["a", "b"]
    )
    assert guess_roles(["No", "Body", "Name", "TEXT"]) == {"text": "TEXT", "title": "Name"}
    with pytest.raises(BadInput, match="line 1: expected a JSON object"):
        column_names(MemoryFile("m.json", b"[1]"))


def test_a_column_may_be_none():
    assert ids_titles_texts(table("m.csv", b"id,title,text\n7,T,x\n", {"title": "", "id": ""})) == [
        ("m.csv:1", "m", "x")
    ]


def read(of, data, columns=None, name="t.json"):
    """Documents of rows, and the notes on them."""
    notes: list[str] = []
    found = of(as_utf8(MemoryFile(name, data)), columns or {}, NO_WATCH, notes.append)
    return ids_titles_texts(found), notes


NESTED = (
    b'{"id": 7, "meta": {"title": "A"}, "data": {"text": "One."}}\n{"id": 8, "data": '
    b'{"text": "Two.", "more": {"x": 1}}}\n'
)


def test_nested_fields_are_found_and_noted():
    rows = [("t.jsonl:7", "A", "One."), ("t.jsonl:8", "t", "Two.")]
    assert read(read_json, NESTED, name="t.jsonl") == (
        rows,
        [NoteWith("t.jsonl", "text", "data.text", "title", "meta.title")],
    )
    assert read(
        read_json, NESTED, parse_column_roles("text=data.text,title=meta.title"), "t.jsonl"
    ) == (
        rows,
        [],
    )
    assert column_names(MemoryFile("t.jsonl", NESTED)) == [
        "id",
        "meta.title",
        "data.text",
        "data.more.x",
    ]


def test_a_column_of_objects_is_refused_as_text():
    with pytest.raises(BadInput, match="“data” .*: data.text, data.more.x"):
        read(read_json, NESTED, {"text": "data"})
    mixed = b'{"said": "One."}\n{"said": {"by": "Ann"}}\n'
    with pytest.raises(BadInput, match="row 2: “said” .*: said.by"):
        read(read_json, mixed, {"text": "said"}, "t.jsonl")


def test_the_nested_field_with_the_most_text_is_read():
    rows = [
        {
            "title": "Tides",
            "abstract": [{"text": "Salt.", "section": "A"}],
            "body_text": [{"text": "We measured salt."}, {"text": "It moved."}],
            "back_matter": [],
        }
    ]
    for name in ("t.json", "t.jsonl"):
        found, notes = read(read_json, json.dumps(rows[0]).encode(), name=name)
        assert found == [(f"{name}:1", "Tides", "We measured salt.\nIt moved.")]
        assert ["body_text.text" in note and "most text" in note for note in notes] == [True]


def test_an_inverted_index_is_its_text():
    rows = [
        {"id": "W1", "title": "Tides", "abstract_index": {"tide.": [2], "Salt": [0], "and": [1]}},
        {"id": "W2", "title": "Nets", "abstract_index": None},
    ]
    found, notes = read(read_json, json.dumps(rows).encode())
    assert found == [("t.json:W1", "Tides", "Salt and tide.")]
    assert (
        "its text is read from abstract_index" in notes[0]
        and "order" in notes[0]
        and "1 row" in notes[1]
    )


@pytest.mark.parametrize(
    "of, name, data, rows",
    [
        (
            *(read_table, "t.csv", b"route;adult;note\nVarberg-Grenaa;42;\nOslo-Kiel;;closed\n"),
            ["route: Varberg-Grenaa; adult: 42", "route: Oslo-Kiel; note: closed"],
        ),
        (
            *(read_table, "t.csv", b"port,price,price,\nOslo,4,5,x\n"),
            ["port: Oslo; price: 4; price 3: 5; 4: x"],
        ),
        (
            *(
                read_json,
                "t.jsonl",
                b'{"boat": "Heron", "crew": [{"name": "Ida"}, {"name": "Jon"}], "n": null}',
            ),
            ["boat: Heron; crew.name: Ida, Jon"],
        ),
        (
            *(read_json, "t.json", b'{"Oslo": {"boats": 3}, "Kiel": {"boats": 4}}'),
            ["Oslo; boats: 3", "Kiel; boats: 4"],
        ),
    ],
)
def test_without_a_column_of_texts_a_row_is_a_sentence(of, name, data, rows):
    found, notes = read(of, data, name=name)
    assert [text for _, _, text in found] == rows
    assert any("each row is a sentence" in note and rows[0] in note for note in notes)
    assert not any("text=" in note or "--" in note for note in notes)


def test_turns_of_a_conversation_are_one_text():
    rows = (
        b'{"messages": [{"role": "user", "content": "Who?"}, {"role": "bot", "content": "Ann."}]}\n'
        * 2
    )
    assert read(read_json, rows, name="t.jsonl")[0][0] == ("t.jsonl:1", "t", "Who?\nAnn.")


def test_a_key_with_dots_is_found():
    assert read(read_json, b'[{"a.b": "One."}]', {"text": "a.b"})[0] == [("t.json:1", "t", "One.")]


@pytest.mark.parametrize("indent", [None, 2])
def test_rows_by_their_keys_are_rows(indent):
    held = {
        "chunk-1": {"tokens": 1, "content": "One."},
        "chunk-2": {"tokens": 2, "content": "Two."},
    }
    rows, notes = read(read_json, json.dumps(held, indent=indent).encode())
    assert notes == [NoteWith("t.json", "keys")]
    assert rows == [("t.json:chunk-1", "t", "One."), ("t.json:chunk-2", "t", "Two.")]


def test_rows_anywhere_in_an_object_are_rows():
    held = {"total": 2, "data": {"items": [{"id": 4, "text": "One."}, {"id": 5, "text": "Two."}]}}
    rows, notes = read(read_json, json.dumps(held).encode())
    assert rows == [("t.json:4", "t", "One."), ("t.json:5", "t", "Two.")]
    assert notes == [NoteWith("t.json", "“data.items”")]


def test_mongo_ids_are_ids():
    assert read(read_json, b'{"_id": {"$oid": "5f"}, "data": {"text": "One."}}', name="t.jsonl")[
        0
    ] == [("t.jsonl:5f", "t", "One.")]


@pytest.mark.parametrize(
    "name, data",
    [
        ("t.csv", b"1,Ann kept the book.\n2,Bo sailed in May.\n"),
        ("t.tsv", b"1\tAnn kept the book.\n2\tBo sailed in May.\n"),
    ],
)
def test_a_table_without_a_header_is_read_from_its_first_row(name, data):
    rows, notes = read(read_table, data, name=name)
    assert rows == [
        (f"{name}:1", "t", "Ann kept the book."),
        (f"{name}:2", "t", "Bo sailed in May."),
    ]
    assert notes == [NoteWith(name, "no header", 2, "text 2, id 1")]


def test_the_presence_of_a_header_can_be_given():
    data = b"Ann,kept the book\nBo,sailed in May\n"
    _, notes = read(read_table, data, name="t.csv")
    assert any("first row" in note for note in notes)
    rows, _ = read(read_table, data, parse_column_roles("text=2,header=no"), "t.csv")
    assert [text for _, _, text in rows] == ["kept the book", "sailed in May"]
    rows, _ = read(
        read_table,
        b"1,The text is here.\n2,One.\n",
        parse_column_roles("text=2,header=yes"),
        "t.csv",
    )
    assert [text for _, _, text in rows] == ["One."]
    with pytest.raises(BadInput, match="not “header=maybe”"):
        parse_column_roles("header=maybe")


@pytest.mark.parametrize(
    "first", ["name,2019,2020", "Timestamp,How did you like it?", "No,The text that was said"]
)
def test_headers_are_not_taken_for_rows(first):
    assert column_names(MemoryFile("t.csv", f"{first}\n1,2,3\n".encode())) == first.split(",")


def test_columns_by_number_and_the_separator_that_excel_names():
    assert read(read_table, b"sep=;\na;b\nx;One, and more.\n", {"text": "2"}, "t.csv")[0] == [
        ("t.csv:1", "t", "One, and more.")
    ]
    assert read(
        read_table, b"a;b, c, d\nx;One, two\ny;Three, four, five\n", {"text": "2"}, "t.csv"
    )[0][0] == ("t.csv:1", "t", "One, two")


def test_cells_beyond_the_header_and_rows_without_a_text_are_counted():
    rows, notes = read(read_table, b"id,text\n1,One, two\n2,\n3,Three.\n", name="t.csv")
    assert [text for _, _, text in rows] == ["One", "Three."]
    assert notes == [
        NoteWith("t.csv", 1, "row", "“text”", "left out"),
        NoteWith("t.csv", 1, "row", "more cells", "left out"),
    ]


def test_parquet_is_read_with_nested_fields(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(
        pa.table({"id": ["a", "b"], "data": [{"text": "One."}, {"text": "Two."}]}),
        tmp_path / "t.parquet",
    )
    read = read_files([tmp_path / "t.parquet"])
    assert ids_titles_texts(read.documents) == [
        ("t.parquet:a", "t", "One."),
        ("t.parquet:b", "t", "Two."),
    ]
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        archive.write(tmp_path / "t.parquet", "deep/t.parquet")
    assert [one.id for one in read_files([tmp_path / "in.zip"]).documents] == [
        "deep/t.parquet:a",
        "deep/t.parquet:b",
    ]
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BadInput, match="bad.parquet"):
        read_files([tmp_path / "bad.parquet"])
