"""`corpus` on the command line: documents brought, shown and taken away."""

from __future__ import annotations

import json

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import open_corpus


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def folder(tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Ann\n\nAnn knows Bo.")
    (notes / "b.txt").write_text("Bo knows <script>alert('{x}')</script>.")
    return notes


def told(capsys, *arguments) -> tuple[int, str, str]:
    code = main(["corpus", *map(str, arguments)])
    out = capsys.readouterr()
    return code, out.out, out.err


def test_documents_are_added_changed_shown_and_removed(folder, capsys):
    code, out, err = told(capsys, "add", folder, "--name", "notes", "--title", "My notes")
    assert (code, err) == (EXIT_OK, "") and out.splitlines()[
        0
    ] == "2 documents added to notes, 0 changed, 0 there already"
    (folder / "a.md").write_text("# Ann\n\nAnn knows Cy.")
    (folder / "c.txt").write_text("Cy knows nobody.")
    _, out, _ = told(capsys, "add", folder, "--name", "notes")
    assert out.splitlines() == [
        "1 document added to notes, 1 changed, 1 there already",
        "3 documents, 75 characters",
        "Language: not recognised, read as English",
    ]
    _, out, _ = told(capsys, "show", "notes")
    shown = [
        "  a.md  Ann  (20 characters)",
        "  b.txt  b  (39 characters)",
        "  c.txt  c  (16 characters)",
    ]
    assert out.splitlines() == [
        "My notes",
        "3 documents, 75 characters",
        "Language: not recognised, read as English",
        *shown,
    ]
    _, out, _ = told(capsys, "remove", "notes", "a.md", "c.txt")
    assert out == "2 documents removed, 1 left in notes\n"
    assert [document.text for document in open_corpus("notes")] == [
        "Bo knows <script>alert('{x}')</script>."
    ]
    assert told(capsys, "remove", "notes", "--all")[:2] == (EXIT_OK, "notes is removed\n")
    assert told(capsys, "show", "notes")[0] == EXIT_WRONG_INPUT


def test_those_that_ship_and_those_of_ones_own_are_listed(folder, capsys):
    told(capsys, "add", folder, "--name", "notes")
    _, out, _ = told(capsys, "list")
    lines = out.splitlines()
    names = [
        "2wikimultihopqa",
        "cacm",
        "christmas-carol",
        "graphrag-bench-medical",
        "hotpotqa",
        "marj",
        "qingshui",
        "scifact",
        "silbertal",
        "notes",
    ]
    assert [line.split()[0] for line in lines] == names
    assert lines[-1].endswith("(2 documents)") and lines[0].endswith("(comes with Hopscope)")
    _, out, _ = told(capsys, "show", "christmas-carol")
    assert "christmas-carol: 12 questions, A Christmas Carol, 12 short questions" in out


def test_questions_come_along_with_gold_by_id_or_title(folder, tmp_path, capsys):
    rows = [
        {"question": "Who knows Bo?", "answer": "Ann", "gold": ["Ann"]},
        {"question": "Who?", "answers": ["Bo"], "gold": ["b.txt", "zz"]},
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)))
    code, out, err = told(
        capsys, "add", folder, "--name", "notes", "--questions", tmp_path / "q.jsonl"
    )
    assert (
        code == EXIT_OK
        and "notes: 2 questions" in out
        and "documents as evidence that the corpus does not have: “zz”, 1 in all" in err
    )
    first, second = open_corpus("notes").questions("notes")
    assert (first.text, first.answers, first.gold, second.gold) == (
        "Who knows Bo?",
        ("Ann",),
        ("a.md",),
        ("b.txt", "zz"),
    )


def test_a_beir_folder_brings_its_judgements(tmp_path, capsys):
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id": "1", "title": "T", "text": "One."}\n{"_id": "2", "title": "Only a title", "text": ""}\n'
    )
    (folder / "queries.jsonl").write_text(
        '{"_id": "q", "text": "Which?"}\n{"_id": "r", "text": "Not judged?"}\n'
    )
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t1\t1\nq\t2\t0\n")
    code, out, _ = told(capsys, "add", folder, "--name", "mine", "--format", "beir")
    assert code == EXIT_OK and "mine-test: 1 questions" in out
    (question,) = open_corpus("mine").questions("mine-test")
    assert (question.text, question.gold, open_corpus("mine").document("2").text) == (
        "Which?",
        ("1",),
        "Only a title",
    )


def test_what_is_left_out_is_told_and_the_rest_kept(folder, capsys):
    (folder / "scan.pdf").write_bytes(b"%PDF-1.4 broken")
    code, out, err = told(capsys, "add", folder, "--name", "notes")
    assert (
        code == EXIT_OK
        and out.startswith("2 documents added")
        and "scan.pdf is damaged or no PDF" in err
    )


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["add", "{tmp}/absent.txt", "--name", "x"], "There is no file"),
        (["add", "{tmp}/notes", "--name", "../x"], "cannot be a corpus's name"),
        (["add", "{tmp}/notes", "--name", "hotpotqa"], "comes with Hopscope"),
        (["add", "{tmp}/notes", "--name", "x", "--format", "bier"], "Did you mean “beir”"),
        (["add", "{tmp}/notes", "--name", "x", "--format", "beir"], "holds no corpus.jsonl"),
        (["add", "{tmp}/absent", "--name", "x", "--format", "beir"], "There is no file"),
        (["add", "{tmp}/notes", "--name", "x", "--columns", "Body"], "Name columns as text=Body"),
        (
            ["add", "{tmp}/notes", "--name", "x", "--questions", "{tmp}/absent.jsonl"],
            "There is no file",
        ),
        (["show", "nowhere"], "There is no corpus “nowhere”"),
        (["remove", "hotpotqa", "Ed Wood"], "comes with Hopscope"),
        (["remove", "hotpotqa", "--all"], "comes with Hopscope"),
        (["remove", "nowhere"], "Name the documents to remove"),
        (["remove", "nowhere", "x"], "There is no corpus “nowhere”"),
    ],
)
def test_bad_input_ends_in_a_sentence_and_nothing_is_made(
    folder, tmp_path, own_home, capsys, arguments, sentence
):
    code, _, err = told(
        capsys, *(argument.replace("{tmp}", str(tmp_path)) for argument in arguments)
    )
    assert code == EXIT_WRONG_INPUT and sentence in err and "Traceback" not in err
    assert not (own_home / "corpora" / "x").exists()


def test_a_corpus_is_shown_as_json(folder, capsys):
    (folder / "c.txt").write_text(
        "Der Zug fährt nach Berlin, und die Stadt liegt an der Spree.", "utf-8"
    )
    told(capsys, "add", str(folder / "c.txt"), "--name", "notes", "--title", "Notizen")
    code, out, _ = told(capsys, "show", "notes", "--json")
    shown = json.loads(out)
    assert code == EXIT_OK and (shown["name"], shown["title"], shown["own"]) == (
        "notes",
        "Notizen",
        True,
    )
    assert (
        shown["documents"] == [{"id": "c.txt", "title": "c", "characters": 60}]
        and shown["characters"] == 60
    )
    assert (shown["language"]["code"], shown["language"]["name"], shown["language"]["chosen"]) == (
        "de",
        "German",
        False,
    )
    assert shown["sets"] == {} and shown["notes"] == {}
