"""`bring`: each kind is said and brought by the command that does it alone."""

from __future__ import annotations

import pytest

from core.cli import main
from core.corpus import open_corpus
from core.datasets import datasets
from tests.core.importing.examples import TEXT, example


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def bring(*words) -> int:
    return main(["bring", *map(str, words)])


def test_a_graph_and_questions_about_it(capsys):
    assert bring(example("graph/turtle"), "--name", "gull") == 0
    out = capsys.readouterr().out
    assert "graph/turtle" in out and "3 entities, 2 triples" in out
    assert bring(example("questions/csv")) == 2
    assert bring(example("questions/csv"), "--graph", "gull", "--name", "asked") == 0
    assert len(datasets()["gull"].questions("asked")) == 1


def test_documents_sets_and_cases(capsys):
    assert bring(example("documents/md"), "--name", "boats", "--title", "Boats") == 0
    corpus = open_corpus("boats")
    assert TEXT in corpus.document_at(0).text and corpus.title == "Boats"
    assert bring(example("set/beir")) == 0
    assert "beir-test" in open_corpus("beir").sets
    assert bring(example("cases/cases")) == 0
    assert "1 added" in capsys.readouterr().out


def test_a_look_writes_nothing(capsys, home):
    for key in ("graph/gml", "documents/csv", "index/hipporag", "questions/csv"):
        assert bring(example(key), "--dry-run") == 0
        out = capsys.readouterr().out
        assert key in out and "Nothing was written" in out
    assert not any(one.is_file() for one in home.rglob("*") if one.suffix != ".lock")


def test_a_person_says_what_it_is(capsys):
    path = example("graph/comma")
    assert bring(path, "--as", "documents", "--dry-run") == 0
    assert "documents/csv" in capsys.readouterr().out
    assert bring(path, "--as", "graph/tab-quoted", "--dry-run") == 2  # as the format is wrong
    assert bring(path, "--as", "index", "--dry-run") == 2
    assert bring(path, "--as", "grap", "--dry-run") == 2
    assert "graph" in capsys.readouterr().err
