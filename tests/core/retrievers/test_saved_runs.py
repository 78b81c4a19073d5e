"""Finished runs saved for a source: lookup, judgements, removal, and damaged files.

A question is found by its text or id.
"""

import json

import pytest

from core.corpus import Document, new_folder, write_corpus
from core.errors import BadInput, BadParameter, StoreError
from core.methods.catalogue import catalogue, find_method, own_file_faults
from core.retrievers.runs.saved_runs import find_run, remove_saved_run, runs_by_name, save_run_file
from core.sources import CorpusSource, GraphSource
from core.types import Question
from tests.notes import NoteWith

DOCUMENTS = (
    Document("carol", "Marley was dead."),
    Document("fred", "Fred was his nephew."),
    Document("turkey", "The turkey was big."),
)
ASKED = (
    Question("Who was dead?", "1", answers=("Marley",), gold=("carol",)),
    Question("Who was big?", "2", answers=("The turkey",)),
)


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    write_corpus(new_folder("carols"), DOCUMENTS, sets={"carols": ("Carols", ASKED)})
    return CorpusSource("carols")


def file_of(tmp_path, *rows, name="mine.jsonl"):
    file = tmp_path / name
    file.write_text(
        "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8"
    )
    return file


def test_run_row_is_found_by_text_and_id(source, tmp_path):
    rows = [
        {"question": "who WAS  dead?", "contexts": ["carol"], "answer": "Marley"},
        {"question": "Why?", "contexts": [], "answer": "so"},
    ]
    run = save_run_file(file_of(tmp_path, *rows), source)
    assert (
        run.name,
        run.format,
        run.questions,
        run.with_documents,
        run.with_answers,
        run.known,
    ) == ("mine", "rows", 2, 1, 2, 1)
    assert run.notes == (NoteWith("no question set", "“carols”", 1, "2 questions"),)
    assert run.describe() == NoteWith(
        "2 questions", "1 with documents", "2 with answers", 1, "question sets", "“carols”"
    )
    assert (
        run.find_row(ASKED[0]).answer == "Marley" and run.find_row(Question("Why?")).answer == "so"
    )
    assert run.find_row(ASKED[1]) is None and run.find_row(Question("Who was dead? <b>")) is None
    by_id = save_run_file(
        file_of(tmp_path, "1 Q0 carol 1 1 x", "9 Q0 fred 1 1 x", name="by_id.trec"), source
    )
    assert (
        by_id.find_row(ASKED[0]).documents[0].id
        == by_id.find_row(Question("Who was dead?")).documents[0].id
        == "carol"
    )
    assert (
        by_id.find_row(Question("another text", "1")) is None
        and by_id.find_row(Question("?", "9")).documents[0].id == "fred"
    )
    assert NoteWith("id alone", 1) in by_id.notes


def test_equal_file_is_the_same_run(source, tmp_path):
    first = save_run_file(file_of(tmp_path, {"question": "a", "answer": "1"}), source)
    assert save_run_file(tmp_path / "mine.jsonl", source) == first and list(runs_by_name()) == [
        "mine"
    ]
    assert (
        save_run_file(file_of(tmp_path, {"question": "a", "answer": "2"}), source).name == "mine-2"
    )
    assert (
        save_run_file(
            file_of(
                tmp_path, {"question": "a", "answer": "3"}, name="../<b>.json".replace("../", "")
            ),
            source,
        ).name
        == "b"
    )
    remove_saved_run("mine-2")
    assert list(runs_by_name()) == ["mine", "b"] and find_run("mine").rows()[0].answer == "1"
    with pytest.raises(BadParameter, match="no finished run “mine-2”"):
        find_run("mine-2")


def test_run_is_an_method_of_its_source(source, tmp_path):
    save_run_file(
        file_of(tmp_path, {"question": "a", "contexts": ["x"], "answer": "1"}, name="both.json"),
        source,
    )
    save_run_file(file_of(tmp_path, "1 Q0 carol 1 1 x", name="found.trec"), source)
    save_run_file(file_of(tmp_path, {"question": "a", "answer": "1"}, name="said.json"), source)
    save_run_file(
        file_of(tmp_path, {"question": "a", "answer": "1"}, name="triples.json"),
        GraphSource("films"),
    )
    lines = {key: repr(one.line) for key, one in catalogue().items() if key.startswith("run-")}
    assert lines == {
        "run-both": "FileDocuments(run='both')",
        "run-found": "FileDocuments(run='found') >> AnswerFromTables()",
        "run-said": "FileAnswer(run='said')",
        "run-triples": "FileAnswer(run='triples')",
    }
    assert [find_method(key).on_documents for key in lines] == [True, True, True, False]
    assert [find_method(key).only_on for key in lines] == ["carols", "carols", "carols", "films"]
    with pytest.raises(BadInput, match="choose a corpus"):
        save_run_file(tmp_path / "found.trec", GraphSource("films"))


def test_qrels_define_questions_and_gold(source, tmp_path):
    """Question 1 is in both files, 2 only in the judgements, and 3 only in the run."""
    file = file_of(tmp_path, "1 Q0 carol 1 1 x", "3 Q0 fred 1 1 x", name="mine.trec")
    qrels = file_of(tmp_path, "1 0 fred 1", "1 0 moby 1", "2 0 turkey 1", name="qrels.txt")
    run = save_run_file(file, source, qrels=qrels)
    assert run.judged and run.questions == 2 and save_run_file(file, source).name == "mine-2"
    assert [(one.id, one.gold) for one in run.list_questions()] == [
        ("1", ("fred", "moby")),
        ("2", ("turkey",)),
    ]
    assert run.find_row(ASKED[1]) is None
    assert run.notes[-3:] == (
        NoteWith("not in the run", "failed", 1),
        NoteWith("In the run", "without a relevant document", "left out", 1),
        NoteWith("relevant", "not in “carols”", 1, "3 documents"),
    )


def test_questions_of_a_run_include_its_own(source, tmp_path):
    rows = [
        {"question": "Who was dead?", "answer": "x"},
        {"question": "Why?", "answer": "y", "ground_truth": "so"},
    ]
    first, second = save_run_file(file_of(tmp_path, *rows), source).list_questions()
    assert first == ASKED[0] and second == Question("Why?", "mine-2", answers=("so",))


def test_damaged_file_affects_only_the_runs(source, tmp_path):
    (tmp_path / "runs.sqlite").write_bytes(b"not a database" * 100)
    with pytest.raises(StoreError):
        runs_by_name()
    assert (
        any("runs.sqlite" in sentence for sentence in own_file_faults())
        and "vanilla-rag" in catalogue()
    )
