"""`corpus build`, `corpus status` and `corpus replies` on the command line."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import Document, new_folder, open_corpus, write_corpus
from core.errors import ModelFailed
from tests.core.builds.test_language_model import ChatModels, entity, relation
from tests.notes import NoteWith


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))


@pytest.fixture
def notes():
    texts = {"a": "John Smith visited Paris.", "b": "John Smith moved to London."}
    write_corpus(new_folder("notes"), [Document(id, text) for id, text in texts.items()])
    return open_corpus("notes")


def met(asked, number):
    if "Text:" not in asked or "Reports on parts" in asked:
        return "No report."
    return {
        "entities": [entity("John Smith")],
        "relations": [relation("John Smith", "Paris" if "Paris" in asked else "London")],
    }


def told(capsys, *arguments, models=None):
    code = main(
        ["corpus", *map(str, arguments)], lambda: SimpleNamespace(models=models or ChatModels(met))
    )
    out = capsys.readouterr()
    return code, out.out.splitlines(), out.err


def test_a_graph_without_a_language_model_is_built_at_once(notes, capsys):
    code, out, err = told(capsys, "build", "notes", "--graph", "kg", "--extractor", "noun-phrases")
    assert code == EXIT_OK and out[1].startswith("2 of 2 chunks ")
    assert out[2].startswith("3 nodes, 2 edges, 2 chunks, in ")
    _, out, _ = told(capsys, "status", "notes")
    states = {line.split()[0]: line.split("  ", 1)[1].strip() for line in out}
    assert states["kg-noun-phrases"].startswith("built, 2 chunks") and states["rkg-llm"].startswith(
        "not built"
    )
    notes.add([Document("c", "More.")])
    _, out, _ = told(capsys, "status", "notes")
    assert any(
        line.startswith("kg-noun-phrases") and "of earlier documents" in line for line in out
    )


def test_only_a_graph_that_should_have_nodes_is_said_to_have_none(capsys):
    write_corpus(new_folder("dull"), [Document("a", "it was so and it is so")])
    code, out, err = told(capsys, "build", "dull", "--graph", "chunks")
    assert code == EXIT_OK and out[0].startswith("Passages only") and not err
    assert (
        "Nothing was found in these texts"
        in told(capsys, "build", "dull", "--graph", "kg", "--extractor", "noun-phrases")[2]
    )


def test_a_language_model_is_put_to_work_only_where_that_was_said(notes, capsys):
    models = ChatModels(met)
    code, _, err = told(capsys, "build", "notes", "--graph", "rkg", models=models)
    assert code == EXIT_WRONG_INPUT and "--yes" in err and not models.writer.asked
    code, out, _ = told(capsys, "build", "notes", "--graph", "rkg", "--yes", models=models)
    assert code == EXIT_OK and len(models.writer.asked) == 2
    assert (
        out[1].startswith("2 of 2 chunks are to be read: about 2 calls of a language model")
        and "calls 2" in out[-1]
    )


def test_a_model_that_dies_is_a_sentence_and_what_was_read_is_kept(notes, capsys):
    def dies(asked, number):
        if number > 1:
            raise ModelFailed("The model died.")
        return met(asked, number)

    code, _, err = told(
        capsys,
        "build",
        "notes",
        "--graph",
        "rkg",
        "--yes",
        "--requests",
        1,
        models=ChatModels(dies),
    )
    assert code == EXIT_FAILED
    assert err.splitlines() == [NoteWith("hopscope", "saved"), "hopscope: The model died."]
    again = ChatModels(met)
    code, out, _ = told(capsys, "build", "notes", "--graph", "rkg", "--yes", models=again)
    assert (
        code == EXIT_OK
        and out[1].startswith("1 of 2 chunks are to be read")
        and len(again.writer.asked) == 1
    )


def test_replies_of_a_build_are_written_into_a_file(notes, capsys, tmp_path):
    code, _, err = told(capsys, "replies", "notes", "rkg", "--to", tmp_path / "replies.jsonl.gz")
    assert code == EXIT_WRONG_INPUT and "build it first" in err
    told(capsys, "build", "notes", "--graph", "rkg", "--yes", "--requests", 1)
    code, out, _ = told(
        capsys, "replies", "notes", "rkg", "tkg", "--to", tmp_path / "replies.jsonl.gz"
    )
    assert code == EXIT_WRONG_INPUT  # the reports of tkg are not written yet
    code, out, _ = told(capsys, "replies", "notes", "rkg", "--to", tmp_path / "replies.jsonl.gz")
    assert code == EXIT_OK and out[0].startswith(
        "rkg-llm: Made by answer of 2 chunks: 2 calls, 2,100 tokens, 4 seconds; all of its replies could be read"
    )
    assert out[1].startswith(f"{tmp_path / 'replies.jsonl.gz'}: ") and out[1].endswith(" kB")


def test_what_comes_with_a_corpus_is_told(notes, capsys, tmp_path, monkeypatch):
    told(capsys, "build", "notes", "--graph", "rkg", "--yes")
    (tmp_path / "data" / "notes").mkdir(parents=True)
    told(
        capsys,
        "replies",
        "notes",
        "rkg-llm",
        "--to",
        tmp_path / "data" / "notes" / "replies.jsonl.gz",
    )
    monkeypatch.setattr("core.builds.shipped_data.data_folder", (tmp_path / "data").joinpath)
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "newcomer"))
    write_corpus(new_folder("notes"), list(notes))
    _, out, _ = told(capsys, "status", "notes")
    assert any(line.startswith("rkg-llm") and "comes with it" in line for line in out)
    assert out[-1].startswith("rkg-llm comes with it: Made by answer of 2 chunks: 2 calls")


def test_another_language_model_is_asked_where_it_is_named(notes, capsys):
    models = ChatModels(lambda *_: {"about": {"John Smith": "A man."}, "links": []})
    models.is_chat = lambda name: name.startswith("qwen")
    build = (
        "build",
        "notes",
        "--graph",
        "kg",
        "--extractor",
        "described",
        "--model",
        "qwen-0.5b",
        "--yes",
    )
    code, out, _ = told(capsys, *build, models=models)
    assert code == EXIT_OK and out[0].startswith(
        "Knowledge graph, names by a parser, described by a language model: qwen-0.5b"
    )
    code, _, err = told(
        capsys,
        "build",
        "notes",
        "--graph",
        "kg",
        "--extractor",
        "noun-phrases",
        "--model",
        "qwen-0.5b",
    )
    assert code == EXIT_WRONG_INPUT and "asks no language model" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ("build", "none"),
        ("build", "notes", "--graph", "rgk"),
        ("build", "notes", "--graph", "Merge()"),
        ("status", "x"),
    ],
)
def test_what_is_not_there_is_a_sentence(arguments, notes, capsys):
    code, _, err = told(capsys, *arguments)
    assert code == EXIT_WRONG_INPUT and err.startswith("hopscope: ") and "Traceback" not in err


def test_a_corpus_of_one_sentence_is_every_graph(capsys):
    write_corpus(new_folder("tiny"), [Document("a", "John Smith visited Paris.")])
    for graph in ("chunks", "passage", "tree", "kg", "tkg", "rkg"):
        code, out, err = told(
            capsys, "build", "tiny", "--graph", graph, "--extractor", "noun-phrases"
        )
        assert code == EXIT_OK, (graph, err)
