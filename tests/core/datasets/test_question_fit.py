"""Fit of questions to a graph, by hand: missing entities, answers and graphs."""

from core.datasets.question_fit import (
    OWN_GRAPHS_WORDS,
    QuestionFit,
    measure_fit,
    measure_own_graphs_fit,
    rows_fit,
)
from core.datasets.sets import QuestionSet
from core.types import Question
from tests.notes import NoteWith

HERE = Question("genre of One", entities=("one",), answers=("Drama", "Poetry"))
ASTRAY = Question("genre of Nine", entities=("One", "Nine"), answers=("Drama",))
WRONG = Question("director of Two", entities=("Two",), answers=("Bob", "Eve"))
BARE = Question("genre of One")


def test_entities_and_answers_missing_from_the_graph_are_counted(films):
    """Names are found in any case.

    The answers of a question are found if one of them is.
    """
    found = measure_fit(films, [HERE, ASTRAY, ASTRAY, WRONG, BARE])
    assert found == QuestionFit(5, ("Nine", "Nine"), ("Bob",), 1)
    assert found.words("films") == (
        NoteWith(
            "5 questions on films", 2, "entity", "“Nine”", 1, "answer", "“Bob”", 1, "no answer"
        )
    )
    assert measure_fit(films, [HERE]).words("films") == ""
    assert measure_fit(films, [ASTRAY]).words("films") == NoteWith(
        "1 question on films", 1, "entity", "“Nine”"
    )


def test_rows_are_compared_with_their_own_graphs(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text(
        '{"question": "a", "answer": "B", "q_entity": "A", "graph": [["A", "r", "B"]]}\n'
        '{"question": "b", "answer": "C", "q_entity": "D", "graph": [["A", "r", "B"]]}\n'
        '{"question": "c", "answer": "B", "q_entity": "A"}\n'
    )
    known = QuestionSet("q", "q", file)
    found = measure_own_graphs_fit(known, known.questions())
    assert found == QuestionFit(3, ("D",), ("C",), 0, 1)
    assert "such as “C”; 1 comes without a graph" in found.words("graphs of their own")


def test_rows_without_a_graph_are_noted_before_saving():
    assert (
        rows_fit(3, 1) == QuestionFit(3, n_without_graph=2)
        and rows_fit(3, 3).words(OWN_GRAPHS_WORDS) == ""
    )
    assert rows_fit(3, 1).words(OWN_GRAPHS_WORDS) == NoteWith("3 questions", 2, "without a graph")
