"""Sets named by ids of HuggingFace or ir_datasets.

The libraries read a local set in the form of the hub, and a registered one.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.cli import main
from core.corpus import open_corpus
from core.errors import BadInput
from core.io import hub_sets as module
from core.io.hub_sets import fetch_set, is_set_id, saved_set_path
from core.runtime.row_files import file_rows

ROWS = [
    {
        "id": "W-0",
        "question": "who is Ann",
        "answer": ["Bo"],
        "q_entity": ["Ann"],
        "a_entity": ["Bo"],
        "graph": [["Ann", "knows", "Bo"]],
    },
    {
        "id": "W-1",
        "question": "who is Cy",
        "answer": ["Eve"],
        "q_entity": ["Cy"],
        "a_entity": ["Eve"],
        "graph": [["Cy", "knows", "Eve"]],
    },
]


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()


@pytest.fixture
def hub(tmp_path):
    """A set in the form of the hub: a folder of Parquet files by split, with RoG's schema."""
    pytest.importorskip("datasets")
    folder = tmp_path / "RoG-webqsp"
    (folder / "data").mkdir(parents=True)
    for split, rows in (("train", ROWS[:1]), ("test", ROWS)):
        pq.write_table(
            pa.Table.from_pylist(rows), folder / "data" / f"{split}-00000-of-00001.parquet"
        )
    return folder


def test_an_id_names_a_set():
    assert (
        is_set_id("hf:rmanluo/RoG-webqsp")
        and is_set_id("irds:beir/scifact/test")
        and not is_set_id("hf.jsonl")
        and not is_set_id("/tmp/hf:x")
    )
    with pytest.raises(BadInput, match="Name a set behind the colon"):
        fetch_set("hf:")


def test_the_test_split_is_the_default_and_fetched_once(hub, monkeypatch):
    found = fetch_set(f"hf:{hub}")
    assert [row for _, row in file_rows(found.path)] == ROWS
    assert "the split test (of train, test)" in found.note and str(found.path) in found.note
    monkeypatch.setattr(module, "_package", lambda name: pytest.fail("it is there already"))
    assert fetch_set(f"hf:{hub}") == found


def test_a_split_may_be_named_and_a_wrong_one_is_refused(hub):
    assert [row["id"] for _, row in file_rows(fetch_set(f"hf:{hub}:train").path)] == ["W-0"]
    with pytest.raises(BadInput, match="“tset”. Did you mean “test”. It has train, test"):
        fetch_set(f"hf:{hub}:tset")


def test_the_commands_take_an_id(hub, capsys, tmp_path):
    """The triples of all rows become a graph, and its questions a question set.

    The questions run on the graphs of their own rows.
    """
    assert main(["build", f"hf:{hub}", "--out", str(tmp_path / "home" / "graphs" / "rog")]) == 0
    assert "4 entities, 2 triples" in capsys.readouterr().out
    assert (
        main(["questions", f"hf:{hub}", "--graph", "rog", "--name", "asked", "--own-graphs"]) == 0
    )
    said = capsys.readouterr()
    assert "2 questions of rog are saved as asked" in said.out and "the split test" in said.err
    assert (
        main(
            [
                "evaluate",
                "--set",
                f"hf:{hub}",
                "--graph",
                "rog",
                "--methods",
                "lego-1",
                "--no-llm",
            ]
        )
        == 0
    )


def test_missing_packages_and_unreachable_hubs_are_reported(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(
        BadInput,
        match="pip install ir_datasets",
    ):
        fetch_set("irds:beir/scifact/test")
    monkeypatch.undo()

    def unreached():
        raise ConnectionError("no route")

    with pytest.raises(BadInput, match="a/b cannot be fetched"):
        module._ask_library("a/b", unreached)


def test_a_set_of_ir_datasets_is_read_as_a_folder_of_beir(tmp_path, monkeypatch, capsys):
    ir_datasets = pytest.importorskip("ir_datasets")
    (tmp_path / "docs.tsv").write_text("d1\tOslo lies by a fjord.\nd2\tTurku lies by a river.\n")
    (tmp_path / "queries.tsv").write_text("q1\twhere is Oslo\nq2\twhere is Riga\n")
    (tmp_path / "qrels").write_text("q1 0 d1 2\nq1 0 d2 0\nq2 0 d7 1\nq9 0 d1 1\n")
    tiny = ir_datasets.create_dataset(
        str(tmp_path / "docs.tsv"), str(tmp_path / "queries.tsv"), str(tmp_path / "qrels")
    )
    monkeypatch.setitem(ir_datasets.registry._registered, "tiny/towns/test", tiny)
    assert main(["corpus", "add", "irds:tiny/towns/test", "--name", "towns"]) == 0
    corpus = open_corpus("towns")
    assert {one.id: one.text for one in corpus} == {
        "d1": "Oslo lies by a fjord.",
        "d2": "Turku lies by a river.",
    }
    assert [(one.id, one.text, one.gold) for one in corpus.questions("towns-test")] == [
        ("q1", "where is Oslo", ("d1",))
    ]
    said = capsys.readouterr().err
    assert (
        "1 judgement of a query" in said
        and "1 judgement of a document" in said
        and str(saved_set_path("irds:tiny/towns/test")) in said
    )
    with pytest.raises(BadInput, match="There is no set irds:tiny/nothing"):
        fetch_set("irds:tiny/nothing")
