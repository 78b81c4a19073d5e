"""Findings of a finished evaluation, and the order of its methods without suspect questions."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from core.evaluation.audit.audit import audit_questions
from core.evaluation.audit.evaluated import (
    closed_book_methods,
    evaluation_findings,
    method_order,
    newest_evaluation,
    smallest_difference,
)
from core.evaluation.metrics.outcome import Outcome, ScoredAnswer
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.plan import DrawnQuestion
from core.evaluation.runs.store import Store, StoredRow
from core.sources import GraphSource
from core.types import Question, ReaderAnswer
from tests.core.evaluation.reports.test_summary import RUN, SPEC

QUESTIONS = [Question(f"who {i}", str(i), ("One",), ("Ann",)) for i in range(6)]
# Answers of the methods a and b to each question; the key is Ann.
REPLIES = [
    ("Ann", "Ann"),
    ("Bob", "bob."),
    ("Bob", "Eve"),
    ("Ann", "Eve"),
    ("Eve", "Ann"),
    ("Ann", "Eve"),
]


def rows(replies):
    for question, texts in zip(QUESTIONS, replies):
        for method, text in zip("ab", texts):
            answer = ScoredAnswer(
                text, "language model", int(text == "Ann"), 1, exact=text == "Ann"
            )
            yield StoredRow(method, question, Outcome(1, answer=answer))


def summary(replies=REPLIES, lines=("EgoNetwork()", "EgoNetwork()")):
    specs = [one | {"line": line} for one, line in zip(SPEC["instances"], lines)]
    run = replace(RUN, spec={**SPEC, "instances": specs, "sample": len(replies)})
    return RunSummary(run, list(rows(replies)))


def kinds(found):
    return {(one.question, one.kind): one.expected for one in found}


def test_questions_that_all_or_none_get_right_and_keys_that_all_contradict():
    assert kinds(evaluation_findings(summary())) == {
        ("0", "always_right"): (),
        ("1", "never_right"): (),
        ("1", "agreed_answer"): ("Bob",),  # both say Bob, in another case
        ("2", "never_right"): (),
    }


def test_one_method_agrees_with_nobody():
    one = summary([("Bob", "Bob")])
    alone = RunSummary(
        replace(one.run, spec={**one.run.spec, "instances": one.run.spec["instances"][:1]}),
        [row for row in one.rows if row.method == "a"],
    )
    assert list(evaluation_findings(alone)) == []


def test_a_method_without_retrieval_shows_which_questions_need_no_context():
    closed = summary(lines=("EgoNetwork()", 'Answer(prompt="question-only")'))
    assert closed_book_methods(closed.run) == ["b"]
    found = kinds(evaluation_findings(closed))
    assert {id for id, kind in found if kind == "without_context"} == {"0", "4"}
    assert not {kind for _, kind in found} & {"always_right", "never_right"}  # one method is left


def test_readers_that_were_shown_nothing_show_it_too():
    """Of two correct answers both are needed, by any of their names; a graph reader knows nothing."""
    asked = Question("who", "q", ("One",), ("Ann", "Bob"), aliases=(("Bob", "Bert"),))
    for text, by_model, is_found in [
        ("Ann and Bert", True, True), ("Ann", True, False), ("Ann and Bob", False, False),
    ]:  # fmt: skip
        answer = ReaderAnswer("nothing", text, right=True)
        row = StoredRow("a", asked, Outcome(2), readings={"nothing": answer})
        run = replace(RUN, spec={**summary().run.spec, "model": by_model})
        stored = RunSummary(run, [row, replace(row, method="b")])
        kinds_found = [one.kind for one in evaluation_findings(stored)]
        assert kinds_found.count("without_context") == is_found, text
        notes = audit_questions([asked], GraphSource(""), summary=stored).notes
        assert ("No language model was asked without context." in notes) != by_model


def test_the_smallest_difference_follows_from_the_differences_per_question():
    # a - b is 0, 0, 0, 1, -1, 1: the mean is 1/6, the sum of squares 3, the variance (3 - 1/6) / 5.
    expected = (1.959964 + 0.841621) * math.sqrt((3 - 1 / 6) / 5) / math.sqrt(24)
    assert smallest_difference(summary(), 24)[0] == pytest.approx(expected)
    assumed = (1.959964 + 0.841621) * math.sqrt(0.2 / 400)
    assert smallest_difference(None, 400)[0] == pytest.approx(assumed)
    assert smallest_difference(None, 0)[0] == 1.0


def test_the_order_is_given_with_and_without_suspect_questions():
    order = method_order(summary(), {"3", "5"})
    assert [(one.method, one.rank, one.rank_without) for one in order] == [("a", 1, 2), ("b", 2, 1)]
    assert [(one.mean, one.mean_without) for one in order] == [(3 / 6, 1 / 4), (2 / 6, 2 / 4)]
    assert method_order(summary(), {str(i) for i in range(6)}) == []


def test_the_audit_uses_the_evaluation_and_counts_the_questions_that_tell():
    audit = audit_questions(QUESTIONS, GraphSource(""), summary=summary())
    assert audit.suspect == ("1",) and audit.n_telling == 3
    assert [one.rank_without for one in audit.order] == [1, 2]
    assert audit.to_dict()["evaluation"] == RUN.id


def test_the_newest_finished_evaluation_of_two_methods_is_taken(tmp_path):
    store = Store(tmp_path / "e.sqlite")
    drawn = [DrawnQuestion(one, "films_set", GraphSource("films")) for one in QUESTIONS[:2]]
    spec = {**summary().run.spec, "sample": 2}
    assert newest_evaluation(store, "films_set", QUESTIONS) is None
    finished = store.begin_run(spec, drawn)
    for row in rows(REPLIES[:2]):
        store.save_row(finished.id, row.method, row.question.id, row.outcome, None, None)
    store.begin_run({**spec, "seed": 1}, drawn)  # without any row
    assert newest_evaluation(store, "films_set", QUESTIONS).id == finished.id
    assert newest_evaluation(store, "another", QUESTIONS) is None
    assert newest_evaluation(store, "films_set", QUESTIONS[1:]) is None
    store.close()
