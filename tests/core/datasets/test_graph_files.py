"""CRAG's folder is read in a process that may end without harm to this one."""

from __future__ import annotations

import json
import pickle

import pytest

from core.datasets import graph_files as module
from core.datasets.graph_files import open_graph_files
from core.errors import BadInput


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cragkg" / "movie").mkdir(parents=True)
    (tmp_path / "cragkg" / "music").mkdir()
    film = {"title": "One", "genres": [{"name": "Drama"}]}
    (tmp_path / "cragkg" / "movie" / "movie_db.json").write_text(json.dumps({"1": film}), "utf-8")
    return tmp_path / "cragkg"


def test_triples_are_read_and_missing_files_noted(folder, tmp_path):
    file = open_graph_files([folder], tmp_path)
    assert ("One", "has_genre", "Drama") in set(file.read())
    assert any("person_db.json is not there" in note for note in file.tally.notes)


def test_an_endless_pickle_gives_an_error_sentence(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_CRAG_SECONDS", 2.0)
    pairs = b"".join(b"h%ch%c\x86\x94" % (at - 1, at - 1) for at in range(1, 120))
    hashed = b"\x80\x04)\x94" + pairs + b"N}(h\x77K\x01u0."
    (folder / "music" / "artist_work_dict.pickle").write_bytes(hashed)
    with pytest.raises(BadInput, match="longer than it may"):
        open_graph_files([folder], tmp_path)


def test_a_damaged_file_is_named(folder, tmp_path):
    (folder / "music" / "artist_work_dict.pickle").write_bytes(pickle.dumps({"a": ["b"]})[:-5])
    with pytest.raises(BadInput, match="artist_work_dict.pickle cannot be read"):
        open_graph_files([folder], tmp_path)
