"""Changes that are tried on all that a line loses, on five nodes.

The encoder ranks the genre of One before its director. The model says Drama.
"""

from __future__ import annotations

import pytest

from core.errors import BadInput
from core.evaluation.repairs.repair_trials import (
    Attempt,
    LineRepairs,
    RunRepairs,
    repaired_method,
    repairs_job_key,
    start_repairs,
)
from core.evaluation.runs.evaluation_jobs import add_methods
from core.runtime.jobs import JOB_CANCELLED, Job
from core.types import Question
from tests.core.evaluation.conftest import LINE

QUESTIONS = (
    Question("genre of One", "q-1", ("One",), ("Drama",), 1),
    Question("director of One", "q-2", ("One",), ("Ann",), 1),
    Question("who is Nobody", "q-3", ("Nobody",), ("Ann",), 1),
)


def tried(bench, **settings):
    """Return a run of both lines over these questions, and what was tried by method."""
    job = bench.run(bench.plan(**{"questions": QUESTIONS, **settings}))
    run = bench.store().run(job.number)
    trying = start_repairs(bench.engine, bench.store(), run)
    assert trying.wait(120) and not trying.error, trying.error
    return run, {one.method: one for one in trying.result}


def test_a_change_is_tried_on_all_questions_that_a_line_loses(bench):
    """With one path the director is ranked second and left; with 64 it is in the prompt. With two it was there before."""
    run, found = tried(bench)
    one, two = found["one"], found["two"]
    assert (one.of, one.lost, one.within, one.causes) == (3, 1, 1, (("ranked too low", 1),))
    assert [(attempt.words, attempt.back, attempt.tried) for attempt in one.attempts][0] == (
        "Keep 64 paths",
        ("q-2",),
        1,
    )
    assert one.attempts[0].spec == repr(bench.method("x", LINE.format(keep=64)).line)
    assert one.sentences("ONE") == [
        "Of 3 questions ONE loses 1: ranked too low 1.",
        "Keep 64 paths: brings 1 of 1 into the prompt, tested.",
    ]
    assert (two.lost, two.within, two.attempts) == (1, 0, ()) and two.note.startswith(
        "All their facts are in the prompt"
    )
    assert two.sentences("TWO")[0] == "Of 3 questions TWO loses 1: not said by the model 1."


def test_without_a_model_the_graph_reader_is_to_name_the_answer_first(bench):
    """It follows the best path, so that more paths bring nothing back."""
    _, found = tried(bench, model=False)
    one = found["one"]
    assert one.lost == 1 and not one.by_model
    assert not any(attempt.back for attempt in one.attempts if attempt.words.startswith("Keep 64"))


def test_the_repaired_line_is_evaluated_beside_the_others_whose_rows_are_taken_over(
    bench, monkeypatch
):
    run, found = tried(bench)
    line = repaired_method(run, found["one"], found["one"].attempts[0], "ONE")
    assert line.name == "ONE, keep 64 paths"
    ran = []
    monkeypatch.setattr(
        "core.evaluation.runs.row.run_method",
        lambda plan, env, ask, place, method, *rest: (
            ran.append(method.id) or _row(method, plan, place)
        ),
    )
    job = add_methods(bench.engine, bench.store(), run, [line])
    assert job.wait(60) and not job.error and job.number != run.id
    new = bench.store().run(job.number)
    assert [spec["id"] for spec in new.spec["instances"]] == [
        "two",
        "one",
        line.id,
    ] and new.total == 9
    # of those only the question that failed
    assert ran.count(line.id) == 3 and ran.count("one") == ran.count("two") == 1
    kept = {(row.method, row.question.id): row.outcome for row in bench.store().rows(run.id)}
    again = {(row.method, row.question.id): row.outcome for row in bench.store().rows(new.id)}
    assert all(again[key] == outcome for key, outcome in kept.items() if outcome is not None)
    # it is there by now
    assert repaired_method(new, found["one"], found["one"].attempts[0], "ONE") is None


def _row(method, plan, place):
    from core.evaluation.runs.row import FinishedRow

    return FinishedRow(method.id, plan.drawn[place].question.id, None, "Not here.")


def test_rows_are_run_anew_where_the_models_are_others_by_now(bench, monkeypatch):
    run, found = tried(bench)
    line = repaired_method(run, found["one"], found["one"].attempts[0], "ONE")
    monkeypatch.setattr(
        "core.evaluation.runs.evaluation_jobs.dependency_text", lambda engine, plan: "others"
    )
    taken = []
    monkeypatch.setattr(type(bench.store()), "copy_rows", lambda *given: taken.append(given))
    assert add_methods(bench.engine, bench.store(), run, [line]).wait(60) and not taken


def test_trying_can_be_cancelled_and_needs_something_that_is_known(bench):
    job = bench.run(bench.plan(questions=QUESTIONS))
    work = RunRepairs(bench.engine, bench.store(), bench.store().run(job.number))
    trying = Job("x", work)
    trying.cancel()
    trying.run()
    assert trying.status == JOB_CANCELLED
    nothing = bench.run(bench.plan(questions=(Question("why", "q-9", ("One",)),)))
    with pytest.raises(BadInput, match="has a correct answer"):
        RunRepairs(bench.engine, bench.store(), bench.store().run(nothing.number))(Job("y"))
    assert repairs_job_key(bench.store().run(job.number)) != repairs_job_key(
        bench.store().run(nothing.number)
    )


def test_sentences_say_what_was_tried_and_what_was_not():
    none = LineRepairs("a", 40, 0)
    assert none.sentences("A") == ["A loses none of 40 questions."]
    lost = LineRepairs("a", 40, 12, (("ranked too low", 9), ("never reached", 3)), 12)
    attempts = (
        Attempt("x", "Keep 64 paths", tuple(f"q{i}" for i in range(9)), 12),
        Attempt("y", "Search 3 hops", (), 11),
    )
    assert lost.attempt_text(attempts[0]) == "Keep 64 paths: brings 9 of 12 back, tested"
    assert lost.attempt_text(attempts[1]) == "Search 3 hops: brings 0 of 12 back, tested on 11"
    assert lost.sentences("A")[1] == "There is no change of one step to try."
    nothing = LineRepairs("a", 1, 1, (("too far", 1),), 1, (Attempt("y", "Search 3 hops", (), 1),))
    assert nothing.sentences("A") == [
        "Of 1 question A loses 1: too far 1.",
        "1 change of one step brought none of them back.",
    ]
