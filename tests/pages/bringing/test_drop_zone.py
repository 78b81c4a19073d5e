"""The drop zone: whatever a file is, it is said, and one click takes it."""

from __future__ import annotations

import gzip
import pickle

import pytest

from core.cases import cases
from core.corpus import corpora, open_corpus
from core.datasets import datasets, questions
from core.retrievers.runs.saved_runs import runs_by_name
from core.sources import available_sources
from pages.parts.bringing import drop_zone
from tests.core.importing.examples import example
from tests.pages.bringing.test_uploads import button, opened, own
from tests.pages.bringing.zone_kit import choice, choose, chosen, drop, name_it, zone
from tests.pages.texts.texts_kit import labels, make, texts, until

__all__ = ["own"]
HOSTILE = "<img src=x onerror=alert(1)> **b**.ttl"


def dropped(key: str, brought_as: str = ""):
    """Graphs, with the example of a format dropped."""
    path = example(key)
    return drop(opened(), (path.name, path.read_bytes()), brought_as=brought_as)


def pressed(at, label):
    """The page after a button was pressed and what it began has ended."""
    button(at, label).click().run()
    return until(at, lambda: at.success or at.error)


@pytest.mark.parametrize("key", ["graph/turtle", "graph/comma", "graph/parquet"])
def test_triples_become_a_graph_and_the_zone_is_empty_again(own, key):
    at = dropped(key)
    assert chosen(at) == key and len(at.dataframe[0].value) == 2
    at = pressed(at, "Build the graph")
    assert datasets()[key.partition("/")[2]].open().n_edges == 2
    assert not zone(at).value and "Open it" in labels(at)


def test_another_reading_is_chosen_without_a_second_upload(own):
    at = dropped("documents/csv")
    assert chosen(at) == "documents/csv"
    choose(at, "questions/csv")
    assert "Save the questions" in labels(at)
    choose(at, "documents")
    pressed(at, "Add documents")
    assert open_corpus("csv").n_documents


def test_a_table_of_questions_is_kept_for_the_graph_that_is_looked_at(own):
    at = dropped("questions/csv")
    assert chosen(at) == "questions/csv"
    pressed(at, "Save the questions")
    assert questions("csv")[0].answers == ("Turku",) and list(datasets()["small"].sets) == ["csv"]


def test_questions_may_be_those_of_documents(own):
    make("texts")
    at = dropped("questions/csv")
    box = next(one for one in at.selectbox if one.label == "Questions of")
    box.set_value(next(one for one in available_sources() if one.name == "texts")).run()
    pressed(at, "Save the questions")
    assert open_corpus("texts").questions("texts")[0].answers == ("Turku",)


@pytest.mark.parametrize("key", ["documents/md", "documents/docx"])
def test_a_text_becomes_documents(own, key):
    at = dropped(key)
    assert chosen(at) == key
    pressed(at, "Add documents")
    assert open_corpus(key.partition("/")[2]).n_documents == 1


@pytest.mark.parametrize("key", ["run/ragas", "run/hipporag"])
def test_a_run_becomes_a_method_of_what_is_looked_at(own, key):
    at = dropped(key)
    assert chosen(at) == key
    pressed(at, "Add to the methods")
    (run,) = runs_by_name().values()
    assert (run.source_kind, run.source_name, run.questions) == ("graph", "small", 1)
    assert at.session_state["evaluate_imported_methods"] == [f"run-{run.name}"]
    assert "Evaluate it" in labels(at)


def test_a_zip_of_an_index_is_opened(own):
    at = dropped("index/lightrag")
    assert chosen(at) == "index/lightrag"
    until(at, lambda: "Open it" in labels(at))
    assert "lightrag" not in corpora()
    pressed(at, "Open it")
    assert open_corpus("lightrag").n_documents


def test_saved_cases_are_added(own):
    at = dropped("cases/cases")
    assert chosen(at) == "cases/cases"
    pressed(at, "Add them")
    assert [case for case in cases() if not case.example]


@pytest.mark.parametrize(
    "file, content, fault",
    [
        ("empty.csv", b"", "empty.csv is empty"),
        ("blank.ttl", b" \n", "blank.ttl is empty"),
        ("x.bin", bytes(range(256)) * 9, "x.bin"),
        ("graph.pkl", pickle.dumps({"a": [1, 2]}), "A pickle can run anything"),
        (HOSTILE, b"", HOSTILE.replace("<", "_").replace(">", "_").partition(" ")[0]),
    ],
)
def test_what_is_nothing_is_a_sentence_and_offers_no_button(own, file, content, fault):
    at = drop(opened(), (file, content))
    assert fault in at.error[0].value.replace("\\", "") and not chosen(at)
    assert not {"Build the graph", "Add documents", "Open it"} & set(labels(at))


def test_a_pickle_is_refused_whatever_it_is_said_to_be(own):
    data = pickle.dumps({"a": [1, 2]})
    for kind in ("graph/tab", "questions/csv", "documents", "run", "index", "cases"):
        at = drop(opened(), ("graph.pkl", data), brought_as=kind)
        for label in {"Add documents", "Add to the methods", "Open it", "Add them"} & set(
            labels(at)
        ):
            at = pressed(at, label)
        assert at.error and not at.success
    assert "graph" not in {*datasets(), *corpora()} and not runs_by_name()


def test_files_of_different_kinds_are_brought_one_after_another(own):
    files = [(one.name, one.read_bytes()) for one in map(example, ("graph/turtle", "run/trec"))]
    at = drop(opened(), *files)
    assert "one by one" in at.error[0].value and not chosen(at)


def test_of_several_files_those_that_are_nothing_are_named(own):
    at = drop(opened(), ("a.md", "One."), ("b.md", ""))
    assert chosen(at) == "documents/md" and "b.md is empty" in texts(at)


def test_a_name_with_markup_stays_text(own):
    at = drop(opened(), (HOSTILE, "<http://a/a> <http://a/r> <http://a/b> ."))
    assert "_img src_x onerror_alert_1__" in texts(at) or HOSTILE in texts(at)
    shown = " ".join(one.value for one in (*at.caption, *at.markdown))
    assert "<img" not in shown.replace("\\<", "")


def test_an_upload_is_bounded_by_its_kind(own, monkeypatch):
    monkeypatch.setattr(drop_zone, "DEFAULT_MAX_MEGABYTES", 0)
    at = dropped("graph/turtle")
    assert "larger than" in at.error[0].value and "Build the graph" not in labels(at)


def test_a_path_is_read_where_nobody_else_comes(own, monkeypatch):
    monkeypatch.setattr(drop_zone, "is_local_visit", lambda: False)
    at = name_it(opened(), str(example("graph/turtle")))
    assert "Paths are read only" in at.error[0].value
    monkeypatch.setattr(drop_zone, "is_local_visit", lambda: True)
    at = name_it(opened(), str(example("graph/turtle").parents[1] / "index"))
    assert at.error or chosen(at)
    at = name_it(opened(), str(example("graph/turtle")))
    assert chosen(at) == "graph/turtle"
    pressed(at, "Build the graph")
    assert "turtle" in datasets() and example("graph/turtle").is_file()


def test_an_address_is_a_database(own):
    at = name_it(opened(), "bolt://localhost:7687")
    assert "Preview" in labels(at)


def test_a_compressed_file_is_recognised(own):
    at = drop(opened(), ("t.ttl.gz", gzip.compress(example("graph/turtle").read_bytes())))
    assert chosen(at) == "graph/turtle" and choice(at).options[0].startswith("Graphs")
