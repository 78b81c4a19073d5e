"""Read-only databases are read with their write-ahead log, and stay unchanged."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import pytest

from core.errors import StoreError
from core.io.home import home_folder, save_fault
from core.io.sqlite import open_database, write_ahead
from tests.unwritable import WAYS, home_on_a_disk

TABLE = "CREATE TABLE IF NOT EXISTS numbers (number INTEGER)"


def prepare_table(database):
    if not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        write_ahead(database)
        database.execute(TABLE)


@pytest.fixture
def place(tmp_path, monkeypatch):
    with home_on_a_disk(tmp_path / "disk") as found:
        monkeypatch.setenv("HOPSCOPE_HOME", str(found.folder))
        yield found


def write_numbers(file, *numbers):
    database = open_database(file, prepare_table)
    assert database.is_writable
    with database:
        database.executemany("INSERT INTO numbers VALUES (?)", [(number,) for number in numbers])
    return database


def read_numbers(file) -> list[int]:
    """Numbers in a database that cannot be written."""
    with closing(open_database(file, prepare_table)) as database:
        assert not database.is_writable
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            database.execute("INSERT INTO numbers VALUES (9)")
        return [
            number for (number,) in database.execute("SELECT number FROM numbers ORDER BY number")
        ]


@pytest.mark.parametrize("way", WAYS)
def test_saved_rows_are_read(place, way):
    write_numbers(place.folder / "one.sqlite", 1, 2).close()
    place.close(way)
    before = (place.folder / "one.sqlite").read_bytes()
    assert (
        read_numbers(place.folder / "one.sqlite") == [1, 2]
        and (place.folder / "one.sqlite").read_bytes() == before
    )


@pytest.mark.parametrize("way", WAYS)
def test_the_write_ahead_log_is_read_as_well(place, way):
    at_work = write_numbers(
        place.folder / "one.sqlite", 1, 2
    )  # A killed process leaves such a state.
    (place.folder / "left").mkdir()
    for part in place.folder.glob("one.sqlite*"):
        shutil.copy(part, place.folder / "left" / part.name)
    at_work.close()
    (place.folder / "left" / "one.sqlite-shm").unlink()
    place.close(way)
    before = {path.name: path.read_bytes() for path in (place.folder / "left").iterdir()}
    assert before["one.sqlite-wal"] and read_numbers(place.folder / "left" / "one.sqlite") == [1, 2]
    assert {name: (place.folder / "left" / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("way", WAYS)
def test_a_database_without_write_ahead_log_is_read(place, way):
    def prepare(database):
        database.execute(TABLE) if not database.execute(
            "SELECT count(*) FROM sqlite_master"
        ).fetchone()[0] else None

    with closing(open_database(place.folder / "one.sqlite", prepare)) as database, database:
        assert database.is_writable
        database.execute("INSERT INTO numbers VALUES (1)")
    place.close(way)
    with closing(open_database(place.folder / "one.sqlite", prepare)) as database:
        assert not database.is_writable and database.execute(
            "SELECT number FROM numbers"
        ).fetchall() == [(1,)]


@pytest.mark.parametrize("way", WAYS)
def test_a_missing_database_is_empty(place, way):
    place.close(way)
    assert read_numbers(place.folder / "none.sqlite") == []


@pytest.mark.parametrize("way", WAYS)
def test_a_database_is_written_again_after_space_is_free(place, way):
    write_numbers(place.folder / "one.sqlite", 1).close()
    place.close(way)
    assert read_numbers(place.folder / "one.sqlite") == [1] and save_fault()
    place.open()
    assert not save_fault()
    write_numbers(place.folder / "one.sqlite", 2).close()
    with closing(open_database(place.folder / "one.sqlite", prepare_table)) as database:
        assert database.execute("SELECT sum(number) FROM numbers").fetchone() == (3,)


@pytest.mark.parametrize(
    "way, why",
    [("full", "the disk that holds {} is full"), ("read-only", "{} cannot be written")],
    ids=WAYS[::-1],
)
def test_the_reason_of_failed_saving_is_given(place, way, why):
    assert save_fault() == ""
    place.close(way)
    assert why.format(place.folder) in save_fault()


def test_a_home_that_cannot_be_made_gives_an_error_sentence(place, monkeypatch):
    place.close("read-only")
    monkeypatch.setenv("HOPSCOPE_HOME", str(place.folder / "new"))
    with pytest.raises(
        StoreError,
        match="home/new cannot be made: (Read-only file system|Permission denied). Name another",
    ):
        home_folder()


def test_another_error_is_raised(tmp_path):
    (tmp_path / "one.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        open_database(tmp_path / "one.sqlite", prepare_table)
