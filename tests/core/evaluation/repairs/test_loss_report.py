"""Reasons why a run from a file lost questions, worked out by hand.

They are what is missing, the nearest row that has it, and the smallest change.
"""

import json

import pytest

from core.corpus import Document, new_folder, write_corpus
from core.engine import Engine
from core.evaluation.repairs.loss_report import explain_losses, own_methods, start_loss_report
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.evaluation_jobs import evaluate
from core.evaluation.runs.plan import make_plan
from core.evaluation.runs.store import Store, evaluations_file
from core.methods.catalogue import find_method
from core.retrievers.runs.saved_runs import save_run_file
from core.sources import CorpusSource
from core.types import Question

DOCUMENTS = (
    Document("carol", "Marley was the partner of Scrooge.", "A Carol"),
    Document("fred", "Fred was the nephew.", "The nephew"),
    Document("turkey", "Marley never saw the turkey.", "The turkey"),
)
ASKED = (
    Question(
        "partner Marley", "1", answers=("Scrooge",), gold=("carol", "turkey")
    ),  # by words: both, the carol first
    Question("nephew", "2", answers=("Fred",), gold=("fred",)),  # by words: Fred alone
    Question("unheard", "3", answers=("x",), gold=("fred",)),  # by words: nothing
    Question("turkey", "4", answers=("x",), gold=("turkey",)),
    Question("saw", "5", answers=("x",), gold=("turkey",)),
)
WIDE, NARROW = (
    "SparseChunks(keep=2) >> AnswerFromTables()",
    "SparseChunks(keep=1) >> AnswerFromTables()",
)
RUN = """1 Q0 carol 1 3 x
1 Q0 fred 2 2 x
2 Q0 fred 1 1 x
3 Q0 carol 1 1 x
4 Q0 carol 1 2 x
4 Q0 turkey 2 1 x
"""


@pytest.fixture
def evaluated(tmp_path, monkeypatch, kit):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    write_corpus(new_folder("carols"), DOCUMENTS, sets={"carols": ("Carols", ASKED)})
    (tmp_path / "mine.trec").write_text(RUN, "utf-8")
    (tmp_path / "said.jsonl").write_text(
        "\n".join(json.dumps({"question": one.text, "answer": "Fred"}) for one in ASKED), "utf-8"
    )
    for name in ("mine.trec", "said.jsonl"):
        save_run_file(tmp_path / name, CorpusSource("carols"))
    engine, store = Engine(kit.Written(encoder=kit.Table({}))), Store(evaluations_file())
    lines = ["FileDocuments(run='mine', keep=1)", "run-said", NARROW, WIDE]
    job = evaluate(
        engine,
        store,
        make_plan([find_method(line) for line in lines], "carols", None, engine.graph, model=False),
    )
    assert job.wait(60) and not job.error
    yield engine, store, store.run(job.number), find_method(lines[0]).id
    engine.jobs.stop()
    engine.evaluations.stop()


def test_each_lost_question_has_the_nearest_row_and_the_smallest_change(evaluated):
    """The run from the file loses four of five questions.

    Question 1: the turkey is nowhere in the list of the run. The wide line has it at place 2 and
    shares the carol. Question 3: no row has what is missing. Question 4: the turkey is at place 2
    of the run's own list, of which one is kept. Both lines have it and share nothing, so the first
    counts. Question 5: it is not in the run.
    """
    engine, store, run, mine = evaluated
    assert own_methods(RunSummary(run, store.rows(run.id))) == [mine, "run-said"]
    found = explain_losses(engine, store, run, mine)
    assert (found.n_questions, found.n_failed) == (5, 1)
    first, third, fourth = sorted(found.losses, key=lambda one: one.question)
    assert (first.question, first.nearest, first.n_shared, first.n_documents) == (
        "1",
        find_method(WIDE).id,
        1,
        1,
    )
    assert first.missing == (("The turkey", 2),) and first.cause == "not found"
    assert first.change == "One passage instead of its last: “The turkey” (rank 2 there)."
    assert (third.nearest, third.missing) == ("", (("The nephew", None),))
    assert third.change == "One passage instead of its last: “The nephew”."
    assert (fourth.nearest, fourth.cause) == (find_method(NARROW).id, "ranked too low")
    assert fourth.change == "Keep 2 instead of 1: the rest is in its own ranking."
    said, *_, alone = found.sentences(
        {spec["id"]: spec["id"][:4] for spec in run.spec["instances"]}
    )
    assert (
        said == "Of 5 questions File loses 4: not found 2, ranked too low 1, failed, or not in the "
        "run 1."
    )
    assert alone == "Lost by every other method too: 1."


def test_answers_alone_are_lost_by_their_words(evaluated):
    """Fred answers question 2 alone."""
    engine, store, run, _ = evaluated
    found = explain_losses(engine, store, run, "run-said")
    assert (found.n_questions, found.n_failed) == (5, 0) and sorted(
        one.question for one in found.losses
    ) == [
        "1",
        "3",
        "4",
        "5",
    ]


def test_it_is_a_job_for_all_that_are_the_users(evaluated):
    engine, store, run, mine = evaluated
    job = start_loss_report(engine, store, run)
    assert job.wait(60) and [one.method for one in job.result] == [mine, "run-said"]
