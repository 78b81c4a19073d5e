"""Cached lists of graphs, question sets and corpora follow the changes of other processes at
once.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.corpus import catalogue as corpora
from core.datasets import catalogue, dataset_of, datasets
from core.datasets.catalogue import unreadable_graphs
from core.datasets.own_sets import save_set
from core.graph.building.build import build
from core.io.home import ROOT

TINY = """
name = "tiny"
title = "Tiny"
licence = "none"
source = "here"
format = "rows"
file = "rows.jsonl"
[questions.tiny-all]
title = "All"
"""
BUILD = (
    "from core.graph.building.build import build; build([('A', 'r', 'B')], r'{}', 'theirs', 'out')"
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    build([("A", "r", "B")], tmp_path / "home" / "graphs" / "mine", "Mine", "out")
    return tmp_path / "home"


def set_old_times(folder: Path) -> None:
    """Set an old modification time on all files, so that the cache trusts them."""
    for file in folder.rglob("*"):
        os.utime(file, (1_000_000_000, 1_000_000_000))


def test_a_listed_graph_is_opened_once(home, monkeypatch):
    set_old_times(home)
    assert datasets()["mine"].title == "Mine"
    monkeypatch.setattr(catalogue.Graph, "open", lambda folder: pytest.fail("opened again"))
    assert datasets()["mine"].title == "Mine" and dataset_of("mine").title == "Mine"


def test_a_graph_built_by_another_process_appears_at_once(home):
    set_old_times(home)
    assert "theirs" not in datasets() and dataset_of("theirs") is None
    subprocess.run(
        [sys.executable, "-c", BUILD.format(home / "graphs" / "theirs")], cwd=ROOT, check=True
    )
    assert {"mine", "theirs"} <= datasets().keys() and dataset_of("theirs").name == "theirs"


def test_a_damaged_or_rebuilt_graph_is_noticed_at_once(home):
    set_old_times(home)
    assert datasets()["mine"].title == "Mine" and unreadable_graphs(datasets()) == []
    (file,) = (home / "graphs" / "mine").glob("*/heads.npy")
    sound = file.read_bytes()
    file.write_bytes(sound[:-1])
    assert (
        "mine" not in datasets()
        and dataset_of("mine") is None
        and unreadable_graphs(datasets()) == ["mine"]
    )
    file.write_bytes(sound)
    assert datasets()["mine"].title == "Mine"
    build([("A", "r", "C")], home / "graphs" / "mine", "Another", "out")
    assert datasets()["mine"].title == "Another" == dataset_of("mine").title


def test_a_data_set_by_name_is_that_of_the_list(home, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"question": "who is A", "answer": ["B"]}))
    save_set(rows, "asked", "Asked", "mine", used_names={})
    for name in datasets():
        assert dataset_of(name) == datasets()[name]
    assert dataset_of("mine:1") == datasets()["mine"] and list(dataset_of("mine").sets) == ["asked"]
    assert [
        dataset_of(name) for name in ("", ".", "..", "../graphs/mine", "no\0name", "x" * 5000)
    ] == [None] * 6


def test_a_changed_question_set_is_noticed_at_once(home, tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"question": "who is A", "answer": ["B"]}))
    save_set(rows, "asked", "Asked", "mine", used_names={})
    set_old_times(home)
    assert datasets()["mine"].sets["asked"].title == "Asked"
    file = home / "questions" / "asked" / "set.toml"
    file.write_text(file.read_text().replace("Asked", "Asked again"))
    assert datasets()["mine"].sets["asked"].title == "Asked again"
    file.unlink()
    assert not datasets()["mine"].sets


def test_files_of_a_shipped_corpus_are_digested_again_only_after_a_change(
    home, tmp_path, monkeypatch
):
    folder = tmp_path / "data" / "tiny"
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text(TINY)
    row = {
        "question": "who?",
        "answer": "B",
        "context": [["One", ["Ann met Bob."]]],
        "supporting_facts": [["One", 0]],
        "_id": "1",
    }
    (folder / "rows.jsonl").write_text(json.dumps(row))
    set_old_times(folder)
    monkeypatch.setattr("core.io.data_folders.SHIPPED_DATA", folder.parent)
    first = corpora.open_corpus("tiny")
    assert [document.title for document in first] == ["One"]
    monkeypatch.setattr(corpora, "sha256", lambda *_: pytest.fail("read again"))
    assert corpora.open_corpus("tiny") is first
    monkeypatch.undo()
    monkeypatch.setattr("core.io.data_folders.SHIPPED_DATA", folder.parent)
    monkeypatch.setenv("HOPSCOPE_HOME", str(home))
    (folder / "rows.jsonl").write_text(
        json.dumps(row | {"context": [["Two", ["Ann met Bob."]]], "supporting_facts": [["Two", 0]]})
    )
    assert [document.title for document in corpora.open_corpus("tiny")] == ["Two"]
