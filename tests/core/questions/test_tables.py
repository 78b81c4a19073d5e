"""Questions from CSV files: columns by name, quotes, cells with several names, and errors by
row.
"""

import gzip

import pytest

from core.datasets import read_questions
from core.errors import BadInput
from core.questions.question_files import count_rows_with_graphs, text_without_brackets
from core.questions.table import TABLE_EXAMPLE
from core.types import Question


def write(tmp_path, text, name="q.csv"):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return tmp_path / name


def test_the_example_that_a_person_copies(tmp_path):
    first, second = read_questions(write(tmp_path, TABLE_EXAMPLE))
    assert first == Question(
        "who directed Inception", "q-2", ("Inception",), ("Christopher Nolan",)
    )
    film = "The Good, the Bad and the Ugly"
    assert second == Question(
        f"who starred in {film}", "q-3", (film,), ("Clint Eastwood", "Eli Wallach")
    )


HEADERS = [
    "question,answers,entities\nwho,B | C|B,A\n",
    "Entities , ANSWERS,Question\nA,B|C,who\n",
    "﻿question;answers;entities\r\nwho;B|C;A\r\n",
    "note\tquestion\tanswer\tentity\nmine\twho\tB|C\tA\n",
    '"question", "answers", "entities"\n"who", "B|C", "A"\n',
]


@pytest.mark.parametrize("text", HEADERS)
@pytest.mark.parametrize("name", ["q.csv", "q.txt", "q.csv.gz"])
def test_columns_are_found_by_name_in_any_order(tmp_path, text, name):
    data = text.encode()
    file = write(tmp_path, gzip.compress(data) if name.endswith("gz") else data, name)
    assert [(q.text, q.answers, q.entities) for q in read_questions(file)] == [
        ("who", ("B", "C"), ("A",))
    ]
    assert read_questions(file) == read_questions(file, format="csv")
    assert text_without_brackets(file) is None and count_rows_with_graphs(file) == 0


@pytest.mark.parametrize(
    "text, columns",
    [
        ("7\twho\tB|C\tx\tA\n8\tthen\tD\tx\t\n", "id, question, answers, -, entities"),
        ("who,B|C,A,7\nthen,D,,8\n", "question,answers,entities,id"),
        # A header is no question.
        (
            "entities;answers;question;id\nA;B|C;who;7\n;D;then;8\n",
            "entities,answers,question,id",
        ),
    ],
)
def test_columns_can_be_named_without_a_header(tmp_path, text, columns):
    file = write(tmp_path, text, "q.tsv")
    assert read_questions(file, columns=columns) == (
        Question("who", "7", ("A",), ("B", "C")),
        Question("then", "8", (), ("D",)),
    )


@pytest.mark.parametrize(
    "columns, told",
    [
        ("question,answer", "no column “answer” of questions. Did you mean “answers”"),
        ("answers,entities", "One of the columns must be the question"),
        ("question,answers,answers", "“answers” is named twice"),
        ("question,answers,entities", "q.tsv, row 1: 3 columns are named, but this row has 2"),
    ],
)
def test_impossible_columns_are_refused(tmp_path, columns, told):
    with pytest.raises(BadInput, match=told):
        read_questions(write(tmp_path, "who\tB\n", "q.tsv"), columns=columns)


def test_only_tables_have_columns(tmp_path):
    with pytest.raises(BadInput, match="q.jsonl holds JSON"):
        read_questions(write(tmp_path, '{"question": "who"}\n', "q.jsonl"), columns="question")
    with pytest.raises(BadInput, match="Columns can be named where the format is"):
        read_questions(
            write(tmp_path, "who\tB\n", "q.tsv"), format="metaqa", columns="question,answers"
        )


@pytest.mark.parametrize("name", ["label", "Gold", "correct_answers"])
def test_a_table_with_another_name_for_answers_is_refused(tmp_path, name):
    with pytest.raises(
        BadInput, match=f"row 1: the column “{name}” seems to hold the answers; call it “answers”"
    ):
        read_questions(write(tmp_path, f"question,{name}\nwho,B\n"))


def test_missing_cells_blank_rows_and_cells_of_several_lines(tmp_path):
    text = 'id,question,entities,hops\na,who,,2\n\n,,,\n,"of two\n\nlines",A\n,last\n,,\n'
    assert read_questions(write(tmp_path, text)) == (
        Question("who", "a", (), (), 2),
        Question("of two lines", "q-5", ("A",)),
        Question("last", "q-6"),
    )
    assert read_questions(write(tmp_path, "question\nwho wrote it\n")) == (
        Question("who wrote it", "q-2"),
    )


@pytest.mark.parametrize(
    "text, told",
    [
        ("question,answers\nwho,B\n,C\n", "q.csv, row 3: the question is empty"),
        (
            "question,answers\nwho,B\nwhat, now,C\n",
            'q.csv, row 3: found 3 cells where the header has 2.*“"what, now"”',
        ),
        (
            'question,answers\n"a\nb",B\n"what,C\nwho,D\n',
            "row 3: a quote is opened here that is never closed",
        ),
        ('question,answers\nwho,"B"x\n', "row 2: it cannot be read as CSV"),
        ("question,anwsers\nwho,B\n", "row 1: there is a column “anwsers”. Did you mean “answers”"),
        ("question,answers,Answer\nwho,B,C\n", "row 1: there are 2 columns of answers"),
        ("question,hops\nwho,two\n", "row 2: “hops” should be a whole number"),
        ("question,answers\n", "holds no questions"),
        (b"question,answers\nwho,\xff\0\n", "line 2: byte 5 is not UTF-8"),
    ],
)
def test_errors_are_reported_by_row(tmp_path, text, told):
    with pytest.raises(BadInput, match=told):
        read_questions(write(tmp_path, text))


@pytest.mark.parametrize("format, name", [("csv", "q.txt"), ("auto", "q.csv")])
def test_a_missing_header_is_refused_with_the_expected_row(tmp_path, format, name):
    with pytest.raises(
        BadInput,
        match="row 1: no column is called “question”",
    ):
        read_questions(write(tmp_path, "who,B,A\n", name), format=format)
    # The text form of MetaQA under this name.
    assert read_questions(write(tmp_path, "who is [A]?\tB\n"))[0].entities == ("A",)
