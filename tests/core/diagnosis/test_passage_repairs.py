"""Changes of one step, tried on documents.

The place of what was lost is kept, and only what was seen to help is offered.
"""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from core.comparison.lane import MethodComparison
from core.comparison.lane_run import LaneListener, LaneRun, PrefixCache
from core.corpus import Document, write_corpus
from core.diagnosis.changes.passage_changes import changes
from core.diagnosis.repair.repair_offers import best_repair
from core.diagnosis.repair.repair_trials import find_repair
from core.diagnosis.verdict.verdict_words import explain_comparison
from core.engine import Engine
from core.errors import RunCancelled
from core.methods.catalogue import Method
from core.operators.text import parse_line
from core.sources import CorpusSource
from core.types import Question
from core.watch import Watch
from tests.films import Bag, Written
from tests.lanes import lane_of

LINE = "BuiltGraph() >> SparseChunks(keep={keep}) >> AnswerFromTables()"
# By BM25 for “red fox den”: of all three words the first, of two the second, of one the third (each text has three words).
DOCUMENTS = (
    Document("three", "red fox den", "Three"),
    Document("two", "red fox owl", "Two"),
    Document("one", "red elk owl", "One"),
    Document("none", "elk owl bat", "None"),
)


@pytest.fixture
def engine(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path / "home"))
    engine = Engine(Written(encoder=Bag()))
    yield engine
    engine.jobs.stop()


@pytest.fixture
def lane(engine, tmp_path):
    """`lane(line, question)`: the question as it is asked of the documents, and the lane that has run."""
    corpus = write_corpus(tmp_path / "animals", DOCUMENTS)

    def make(line: str, question: Question):
        ask = engine.prepare_question(CorpusSource.of(corpus), question, model=False, reader=False)
        run = LaneRun(ask, parse_line(line), engine.environment, PrefixCache())
        run.retrieve(LaneListener())
        run.answer(LaneListener())
        return ask, lane_of(run, "a", "A")

    return make


def asked(*gold, answers=()):
    return Question("red fox den", gold=gold, answers=answers)


def tried(ask, ran, **how):
    """The repair of a lane that has run, by what it lost."""
    (one,) = explain_comparison(MethodComparison(ask, [ran])).lanes
    environment = Engine(Written(encoder=Bag())).environment
    return find_repair(LaneRun.continue_lane(ran, environment), one.losses, **how)


def test_as_many_are_kept_as_the_place_of_the_lost_passage_asks_for(lane):
    ask, ran = lane(LINE.format(keep=1), asked("three", "one"))
    found = tried(ask, ran, seconds=60)
    assert (found.label, found.right, found.of) == (
        "Keep 3 passages → 2 of 2 evidence passages in the prompt",
        2,
        2,
    )
    assert parse_line(found.spec) == parse_line(LINE.format(keep=3))
    ran = replace(ran, repair=found)
    (one,) = explain_comparison(MethodComparison(ask, [ran])).lanes
    (lost,) = one.losses
    assert (lost.name, lost.rank) == ("One", 3) and "; keep 3 passages " in one.text
    assert best_repair(MethodComparison(ask, [ran])) == (
        0,
        "Repair “A”: keep 3 passages → 2 of 2 evidence passages in the prompt",
    )


def test_what_came_through_needs_no_repair(lane):
    ask, ran = lane(LINE.format(keep=2), asked("three", "two"))
    assert tried(ask, ran, seconds=60) is None


def test_a_passage_that_no_change_reaches_is_left(lane):
    ask, ran = lane(LINE.format(keep=2), asked("gone"))
    assert tried(ask, ran, seconds=60) is None


def test_without_known_passages_the_words_of_the_answer_count(lane):
    ask, ran = lane(LINE.format(keep=1), asked(answers=("elk",)))
    # twice as many is not enough
    assert (
        tried(ask, ran, seconds=60).label == "Keep 4 passages → 1 of 1 correct answer in the prompt"
    )


def test_passages_by_meaning_where_words_do_not_find_them(lane):
    """Looking passages up by meaning reaches “none”, though it comes last.

    The vectors are those of the words, and “none” shares no word with the question.
    """
    line = "BuiltGraph() >> EmbedQuery() >> SparseChunks(keep=4) >> AnswerFromTables()"
    ask, ran = lane(line, asked("none"))
    words = [change.description for change in changes(ran.method.line, ())]
    assert words == ["Look passages up by meaning", "Keep 8 passages", "Keep 16 passages"]


def test_no_more_time_is_taken_than_there_is(lane):
    ask, ran = lane(LINE.format(keep=1), asked("three", "one"))
    assert tried(ask, ran, seconds=0.0) is None


def test_a_cancelled_job_ends_the_trying(lane):
    def cancelled():
        raise RunCancelled()

    ask, ran = lane(LINE.format(keep=1), asked("three", "one"))
    with pytest.raises(RunCancelled):
        tried(ask, ran, watch=Watch(cancelled), seconds=60)


@pytest.mark.parametrize(
    "kept, labels",
    [
        ((1,), ["Keep 2 passages → 2 of 2 evidence passages in the prompt"]),
        ((1, 2), [None, None]),  # the repair of the first is the second
    ],
)
def test_a_comparison_of_documents_is_repaired_once_its_lanes_have_ended(
    engine, tmp_path, kept, labels
):
    ask = engine.prepare_question(
        CorpusSource.of(write_corpus(tmp_path / "animals", DOCUMENTS)),
        asked("three", "two"),
        model=False,
        reader=False,
    )
    job = engine.compare(
        ask,
        [Method(f"k{keep}", f"K {keep}", parse_line(LINE.format(keep=keep))) for keep in kept],
        try_repairs=True,
    )
    assert job.wait(60)
    until = time.monotonic() + 120
    while job.comparison.is_repairing and time.monotonic() < until:
        time.sleep(0.02)
    assert [lane.repair and lane.repair.label for lane in job.comparison.lanes] == labels


@pytest.mark.parametrize(
    "line, words",
    [
        (
            "EmbedQuery() >> VectorNodes() >> AdaptiveRerank(budget=50) >> DocumentsOfNodes()",
            "Read 100 documents",
        ),
        (
            "EmbedQuery() >> VectorNodes() >> GraphRerank() >> Loop(budget=50) >> DocumentsOfNodes()",
            "Read 100 documents",
        ),
        (
            "EmbedQuery() >> VectorNodes() >> IncidentRelations(budget=4000)",
            "Take 8,000 tokens of relations",
        ),
    ],
)
def test_a_budget_is_said_in_what_it_counts(line, words):
    told = [
        change.description
        for change in changes(
            parse_line(f"BuiltGraph(build='links') >> {line} >> AnswerFromTables()"), ()
        )
    ]
    assert words in told and not any("tokens of passages" in one for one in told)


def test_as_many_documents_are_handed_on_as_the_place_of_the_lost_one_asks_for(lane):
    line = "BuiltGraph(build='links-terms') >> SparseNodes(keep={}) >> DocumentsOfNodes() >> AnswerFromTables()"
    ask, ran = lane(line.format(1), asked("three", "one"))
    found = tried(ask, ran, seconds=60)
    assert (
        found.label == "Keep 3 documents → 2 of 2 evidence passages in the prompt"
        and parse_line(found.spec) == parse_line(line.format(3))
    )
