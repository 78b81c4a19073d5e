"""The question bar reads a question set only where it holds the question.

A set that cannot be read is left out.
"""

from __future__ import annotations

import pytest

from core.datasets import datasets, sets
from core.datasets.sets import QuestionSet
from core.errors import BadInput
from core.sources import GraphSource
from pages.parts.question import question_bar


@pytest.fixture
def read(monkeypatch):
    """The sets whose questions are read."""
    names, questions = [], QuestionSet.questions
    sets._questions_by_text.cache_clear()
    monkeypatch.setattr(question_bar, "chosen_source", lambda: GraphSource("metaqa"))
    monkeypatch.setattr(
        QuestionSet, "questions", lambda known: names.append(known.name) or questions(known)
    )
    return names


def test_question_sets_are_read_only_where_they_hold_the_question(read):
    assert (
        question_bar.known_question("") is None
        and question_bar.known_question("  ") is None
        and not read
    )
    assert question_bar.known_question("who is it, and why") is None and not read
    one = datasets()["metaqa"].sets["metaqa-2hop-dev"].questions()[17]
    read.clear()
    assert question_bar.known_question(f"  {one.text} ") == one and read == ["metaqa-2hop-dev"]


def test_a_set_that_cannot_be_read_is_left_out(read, monkeypatch):
    def broken(known):
        raise BadInput("no")

    one = datasets()["metaqa"].sets["metaqa-2hop-dev"].questions()[18]
    sets._questions_by_text.cache_clear()
    monkeypatch.setattr(QuestionSet, "questions", broken)
    assert question_bar.known_question(one.text) is None
