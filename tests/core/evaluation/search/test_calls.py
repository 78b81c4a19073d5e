"""A search on documents whose lines may ask a language model.

It ends with its calls, and goes on where more are allowed.
"""

import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

import core.prompts
from core.corpus import open_corpus
from core.engine import Engine
from core.errors import BadInput, BadParameter
from core.evaluation.runs.plan import DrawnQuestion, Plan
from core.evaluation.runs.row import make_ask
from core.evaluation.search.config import SearchConfig
from core.evaluation.search.search import Search
from core.evaluation.search.space_texts import load_text_space
from core.evaluation.search.trial import DOMINATED, Trial
from core.evaluation.search.verdict import SearchPlan
from core.methods.catalogue import find_method
from core.models.base import ChatReply
from core.operators.text import parse_line
from core.runtime.jobs import Job
from core.sources import CorpusSource
from tests.films import Written
from tests.pages.compare.three_documents import KNOWN, LINE, made

SPACE = """
[[graph]]
holds = ["chunks"]
build = ["chunks"]
[[chunks]]
operator = "SparseChunks"
keep = [1]
[[generate]]
operator = "AnswerFromTables"
[[line]]
name = "points"
kind = "llm"
build = ["chunks"]
operators = [{ operator = "SparseChunks", keep = [2] }, { operator = "Points" }, { operator = "AnswerFromPoints" }]
"""
POINTS = '{"points": [{"description": "It was started in 1844.", "score": 90}]}'


class CountingChat:
    """A model that notes the same point on every part and gives the same answer.

    It counts its replies.
    """

    context = 4096

    def __init__(self):
        self.replies = 0

    def count_tokens(self, messages):
        return sum(len(message["content"].split()) for message in messages)

    def reply(self, messages, *, schema=None, **_):
        self.replies += 1
        return ChatReply("Arthur's Magazine" if schema is None else POINTS, 10, 2)


@pytest.fixture
def search(tmp_path, monkeypatch):
    """`search(calls, quality)` over two questions, and the model that it asks."""
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    monkeypatch.setattr(os, "fsync", lambda file: None)
    (tmp_path / "space.toml").write_text(SPACE, "utf-8")
    models, chat, name = Written(CountingChat()), CountingChat(), made()
    models.chat = lambda role="answer": chat
    models.forget, models.info = (
        lambda: None,
        lambda name: SimpleNamespace(present=True, kind="encoder"),
    )
    engine, corpus = Engine(models), open_corpus(name)
    asked = [
        DrawnQuestion(replace(KNOWN, id=id), "asked", CorpusSource.of(corpus))
        for id in ("q1", "q2")
    ]
    plan = Plan((find_method(LINE, {}),), tuple(asked), model=True, cold=True)

    def make(calls, quality="passage_recall"):
        lines = load_text_space(models, ("published", "llm"), tmp_path / "space.toml")
        config = SearchConfig(plan, lines, quality, "tokens", 1e6, 2, calls)
        return Search(config, engine.environment, make_ask(engine, plan))

    return make, chat


def run(search):
    return search(Job("search", lambda job: None))


def test_for_what_is_retrieved_no_answer_is_asked(search):
    make, chat = search
    points = run(make(100))
    assert not any(point.figures.error for point in points), points
    assert [point.figures.calls for point in points] == [
        0,
        4,
    ] and chat.replies == 4  # two passages noted on, two questions
    assert [(point.figures.quality, point.figures.failed) for point in points] == [
        (0.5, 0),
        (1.0, 0),
    ] and make(100).count_calls() == 4


def test_for_what_is_answered_each_line_asks_for_an_answer(search):
    make, chat = search
    points = run(make(100, "accuracy"))
    assert [point.figures.calls for point in points] == [2, 3] and chat.replies == 5
    # no better, and dearer, after one question
    assert points[0].figures.quality == 1 and points[1].figures.stopped == DOMINATED


def test_a_search_ends_with_its_calls_and_goes_on_with_more(search):
    make, chat = search
    points = run(make(1))
    # the question that had begun is ended
    assert len(points) == 1 and chat.replies == 2 and make(1).count_calls() == 2
    assert run(make(1)) == points and chat.replies == 2  # no call is left
    assert len(run(make(100))) == 2 and make(100).count_calls() == 6


def test_another_prompt_begins_another_search(search, monkeypatch, tmp_path):
    make, _ = search
    before = make(1).file
    monkeypatch.setattr(core.prompts, "PROMPTS_FOLDER", tmp_path)
    assert make(1).file == make(7).file != before


def test_without_a_call_nothing_may_ask(search):
    with pytest.raises(BadParameter, match="Allow at least one call"):
        search[0](0)


def test_unseen_questions_are_left_out_where_too_few_calls_are_left(search):
    make, _ = search
    planned = SearchPlan(make(7), make(7).config.tuning)
    points = run(planned.search)
    # of LINE 1, of points 2, on two questions
    assert "about 6 times, and of 7 calls 3 are left" in planned.skipped_comparison_reason(
        points[1:]
    )
    assert (
        planned.skipped_comparison_reason(()) == ""
        and SearchPlan(planned.search).skipped_comparison_reason(points) == ""
    )


def test_a_line_that_brings_no_passage_has_none_of_the_gold_ones(search):
    """It is none of the best, and ends no search; a question that has no gold passage does."""
    made = search[0](20)
    trial = Trial(made.config.tuning, "passage_recall", "tokens", 500.0, made.environment, made.ask)
    alone = parse_line("BuiltGraph(build='chunks') >> Answer(prompt='question-in-words')")
    tried = trial(alone, Job("", lambda job: None))
    assert (tried.quality, tried.asked, tried.stopped, tried.failed) == (0.0, 2, "", 0)
    bare = tuple(
        replace(one, question=replace(one.question, gold=())) for one in made.config.tuning.drawn
    )
    trial = replace(trial, plan=replace(made.config.tuning, drawn=bare))
    with pytest.raises(BadInput, match="No question of the sample"):
        trial(alone, Job("", lambda job: None))
