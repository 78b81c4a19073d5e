"""Columnar files with false sizes inside give an error sentence and do not end the process."""

from __future__ import annotations

import struct
from contextlib import closing

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.errors import BadInput
from core.io.columnar import BATCH_VALUE_BYTES, ColumnFile
from core.questions.question_files import read_questions
from core.retrievers.runs.formats import read_run_file
from core.runtime import separate_columns
from core.runtime.row_files import file_rows
from core.runtime.separate_columns import SeparateColumns, column_rows
from core.runtime.subprocess_worker import WorkerEndedError
from tests.triples import read_triples

FIRST = "MARKERMARKER"
COLUMNS = {"head": [FIRST, "b"], "question": ["r", "q"], "relation": ["r", "r"], "tail": ["c", "d"]}


def arrow(path, columns, stream=False):
    table = pa.table(columns)
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as sink, make(sink, table.schema) as writer:
        writer.write_table(table)


def write_false_offset(path, wrong, stream=False):
    """Write an Arrow file whose first text ends at `wrong`."""
    arrow(path, COLUMNS, stream)
    data = bytearray(path.read_bytes())
    at = data.find(struct.pack("<iii", 0, 12, 13))
    data[at + 4 : at + 8] = struct.pack("<i", wrong)
    path.write_bytes(data)


def rows_of(path):
    return [row for _, row in column_rows(path)]


READERS = [
    rows_of,
    lambda path: list(file_rows(path)),
    lambda path: list(read_triples(path)),
    lambda path: read_questions(path),
    lambda path: read_run_file(path),
]


@pytest.mark.parametrize(
    "wrong, stream, read",
    [
        *((wrong, stream, rows_of) for wrong in (2_000_000_000, 3000, -5) for stream in (0, 1)),
        *((3000, False, read) for read in READERS[1:]),
    ],
)
def test_a_false_offset_gives_an_error_sentence(tmp_path, wrong, stream, read):
    path = tmp_path / "g.arrow"
    write_false_offset(path, wrong, stream)
    with pytest.raises(BadInput, match=r"g\.arrow cannot be read as Arrow"):
        read(path)


@pytest.mark.parametrize("name", ["g.arrow", "g.parquet"])
def test_invalid_text_bytes_give_an_error_sentence(tmp_path, name):
    path = tmp_path / name
    if name == "g.parquet":
        pq.write_table(pa.table(COLUMNS), path, compression="none", use_dictionary=False)
    else:
        arrow(path, COLUMNS)
    path.write_bytes(path.read_bytes().replace(FIRST.encode(), b"\xff" * len(FIRST)))
    with pytest.raises(BadInput, match=r"cannot be read as"):
        rows_of(path)


def test_a_value_unknown_to_python_gives_an_error_sentence(tmp_path):
    path = tmp_path / "g.parquet"
    times = pa.array([2**60], pa.timestamp("us"))
    pq.write_table(pa.table({"question": ["a"], "at": times}), path)
    with pytest.raises(BadInput, match="cannot be read as Parquet"):
        rows_of(path)


@pytest.mark.parametrize("name", ["g.arrow", "g.parquet"])
def test_a_shared_long_text_counts_for_each_row(tmp_path, name):
    path, text = tmp_path / name, "x" * 100_000
    if name == "g.parquet":
        pq.write_table(pa.table({"text": [text] * 200}), path)
        assert path.stat().st_size < 200_000
    else:
        arrow(path, {"text": [text] * 200})
    with pytest.raises(BadInput, match="holds more than 4 MB"):
        for _ in column_rows(path, max_bytes=1 << 22):
            pass


def test_rows_of_some_columns(tmp_path):
    for name in ("g.arrow", "g.parquet"):
        path = tmp_path / name
        table = {"a": list(range(600)), "b": ["x"] * 600}
        arrow(path, table) if name == "g.arrow" else pq.write_table(pa.table(table), path)
        with closing(SeparateColumns(path)) as file:
            pieces = list(file.read_lists(["a"]))
        assert [value for _, (column,) in pieces for value in column] == table["a"]
        assert pieces[-1][0] == pytest.approx(1, abs=0.1)
        assert [row for _, row in column_rows(path, without=("b",))][149] == {"a": 149}


def test_a_huge_buffer_gives_an_error_sentence(tmp_path):
    path = tmp_path / "g.arrow"
    table, options = pa.table({"text": ["x" * 100_003]}), pa.ipc.IpcWriteOptions(compression="zstd")
    with (
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, table.schema, options=options) as writer,
    ):
        writer.write_table(table)
    data = path.read_bytes()
    # The packed bytes begin with this mark, after the length of the buffer.
    start = b"\x28\xb5\x2f\xfd"
    length = struct.pack("<q", 100_003) + start
    assert data.count(length) == 1
    path.write_bytes(data.replace(length, struct.pack("<q", 1 << 36) + start))
    with pytest.raises(BadInput, match=r"g\.arrow .*memory"):
        rows_of(path)


@pytest.mark.parametrize("read", READERS)
def test_a_dead_process_gives_an_error_sentence(tmp_path, monkeypatch, read):
    class DyingColumnWorker(separate_columns.Worker):
        def run(self, *arguments, **how):
            raise WorkerEndedError()

    path = tmp_path / "g.parquet"
    pq.write_table(pa.table(COLUMNS), path)
    monkeypatch.setattr(separate_columns, "Worker", DyingColumnWorker)
    with pytest.raises(BadInput, match=r"g\.parquet cannot be read"):
        read(path)


def test_a_text_of_a_dictionary_counts_for_each_row(tmp_path):
    path = tmp_path / "g.parquet"
    texts = pa.array(["x" * 100_000] * 200).dictionary_encode()
    pq.write_table(pa.table({"text": texts}), path)
    with pytest.raises(BadInput, match="holds more than 4 MB"):
        list(column_rows(path, max_bytes=1 << 22))


def test_long_texts_come_in_pieces(tmp_path):
    path = tmp_path / "g.arrow"
    arrow(path, {"text": ["x" * 10_000_000] * 10})
    with closing(ColumnFile(path)) as file:
        sizes = [len(data) for _, data in file.read_pieces(["text"])]
    assert len(sizes) > 1
    assert max(sizes) <= BATCH_VALUE_BYTES
    assert sum(sizes) >= 100_000_000


def test_a_row_without_end_gives_an_error_sentence(tmp_path, monkeypatch):
    path = tmp_path / "g.arrow"
    arrow(path, {"text": ["x" * 2000]})
    monkeypatch.setattr("core.io.columnar.MAX_ROW_BYTES", 1000)
    with closing(ColumnFile(path)) as file, pytest.raises(BadInput, match="has a row of more"):
        list(file.read_pieces(["text"]))
