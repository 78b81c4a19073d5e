"""Removal of graphs that a person added."""

from __future__ import annotations

import pytest

from core.cli import main
from core.datasets import add_graph, add_question_set, datasets, open_graph
from core.datasets.own_graphs import own_folder, remove_graph
from core.datasets.own_sets import added_sets
from core.errors import BadInput
from core.graph.store import GRAPH_META_FILE
from core.io.home import graphs_folder

TRIPLES = [("One", "by", "Ann"), ("Two", "by", "Bob")]


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    return tmp_path


def test_removed_graph_is_gone_and_its_name_is_free(home):
    add_graph(TRIPLES, "films")
    (home / "q.csv").write_text("question,answers\nwho made One,Ann\n")
    add_question_set(home / "q.csv", "mine", "Mine", "films")
    remove_graph("films")
    assert "films" not in datasets() and not (graphs_folder() / "films").exists()
    assert list(added_sets()) == ["mine"]
    add_graph(TRIPLES[:1], "films")
    assert open_graph("films").n_edges == 1 and "mine" in datasets()["films"].sets


def test_damaged_graph_is_removed():
    add_graph(TRIPLES, "films")
    (graphs_folder() / "films" / GRAPH_META_FILE).write_text("{")
    remove_graph("films")
    assert own_folder("films") is None


@pytest.mark.parametrize("name", ["metaqa", "absent", "../graphs", ".", "..", ""])
def test_nothing_else_is_removed(home, name):
    add_graph(TRIPLES, "films")
    (home / "graphs" / "metaqa").mkdir()
    with pytest.raises(BadInput):
        remove_graph(name)
    assert sorted(one.name for one in graphs_folder().iterdir() if one.is_dir()) == [
        "films",
        "metaqa",
    ]


def test_command_removes_a_graph(capsys):
    add_graph(TRIPLES, "films")
    assert main(["graph", "remove", "films"]) == 0
    assert main(["graph", "remove", "films"]) == 2
    assert "no graph “films”" in capsys.readouterr().err
