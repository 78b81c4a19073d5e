"""Databases where nothing can be written: they are read, with all that was written ahead, and stay as they are."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from core.io.sqlite import connect, write_ahead


@pytest.fixture
def closed_off(monkeypatch):
    """From its call on, nothing can be written."""
    return lambda: monkeypatch.setattr("core.io.sqlite.os.access", lambda *_: False)


def written(file, *numbers):
    database = sqlite3.connect(file)
    write_ahead(database)
    database.execute("CREATE TABLE IF NOT EXISTS numbers (number INTEGER)")
    database.executemany("INSERT INTO numbers VALUES (?)", [(number,) for number in numbers])
    database.commit()
    return database


def numbers(database) -> list[int]:
    return [number for (number,) in database.execute("SELECT number FROM numbers ORDER BY number")]


def test_a_whole_file_is_read_in_place(tmp_path, closed_off):
    written(tmp_path / "one.sqlite", 1, 2).close()
    closed_off()
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        database = connect(tmp_path / "one.sqlite")
        assert numbers(database) == [1, 2]
        database.execute("INSERT INTO numbers VALUES (3)")
    assert [path.name for path in tmp_path.iterdir()] == ["one.sqlite"]


def test_what_was_written_ahead_is_read_as_well(tmp_path, closed_off):
    at_work = written(tmp_path / "one.sqlite", 1, 2)  # as a process that was killed leaves it
    (tmp_path / "left").mkdir()
    for part in tmp_path.glob("one.sqlite*"):
        shutil.copy(part, tmp_path / "left" / part.name)
    at_work.close()
    closed_off()
    before = {path.name: path.read_bytes() for path in (tmp_path / "left").iterdir()}
    database = connect(tmp_path / "left" / "one.sqlite")
    assert numbers(database) == [1, 2]
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        database.execute("INSERT INTO numbers VALUES (3)")
    assert {path.name: path.read_bytes() for path in (tmp_path / "left").iterdir()} == before


def test_where_there_is_none_yet_it_is_made(tmp_path):
    written(tmp_path / "new.sqlite", 1).close()
    assert numbers(connect(tmp_path / "new.sqlite")) == [1]
