"""Questions about documents: gold documents in every format, and notes on unread parts."""

from __future__ import annotations

import json

import pytest

from core.corpus import Document, import_documents, import_question_set, open_corpus, write_corpus
from core.corpus.catalogue import corpora_folder
from core.datasets import question_set
from core.errors import BadInput
from core.questions import GOLD_KEYS, QuestionFile, read_question_file, read_questions
from core.types import Question
from tests.notes import NoteWith

TOWNS = ("Turku", "Malmö", "Oslo", "Bergen", "Tartu", "Riga", "Lund", "Åbo", "Espoo", "Narvik")


@pytest.fixture(autouse=True)
def towns(tmp_path, monkeypatch):
    """A person's own corpus with a document for each of ten towns."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    documents = [
        Document(f"{number}.txt", f"{town} lies by the sea.", town)
        for number, town in enumerate(TOWNS)
    ]
    return write_corpus(corpora_folder() / "towns", documents, "Towns")


def table(separator: str) -> str:
    """A table of ten questions, each with its answer and the title of its document.

    The first question has two of both.
    """
    rows = [
        ["question", "answers", "gold", "remark"],
        ["Which, 1?", "Turku|Malmö", "0.txt|Malmö", "x"],
    ]
    rows += [[f"Which, {number}?", town, town, ""] for number, town in enumerate(TOWNS[1:], 2)]
    return "".join(
        separator.join(f'"{cell}"' if "," in cell else cell for cell in row) + "\n" for row in rows
    )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_ten_questions_in_a_table_are_read_for_a_corpus(tmp_path, separator):
    (tmp_path / "asked.csv").write_text(table(separator), "utf-8")
    brought = import_question_set("towns", tmp_path / "asked.csv")
    assert (brought.set_name, brought.n_questions, brought.n_with_answers, brought.n_with_gold) == (
        "towns",
        10,
        10,
        10,
    )
    assert brought.notes == (NoteWith("Not read", "asked.csv", "“remark”"),)
    first, *others = open_corpus("towns").questions("towns")
    assert (first.text, first.answers, first.gold) == (
        "Which, 1?",
        ("Turku", "Malmö"),
        ("0.txt", "1.txt"),
    )
    assert [question.gold for question in others] == [(f"{number}.txt",) for number in range(1, 10)]


def test_corpora_and_graphs_accept_the_same_question_file(tmp_path):
    """The column `gold` names documents, and is not read for a graph.

    Otherwise the same file gives the same questions.
    """
    (tmp_path / "asked.csv").write_text(table(","), "utf-8")
    of_graph, of_corpus = (
        read_question_file(tmp_path / "asked.csv"),
        read_question_file(tmp_path / "asked.csv", gold=GOLD_KEYS),
    )
    assert [one.answers for one in of_graph.questions] == [
        one.answers for one in of_corpus.questions
    ]
    assert (of_graph.ignored_keys, of_corpus.ignored_keys) == (
        ("gold", "remark"),
        ("remark",),
    ) and not any(one.gold for one in of_graph.questions)
    assert question_set(tmp_path / "asked.csv").note() == NoteWith(
        "Not read", "asked.csv", "“gold”", "“remark”"
    )


@pytest.mark.parametrize(
    "name, text",
    [
        ("q.txt", "which\tTurku|Malmö\nwhich other\tOslo\n"),
        (
            "q.jsonl",
            '{"question": "which", "answer": ["Turku", "Malmö"]}\n{"question": "which '
            'other", "answer": ["Oslo"]}\n',
        ),
        (
            "q.json",
            '[{"RawQuestion": "which", "Parses": [{"Answers": [{"EntityName": "Turku"}]}]}]',
        ),
    ],
)
def test_every_format_is_read_for_a_corpus(tmp_path, name, text):
    (tmp_path / name).write_text(text, "utf-8")
    assert import_question_set("towns", tmp_path / name).n_with_answers == len(
        read_questions(tmp_path / name)
    )


def test_lines_without_a_header_are_read_by_their_columns(tmp_path):
    (tmp_path / "q.tsv").write_text("7\twhich\tOslo\tx\n", "utf-8")
    brought = import_question_set(
        "towns", tmp_path / "q.tsv", set="more", columns="id,question,gold,-"
    )
    assert (brought.set_name, brought.n_with_gold, brought.corpus.sets) == (
        "more",
        1,
        {"more": "more"},
    )
    assert open_corpus("towns").questions("more") == (Question("which", "7", gold=("2.txt",)),)


def test_options_in_a_table_get_their_letters(tmp_path):
    (tmp_path / "q.csv").write_text("question,options,answers\nWhich?,Oslo|Riga,Riga\n", "utf-8")
    (question,) = read_questions(tmp_path / "q.csv")
    assert (question.text, question.options) == (
        "Which? Options: (A) Oslo (B) Riga",
        ("Oslo", "Riga"),
    )


PARAGRAPHS = [
    {"title": "Lund", "paragraph_text": "Lund is a name.", "is_supporting": False},
    {"title": "Lund", "paragraph_text": "Lund lies in  Scania.", "is_supporting": True},
    {"title": "Oslo", "paragraph_text": "Of this nobody has the text.", "is_supporting": True},
]


def test_supporting_paragraphs_are_gold_by_title_and_text(tmp_path):
    """Two passages have the same title, and the second one supports the answer.

    The passage on Oslo has another text in the corpus, so it counts as missing.
    """
    passages = [
        {"title": "Lund", "text": "Lund is a name."},
        {"title": "Lund", "text": "Lund lies in  Scania."},
    ]
    passages += [{"title": "Oslo", "text": "Oslo lies by a fjord."}]
    row = {
        "id": "2hop",
        "question": "Where?",
        "answer": "Scania",
        "answer_aliases": ["Skåne"],
        "answerable": True,
        "paragraphs": PARAGRAPHS,
    }
    (tmp_path / "corpus.json").write_text(json.dumps(passages), "utf-8")
    (tmp_path / "musique.json").write_text(json.dumps([row]), "utf-8")
    brought = import_documents(
        "musique",
        [tmp_path / "corpus.json"],
        format="passages",
        questions=tmp_path / "musique.json",
    )
    (question,) = brought.corpus.questions("musique")
    assert (question.answers, question.aliases) == (("Scania",), (("Scania", "Skåne"),))
    assert question.gold[0] == "Lund (2)" and question.gold[1] not in brought.corpus
    assert len(brought.notes) == 1 and "does not have: “Oslo" in brought.notes[0]


@pytest.mark.parametrize(
    "facts",
    [
        [["Oslo", 0], ["Riga", 3], ["Oslo", 1]],
        {"title": ["Oslo", "Riga", "Oslo"], "sent_id": [0, 3, 1]},
    ],
    ids=["pairs", "columns"],
)
def test_supporting_facts_are_gold_by_title(tmp_path, facts):
    (tmp_path / "q.jsonl").write_text(
        json.dumps({"question": "Where?", "answer": "x", "supporting_facts": facts}), "utf-8"
    )
    import_question_set("towns", tmp_path / "q.jsonl")
    assert open_corpus("towns").questions("towns")[0].gold == ("2.txt", "5.txt")


@pytest.mark.parametrize(
    "name, sentence",
    [
        ("Set!", "cannot be a set's name"),
        ("christmas-carol", "has a question set “christmas-carol”"),
    ],
)
def test_an_impossible_set_name_is_refused(tmp_path, name, sentence):
    (tmp_path / "q.csv").write_text("question\nwho\n")
    with pytest.raises(BadInput, match=sentence):
        import_question_set("towns", tmp_path / "q.csv", set=name)


def test_many_unread_names_are_counted():
    assert QuestionFile((), "q.json").note() == ""
    assert QuestionFile((), "q.json", tuple("abcdefghijklmn")).note().endswith("“l” and 2 more.")


def test_empty_columns_are_not_named(tmp_path):
    rows = [
        {
            "question": "who",
            "answers": ["B"],
            "answer": "B, of course",
            "note": "",
            "more": [],
            "graph": [["A", "r", "B"]],
        }
    ]
    (tmp_path / "q.json").write_text(json.dumps(rows))
    assert read_question_file(tmp_path / "q.json").ignored_keys == ("answer",)
