"""Nothing breaks by what Windows forbids of open files and of names.

Its rules are held to here by tests/windows.py.
"""

from __future__ import annotations

import pytest

from core.corpus import Document, new_folder, write_corpus
from core.corpus.catalogue import own_corpus, remove_corpus
from core.datasets.own_sets import clean_name
from core.errors import BadInput, StoreError
from core.evaluation.exchange.run_files import _free_file_name
from core.graph.building.build import build
from core.graph.readers.triple_file import TripleFile
from core.graph.store import Graph
from core.io.durable_files import sync, write_whole
from tests.windows import rules

TRIPLES = [("a", "r", "b"), ("b", "s", "c")]


@pytest.fixture(autouse=True)
def windows():
    with rules():
        yield


def test_the_rules_hold(tmp_path):
    held = open(tmp_path / "held", "w", encoding="utf-8")
    for forbidden in (
        lambda: write_whole(tmp_path / "held", lambda part: part.write_text("new", "utf-8")),
        lambda: write_whole(tmp_path / "a:b", open),
    ):
        with pytest.raises(OSError, match="WinError"):
            forbidden()
    held.close()
    write_whole(tmp_path / "held", lambda part: part.write_text("new", "utf-8"))
    sync(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["held"] and (tmp_path / "held").read_text(
        "utf-8"
    ) == "new"


def test_a_graph_is_replaced_while_it_is_open_and_its_old_files_go_with_the_next_build(tmp_path):
    old = build(TRIPLES, tmp_path / "g", "old")
    new = build([("x", "r", "y")], tmp_path / "g", "new")
    assert (
        old.names([0, 1]) == ["a", "b"]
        and new.names([0, 1]) == ["x", "y"]
        and Graph.open(tmp_path / "g").digest == new.digest
    )
    del old, new
    build(TRIPLES, tmp_path / "g", "third")
    assert sorted(one.name.partition("-")[0] for one in (tmp_path / "g").iterdir()) == [
        "data",
        "graph.json",
    ]


def test_a_large_build_that_fails_leaves_its_name_free(tmp_path):
    (tmp_path / "t.nt").write_bytes(b"<a:a> <a:b> <a:c> .\nwhat\n")
    with pytest.raises(BadInput, match="line 2"):
        build(TripleFile(tmp_path / "t.nt", memory=30_000), tmp_path / "g", "g")
    assert not (tmp_path / "g").exists()


def test_a_corpus_is_written_anew_and_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    first = write_corpus(
        new_folder("carols"), (Document("one", "Marley was dead, to begin with."),)
    )
    write_corpus(first.folder, (Document("two", "Scrooge was his partner."),))
    read = own_corpus("carols")
    assert read is not None and read.n_documents == 1 and "table" in vars(read)
    with pytest.raises(StoreError, match="cannot be removed"):  # as long as it is open
        remove_corpus("carols")
    assert own_corpus("carols") is not None
    del first, read
    remove_corpus("carols")
    assert own_corpus("carols") is None


def test_names_are_those_of_no_device_and_differ_by_more_than_case():
    assert [clean_name(name) for name in ("AUX", "Con", "Nul!", "Console")] == [
        "aux-1",
        "con-1",
        "nul-1",
        "console",
    ]
    assert clean_name("aux-1") == "aux-1"
    assert (
        _free_file_name("Mine.trec", {"mine.trec": ""}) == "Mine-2.trec"
        and _free_file_name("other.trec", {"mine.trec": ""}) == "other.trec"
    )
