"""`questions` on the command line keeps a file as a set.

Evaluate and the case memory know the set. A file that cannot be kept is refused with a sentence.
"""

import json

import pytest

from core.cli import EXIT_OK, EXIT_WRONG_INPUT, main
from core.corpus import Document, open_corpus, write_corpus
from core.corpus.catalogue import corpora_folder
from core.datasets import datasets, graph_for, questions
from core.graph.building.build import build
from tests.notes import NoteWith

TRIPLES = [
    ("Two", "directed_by", "Ann"),
    ("One", "directed_by", "Ann"),
    ("One", "has_genre", "Drama"),
]


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """`told(text, *arguments, name=...)`: exit code, standard output and error of keeping a file of that text."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    build(TRIPLES, tmp_path / "home" / "graphs" / "mine", "mine")

    def run(text, *arguments, name="q.csv", graph="mine", set="My set"):
        (tmp_path / name).write_text(text, "utf-8")
        code = main(
            ["questions", str(tmp_path / name), "--graph", graph, "--name", set, *arguments]
        )
        out = capsys.readouterr()
        return code, out.out, out.err

    return run


def test_a_file_is_kept_and_what_does_not_fit_is_told(told, capsys):
    text = "question,answers,entities\nwho directed One,Ann,One\nwho directed Nine,Ann,Nine\n"
    code, out, err = told(text, "--title", "Directors")
    assert (code, out) == (EXIT_OK, "2 questions of mine are saved as my-set\n")
    assert err == NoteWith("hopscope", "2 questions on mine", 1, "“Nine”")
    assert datasets()["mine"].sets["my-set"].title == "Directors"
    assert (
        main(
            [
                "evaluate",
                "--set",
                "my-set",
                "--methods",
                "EgoNetwork() >> ShortestPaths()",
                "--no-llm",
                "--json",
            ]
        )
        == EXIT_OK
    )
    figures = next(iter(json.loads(capsys.readouterr().out)["instances"].values()))
    assert (
        figures["questions"]["scored"] == 1 and figures["metrics"]["subgraph_recall"]["mean"] == 0.5
    )


def test_columns_and_graphs_of_the_rows(told):
    assert (
        told(
            "7\twho directed One\tAnn\n",
            "--columns",
            "id,question,answers",
            name="q.tsv",
            set="tabs",
        )[0]
        == EXIT_OK
    )
    assert [(one.id, one.answers) for one in questions("tabs")] == [("7", ("Ann",))]
    rows = '{"question": "who", "answer": "B", "q_entity": "A", "graph": [["A", "r", "B"]]}\n{"question": "what"}\n'
    code, _, err = told(rows, "--own-graphs", name="q.jsonl", set="rows")
    assert code == EXIT_OK and "1 comes without a graph of its own" in err
    assert graph_for("rows", questions("rows")[0]).n_edges == 1


@pytest.mark.parametrize(
    "text, changed, sentence",
    [
        ("question\nwho\n", {"graph": "mein"}, "There is no graph “mein”. Did you mean “mine”?"),
        ("question\nwho\n", {"set": "metaqa-1hop-dev"}, "already a question set"),
        ("a\tb\tc\n", {"name": "q.txt"}, "most of its lines hold 3 columns"),
        ("", {}, "holds no questions"),
    ],
)
def test_what_cannot_be_kept_is_told(told, text, changed, sentence):
    code, _, err = told(text, **changed)
    assert code == EXIT_WRONG_INPUT and sentence in err and datasets()["mine"].sets == {}


def test_questions_of_a_corpus_are_kept_by_the_same_command(told, tmp_path, capsys):
    write_corpus(
        corpora_folder() / "towns", [Document("a.txt", "Turku lies by the sea.", "Turku")], "Towns"
    )
    (tmp_path / "asked.csv").write_text("question,answers,gold,remark\nWhich?,Turku,Turku,x\n")
    assert (
        main(["questions", str(tmp_path / "asked.csv"), "--corpus", "towns", "--name", "asked"])
        == EXIT_OK
    )
    out = capsys.readouterr()
    assert out.out == "1 questions of towns are saved as asked: 1 with answers, 1 with evidence\n"
    assert out.err == NoteWith("hopscope", "asked.csv", "“remark”") and open_corpus(
        "towns"
    ).questions("asked")[0].gold == ("a.txt",)
    for more, sentence in (
        (["--corpus", "towns", "--own-graphs"], "leave out --own-graphs"),
        (
            ["--corpus", "towns", "--name", "metaqa-1hop-dev"],
            "already a question set “metaqa-1hop-dev” of a graph",
        ),
        (["--corpus", "absent"], "There is no corpus “absent” of your own"),
        (["--graph", "mine"], "Give the set a name"),
    ):
        assert (
            main(["questions", str(tmp_path / "asked.csv"), *more]) == EXIT_WRONG_INPUT
            and sentence in capsys.readouterr().err
        )


def test_what_was_not_read_is_said(told, tmp_path, capsys):
    rows = '{"question": "who directed One", "answers": ["Ann"], "q_entity": "One", "level": "hard", "decomposition": [1]}'
    assert told(rows, name="q.jsonl")[2] == NoteWith("my-set", "“level”, “decomposition”")
    (tmp_path / "file.jsonl").write_text(rows)
    line = [
        "evaluate",
        "--set",
        str(tmp_path / "file.jsonl"),
        "--graph",
        "mine",
        "--methods",
        "EgoNetwork() >> ShortestPaths()",
    ]
    assert main([*line, "--no-llm"]) == EXIT_OK
    assert "file.jsonl: “level”, “decomposition”." in capsys.readouterr().err
