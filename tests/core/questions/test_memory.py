"""Small packed files that unpack to large ones are read within bounded memory, with a note."""

from __future__ import annotations

import gzip
import json
import tracemalloc

import pytest

from core.errors import BadInput
from core.questions import collector
from core.questions.question_files import read_questions

QUESTION = b'{"question": "a", "answers": ["b"]}'
UNPACKED_BYTES = 6_000_000  # Unpacked size of each file in bytes.


def write_packed(path, head: bytes, row: bytes, tail: bytes):
    with gzip.open(path, "wb", 9) as file:
        file.write(head + row * (UNPACKED_BYTES // len(row)) + tail)
    return path


@pytest.mark.parametrize(
    "head, row, tail",
    [
        (b"", QUESTION + b"\n", b""),
        (b"[\n", QUESTION + b",\n", QUESTION + b"]"),
        (b'{"questions": [\n', QUESTION + b",\n", QUESTION + b"]}"),
        (b'[{"question": "a", "graph": [\n', b"[],\n", b"[]]}]"),
        (b'[{"question": "a", "answers": [\n', b'"b",\n', b'"b"]}]'),
        (b"", b"\t" * 1023 + b"\n", b""),
        (b"question,answers\n", b'"a\n",', b"b"),
        (b"", b"a\tb\n", b""),
    ],
    ids=["lines", "array", "object", "one row", "answers", "tabs", "one cell a line", "text"],
)
def test_a_file_that_unpacks_to_much_takes_little_memory(tmp_path, monkeypatch, head, row, tail):
    monkeypatch.setattr(collector, "MAX_QUESTION_BYTES", 2 << 20)
    monkeypatch.setattr("core.io.json_pieces.MAX_JSON_VALUE_CHARACTERS", 1 << 20)
    monkeypatch.setattr("core.questions.table.MAX_LINE_BYTES", 1 << 20)
    if row[:1] in b'{["' and head != b"question,answers\n":
        suffix = "json"
    elif b"," in head:
        suffix = "csv"
    else:
        suffix = "txt"
    file = write_packed(tmp_path / f"q.{suffix}.gz", head, row, tail)
    tracemalloc.start()
    try:
        with pytest.raises(BadInput) as told:
            read_questions(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 << 20, f"{peak >> 20} MB for {told.value}"


def test_the_number_of_fitting_questions_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(collector, "MAX_QUESTION_BYTES", 1 << 20)
    file = tmp_path / "q.jsonl"
    file.write_bytes((QUESTION + b"\n") * 10_000)
    with pytest.raises(
        BadInput,
        match=r"q.jsonl, line \d+: the questions up to here take more than 1 MB of memory.*[\d,]+ questions fit",
    ):
        read_questions(file)


def test_repeated_names_are_stored_once(tmp_path):
    file = tmp_path / "q.json"
    file.write_text(
        json.dumps(
            [{"question": f"who {i}", "answers": ["Ann Other", "Bo Else"]} for i in range(2)]
        )
    )
    first, second = read_questions(file)
    assert first.answers == second.answers == ("Ann Other", "Bo Else")
    assert all(one is other for one, other in zip(first.answers, second.answers))
