"""Row files of earlier versions open; those of later versions are refused and stay unchanged."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from core import sharing
from core.builds import fact_store, text_vectors
from core.cases import database
from core.errors import StoreError
from core.evaluation.runs import store
from core.indexes import cases, reports, walk_sentences
from core.io.rows import RowFile, Schema, select_by_keys
from core.models.chat import saved_replies

# Tables as the first versions made them, and a row of each table.
FIRST_VERSIONS = {
    "owners": (
        sharing.OWNER_SCHEMA,
        [
            "create table owners (kind text not null, name text not null, owner text not "
            "null, at real not null, primary key (kind, name))"
        ],
        {"owners": ("graph", "films", "ann@example.com", 1.0)},
        {},
    ),
    "facts": (
        fact_store.FACTS_SCHEMA,
        ["create table facts (key blob primary key, facts blob not null) without rowid"],
        {"facts": (b"k", b"f")},
        {},
    ),
    "vectors": (
        text_vectors.FORMER_SCHEMA,
        ["create table vectors (key blob primary key, vector blob not null) without rowid"],
        {"vectors": (b"k", b"\0\0")},
        {},
    ),
    "replies": (
        saved_replies.REPLIES_SCHEMA,
        [
            "create table replies (key text primary key, model text not null, text text "
            "not null, tokens_in integer not null, "
            "tokens_out integer not null, finish text not null, seconds real not null) "
            "without rowid"
        ],
        {"replies": ("k", "m", "Ann.", 3, 1, "stop", 0.5)},
        {"replies": (0, "")},
    ),
    "reports": (
        reports.REPORTS_FILE_SCHEMA,
        [
            "create table reports (key text primary key, title text not null, text text "
            "not null, note text not null)"
        ],
        {"reports": ("k", "Title", "Text", "")},
        {},
    ),
    "sentences": (
        walk_sentences.SENTENCES_SCHEMA,
        ["create table sentences (key text primary key, text text not null)"],
        {"sentences": ("k", "Ann.")},
        {},
    ),
    "solved": (
        cases.CASES_SCHEMA,
        [
            "create table cases (key text primary key, masked text, chains text, fit "
            "real, vector blob)"
        ],
        {"cases": ("k", "who", "[]", 1.0, b"\0\0\0\0")},
        {},
    ),
    "cases": (
        database.CASE_SCHEMA,
        [
            "create table cases (id text primary key, created real not null, changed "
            "real not null, digest text not null, "
            "about text not null, link text not null, notes text not null, tags text not "
            "null, content blob not null)",
            "create table feedback (digest text not null, question text not null, line "
            "text not null, answer text not null, "
            "up integer not null, time real not null, about text not null, primary key "
            "(digest, question, line, answer))",
        ],
        {
            "cases": ("i", 1.0, 2.0, "d", "{}", "", "", "", b"c"),
            "feedback": ("d", "q", "l", "a", 1, 3.0, "{}"),
        },
        {},
    ),
    "evaluations": (
        store.EVALUATION_SCHEMA,
        [
            "create table runs (id integer primary key, key text not null, spec text not "
            "null, created real not null, "
            "status text not null)",
            "create table questions (run integer not null references runs on delete "
            "cascade, place integer not null, id text not null, "
            "told text not null, primary key (run, place), unique (run, id))",
            "create table rows (run integer not null references runs on delete cascade, "
            "instance text not null, question text not null, "
            "outcome text, error text, states blob, unique (run, instance, question))",
        ],
        {
            "runs": (1, "k", "{}", 1.0, "done"),
            "questions": (1, 0, "q", "{}"),
            "rows": (1, "a", "q", None, None, None),
        },
        {},
    ),
}
FOR_EACH_FILE = pytest.mark.parametrize("name", FIRST_VERSIONS)


def write_first_version(file, name):
    """Write the file as the first version did, with a row in each table."""
    schema, statements, rows, _ = FIRST_VERSIONS[name]
    with closing(sqlite3.connect(file)) as base, base:
        for statement in statements:
            base.execute(statement)
        for table, row in rows.items():
            base.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)
        base.execute(f"pragma application_id = {schema.application}")
        base.execute(f"pragma user_version = {schema.version}")
    return RowFile(file, schema)


@FOR_EACH_FILE
def test_a_file_of_the_first_version_opens(tmp_path, name):
    _, _, rows, later = FIRST_VERSIONS[name]
    found = write_first_version(tmp_path / "one.sqlite", name)
    for table, row in rows.items():
        assert found.query(f"select * from {table}") == [row + later.get(table, ())]


@FOR_EACH_FILE
def test_a_new_file_has_the_tables_of_the_first_version_and_what_came_later(tmp_path, name):
    schema, _, rows, later = FIRST_VERSIONS[name]
    new = RowFile(tmp_path / "new.sqlite", schema)
    for table, row in rows.items():
        new.save(table, [row + later.get(table, ())])
        assert new.query(f"select * from {table}") == [row + later.get(table, ())]


@FOR_EACH_FILE
def test_a_newer_file_is_refused_and_stays_unchanged(tmp_path, name):
    found = write_first_version(tmp_path / "one.sqlite", name)
    with closing(sqlite3.connect(found.file)) as base, base:
        base.execute(f"pragma user_version = {found.schema.version + 1}")
    before = found.file.read_bytes()
    with pytest.raises(
        StoreError,
        match=rf"^The {found.schema.rows_noun[4:]} in .* were written by a newer Hopscope; update this one to open them\.$",
    ):
        found.query("select 1")
    assert found.file.read_bytes() == before


@FOR_EACH_FILE
def test_a_damaged_file_is_refused_and_stays_unchanged(tmp_path, name):
    (tmp_path / "one.sqlite").write_bytes(b"this is no database " * 100)
    found = RowFile(tmp_path / "one.sqlite", FIRST_VERSIONS[name][0])
    with pytest.raises(StoreError, match="cannot be used .*(remove that file|left as it is)"):
        found.query("select 1")
    assert found.file.read_bytes() == b"this is no database " * 100


def test_many_rows_are_found_by_key(tmp_path):
    saved = RowFile(tmp_path / "one.sqlite", walk_sentences.SENTENCES_SCHEMA)
    saved.save("sentences", [(str(number), f"text {number}") for number in range(1200)])
    with saved.open_for_reading() as base:
        found = dict(select_by_keys(base, "sentences", ("key", "text"), map(str, range(-3, 1100))))
    assert len(found) == 1100 and found["1099"] == "text 1099"


def test_after_an_error_nothing_is_written(tmp_path):
    saved = RowFile(tmp_path / "one.sqlite", walk_sentences.SENTENCES_SCHEMA)
    with pytest.raises(RuntimeError), saved.open_for_writing() as base:
        base.execute("insert into sentences values ('k', 'Ann.')")
        raise RuntimeError("stop")
    assert saved.query("select * from sentences") == []


NUMBERS_SCHEMA = Schema(
    "the numbers",
    ("create table numbers (key text primary key, number integer not null)",),
    is_recomputable=True,
)


def read_numbers(file):
    """Rows of the file as another process reads them."""
    with closing(sqlite3.connect(file)) as database:
        return dict(database.execute("SELECT key, number FROM numbers"))


def test_a_held_file_is_opened_once_for_all_threads_and_closed_at_the_end(tmp_path, monkeypatch):
    opened, file = [], tmp_path / "numbers.sqlite"
    monkeypatch.setattr(
        RowFile,
        "open",
        lambda self, _open=RowFile.open, **how: opened.append(self) or _open(self, **how),
    )
    rows, others = RowFile(file, NUMBERS_SCHEMA), RowFile(file, NUMBERS_SCHEMA)
    with rows.keep_open():
        with rows.keep_open(), ThreadPoolExecutor(8) as pool:
            list(
                pool.map(
                    lambda number: (rows, others)[number % 2].save(
                        "numbers", [(str(number), number)]
                    ),
                    range(40),
                )
            )
        # The rows are written now, not when the file is closed.
        assert read_numbers(file) == {str(number): number for number in range(40)}
        assert others.query("SELECT count(*) FROM numbers") == [(40,)]
    assert len(opened) == 1
    rows.query("SELECT 1 FROM numbers")
    assert len(opened) == 2  # The file is no longer held open.


def test_a_removed_held_file_is_recreated_and_a_failed_one_reopened(tmp_path):
    file = tmp_path / "numbers.sqlite"
    rows = RowFile(file, NUMBERS_SCHEMA)
    with rows.keep_open():
        rows.save("numbers", [("one", 1)])
        for part in tmp_path.iterdir():
            part.unlink()
        rows.save("numbers", [("two", 2)])
        assert read_numbers(file) == {"two": 2}
        with pytest.raises(StoreError):
            rows.query("SELECT what FROM nowhere")
        rows.save("numbers", [("three", 3)])
        assert read_numbers(file) == {"two": 2, "three": 3}


def test_a_held_file_that_becomes_read_only_is_still_read(tmp_path, monkeypatch):
    rows = RowFile(tmp_path / "numbers.sqlite", NUMBERS_SCHEMA)
    with rows.keep_open():
        rows.save("numbers", [("one", 1)])
        monkeypatch.setattr("core.io.rows.save_fault", lambda folder: "The disk is full.")
        monkeypatch.setattr("core.io.sqlite.save_fault", lambda folder=None: "The disk is full.")
        rows.save("numbers", [("two", 2)])
        assert rows.query("SELECT * FROM numbers") == [("one", 1)]


def test_only_irreplaceable_rows_wait_for_the_disk(tmp_path):
    for schema, waits in (
        (NUMBERS_SCHEMA, 1),
        (Schema("the numbers", NUMBERS_SCHEMA.statements), 2),
    ):
        with RowFile(tmp_path / f"{waits}.sqlite", schema).open_for_reading() as database:
            assert database.execute("PRAGMA synchronous").fetchone() == (waits,)
