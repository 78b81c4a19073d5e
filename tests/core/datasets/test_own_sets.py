"""Question sets that a person adds: saved whole or not at all, bound to a graph, removable."""

import json
import os

import pytest

from core.datasets import datasets, graph_for, questions
from core.datasets.own_sets import added_set, clean_name, remove_set, save_set, sets_folder
from core.errors import BadInput, StoreError
from core.graph.building.build import build

ROWS = [
    {
        "question": "who is A",
        "answer": ["B"],
        "q_entity": ["A"],
        "graph": [["A", "r", "B"], ["B", "r", "C"]],
    },
    {"question": "who is C"},
]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    build([("A", "r", "B")], tmp_path / "home" / "graphs" / "mine", "mine", "out")
    return tmp_path / "home"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "My rows.JSONL"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    return path


def test_a_set_is_saved_and_found_by_its_graph(home, file):
    save_set(file, "My rows!", "My <b>rows</b>", "mine", used_names={})
    assert (
        list(datasets()["mine"].sets) == ["my-rows"]
        and datasets()["mine"].sets["my-rows"].title == "My <b>rows</b>"
    )
    first, _ = questions("my-rows")
    assert (first.id, first.entities, first.answers) == ("my-rows-1", ("A",), ("B",))
    assert graph_for("my-rows", first).n_edges == 1
    file.unlink()
    assert len(questions("my-rows")) == 2  # The copy is kept.
    assert sorted(os.listdir(home)) == ["graphs", "questions"]
    with pytest.raises(BadInput, match="already a question set “my-rows”"):
        save_set(
            home / "questions" / "my-rows" / "questions.jsonl", "my rows", "", "mine", used_names={}
        )
    remove_set("my-rows")
    assert datasets()["mine"].sets == {} and os.listdir(sets_folder()) == []
    with pytest.raises(StoreError, match="no question set “my-rows”"):
        remove_set("my-rows")


def test_each_question_on_the_graph_of_its_row(home, file):
    save_set(file, "rog", "", "mine", used_names={}, graphs="question")
    first, second = questions("rog")
    graph = graph_for("rog", first)
    assert (graph.name, graph.n_edges, graph.direction) == ("mine:rog-1", 2, "out")
    with pytest.raises(BadInput, match="without a graph of its own"):
        graph_for("rog", second)


@pytest.mark.parametrize("name", ["", "///", "metaqa-1hop-dev"])
def test_impossible_names_are_refused(home, file, name):
    with pytest.raises(BadInput, match="name"):
        save_set(file, name, "", "mine", used_names={"metaqa-1hop-dev": 1})
    assert not sets_folder().exists() or os.listdir(sets_folder()) == []


def test_nothing_of_a_bad_file_is_saved(home, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"question": "fine"}\n{"answer": 1}\n')
    with pytest.raises(BadInput, match="line 2"):
        save_set(tmp_path / "bad.jsonl", "bad", "", "mine", used_names={})
    assert os.listdir(sets_folder()) == [] and sorted(os.listdir(home)) == ["graphs", "questions"]


def test_a_damaged_set_is_named_and_affects_no_other(home, file):
    save_set(file, "good", "", "mine", used_names={})
    (sets_folder() / "broken").mkdir()
    (sets_folder() / "broken" / "set.toml").write_text("graph = ")
    (sets_folder() / "empty").mkdir()
    (sets_folder() / "outside").mkdir()
    (sets_folder() / "outside" / "set.toml").write_text(
        'graph = "mine"\nfile = "../good/questions.jsonl"\n'
    )
    save_set(file, "elsewhere", "", "gone", used_names={})
    assert list(datasets()["mine"].sets) == ["good"]
    for name in ("broken", "outside"):
        with pytest.raises(StoreError, match="damaged"):
            questions(name)
    with pytest.raises(BadInput, match="graph “gone”, which is not here"):
        questions("elsewhere")
    assert added_set("elsewhere")[0] == "gone"


def test_names_as_folders_can_bear_them():
    assert (
        clean_name("../../Étude  No. 5") == "tude-no-5"
        and clean_name("x" * 99) == "x" * 40
        and clean_name("..") == ""
    )
