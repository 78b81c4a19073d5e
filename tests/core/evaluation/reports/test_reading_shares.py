"""Shares of right answers and of those lost in retrieval or reading, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.evaluation.metrics.outcome import GoldRanks, Outcome, ScoredAnswer
from core.evaluation.metrics.passages import PassageSurvival
from core.evaluation.reports.reading_shares import (
    FAILED,
    LOST_IN_READING,
    LOST_IN_RETRIEVAL,
    NO_ANSWER,
    READ_RIGHT,
    UNKNOWN_EVIDENCE,
    difference_sentences,
    gain_sentence,
    note_sentences,
    paired_reading_tests,
    question_end,
    reading_headline,
    reading_shares,
    shares_row,
)
from core.evaluation.reports.recommendation import recommendation
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run, StoredRow
from core.types import Question, ReaderAnswer

QUESTION = Question("who", "q", ("One",), ("Ann",))


def on_triples(found: int, in_prompt: int, golds: int = 1) -> Outcome:
    """An outcome whose text holds `found` of the answers, and whose prompt `in_prompt`."""
    alive = {"graph": golds, "subgraph": golds, "paths": in_prompt, "prompt": in_prompt}
    answer = ScoredAnswer("said", "language model", found, 1)
    return Outcome(golds, answer=answer, alive={**alive, "answer": found})


def on_passages(found: int, in_prompt: int, golds: int = 2) -> Outcome:
    """An outcome on documents, with so many of the gold passages in the prompt."""
    fates = PassageSurvival(golds, {"corpus": 2, "graph": 2, "retrieved": 2, "prompt": in_prompt})
    answer = ScoredAnswer("said", "language model", found, 1)
    return Outcome(1, answer=answer, fates=fates, alive={"corpus": 1, "prompt": 0})


def end(outcome, question=QUESTION, measure="hits@1", stage="prompt", error=None) -> str:
    return question_end(StoredRow("a", question, outcome, error), measure, stage)


def test_of_several_correct_answers_one_is_enough():
    """One of three answers is said, or one of three is in the prompt."""
    assert end(on_triples(1, 0, golds=3)) == READ_RIGHT  # known, or guessed, without the evidence
    assert end(on_triples(0, 1, golds=3)) == LOST_IN_READING
    assert end(on_triples(0, 0, golds=3)) == LOST_IN_RETRIEVAL


def test_of_a_set_of_passages_all_are_needed():
    asked = Question("who", "q", answers=("Ann",), gold=("a", "b"))
    assert end(on_passages(0, 2), asked, "accuracy") == LOST_IN_READING
    # one of two is in the prompt, although the answer's words may be there
    assert end(on_passages(0, 1), asked, "accuracy") == LOST_IN_RETRIEVAL
    assert end(on_passages(1, 1), asked, "accuracy") == READ_RIGHT


def test_the_graph_reader_reads_all_paths_and_no_prompt():
    def read(first, paths):
        reader = GoldRanks(2, (first,) if first else (), (first,))
        alive = {"graph": 1, "paths": paths, "prompt": 0}
        return end(Outcome(1, reader=reader, alive=alive), measure="reader_hit@1", stage="paths")

    assert (read(1, 1), read(2, 1), read(None, 1), read(None, 0)) == (
        READ_RIGHT,
        LOST_IN_READING,  # it names the answer, but not first
        LOST_IN_READING,
        LOST_IN_RETRIEVAL,
    )


def test_what_is_not_counted_is_told_apart():
    assert end(None, error="It went away.") == FAILED
    assert end(on_triples(0, 1), Question("who", "q")) == UNKNOWN_EVIDENCE
    assert end(on_triples(0, 0), Question("is it", "q", answers=("No",))) == UNKNOWN_EVIDENCE
    assert end(on_triples(0, 0), Question("who", "q", answers=("?!",))) == UNKNOWN_EVIDENCE
    assert end(Outcome(1, alive={"prompt": 1})) == NO_ANSWER
    # a method that retrieves nothing has no stage, so that its reader reads nothing
    silent = ScoredAnswer("said", "language model", 0, 1)
    assert end(Outcome(1, answer=silent, alive={"graph": 1})) == LOST_IN_RETRIEVAL


def run_of(readings=None, **rows: str) -> RunSummary:
    """A run of methods with a letter for each question.

    The letters are r right with the evidence in the prompt, k right without, m wrong and the
    evidence missing, w wrong with the evidence, u without a known answer, x failed. `readings` has
    a pair of marks a question: right with nothing, and with the evidence alone.
    """
    outcomes = {"r": (1, 1), "k": (1, 0), "m": (0, 0), "w": (0, 1), "u": (0, 1)}
    stored = []
    for method, letters in rows.items():
        for i, letter in enumerate(letters):
            answers = () if letter == "u" else ("Ann",)
            question = Question("who", f"q{i:02}", ("One",), answers)
            marks = readings[i] if readings else ""
            asked = {
                context: ReaderAnswer(context, right=mark == "1")
                for context, mark in zip(("nothing", "evidence"), marks)
                if mark != "-"
            }
            outcome = None if letter == "x" else on_triples(*outcomes[letter])
            error = "It went away." if letter == "x" else None
            stored.append(StoredRow(method, question, outcome, error, readings=asked))
    methods = [
        {"id": key, "name": key.upper(), "title": key, "line": "EgoNetwork()"} for key in rows
    ]
    spec = {"instances": methods, "graphs": [["films", "0"]], "set": "films", "of": 99, "seed": 0}
    spec |= {"sample": max(map(len, rows.values())), "model": True, "judge": False, "cold": False}
    return RunSummary(Run(1, "key", spec, 0.0, "done", len(stored), 0), stored)


def test_the_three_shares_are_all_of_what_is_counted():
    """Of ten questions eight are counted: 3 right, 2 lost in retrieval, 3 in reading."""
    (shares,) = reading_shares(run_of(a="rrkmmwwwux"))
    means = (shares.right, shares.lost_in_retrieval, shares.lost_in_reading)
    assert [one.mean for one in means] == [0.375, 0.25, 0.375] and shares.n == 8
    assert sum(one.mean for one in means) == 1
    assert shares.evidence_read.mean == 5 / 8  # 2 right and 3 wrong; k was right without
    assert shares.uncounted == "1 without known evidence or correct answer, 1 failed"
    # nothing was asked again
    assert (shares.known.n, shares.ceiling.n, shares.evidence_gain.n) == (0, 0, 0)
    assert shares.retriever_gain.mean == 0.25


def test_the_interval_of_a_share_is_wilsons():
    """3 of 8: middle (3 + 1.92) / (8 + 3.84) = .416, half .279."""
    (shares,) = reading_shares(run_of(a="rrkmmwww"))
    assert (shares.right.low, shares.right.high) == pytest.approx((0.137, 0.694), abs=0.001)


def test_the_ceiling_and_what_is_known_without_context():
    """Of two lost in retrieval one is wrong with the evidence alone, so one can be won.

    Of three lost in reading two are right with the evidence alone. One question was not asked.
    """
    marks = ["01", "11", "11", "00", "01", "01", "01", "00"]
    (shares,) = reading_shares(run_of(marks, a="rrkmmwww"))
    assert (shares.known.mean, shares.ceiling.mean) == (2 / 8, 6 / 8)
    assert shares.retriever_gain.mean == 1 / 8 and shares.reader_gain.mean == 3 / 8
    assert shares.evidence_gain.mean == 2 / 8
    assert gain_sentence(shares) == (
        "A better retriever can win at most .12 here, a better reader .38; the same reader with "
        "the evidence alone .25 of it (n = 8)."
    )
    unasked = ["01", "11", "11", "0-", "01", "01", "01", "00"]
    (shares,) = reading_shares(run_of(unasked, a="rrkmmwww"))
    # what was not asked may still be won
    assert shares.ceiling.n == 7 and shares.retriever_gain.mean == 2 / 8


def test_a_sentence_over_all_methods():
    """Of eight wrong answers five are lost in reading. The evidence is read in 5 and 7 of 10."""
    all_shares = reading_shares(run_of(a="rrrrrmmwww", b="rrrrrkmmww"))
    ends = [list(one.ends.values()) for one in all_shares]
    assert sum(one.count("reading") for one in ends) == 5
    assert reading_headline(all_shares) == (
        "Most errors are the reader's. The evidence is read in 70 to 80 % of the questions, and "
        "56 % of the wrong answers are given although it is."
    )
    assert reading_headline(reading_shares(run_of(a="rmmw"))).startswith(
        "Most errors are the retriever's."
    )
    assert reading_headline(reading_shares(run_of(a="mw"))).startswith("Retrieval and reading")
    assert reading_headline(reading_shares(run_of(a="rk"))) == "No answer is wrong."


def test_methods_that_differ_in_retrieval_and_not_in_answers_are_named():
    """a reads the evidence of 12 questions that b misses, and answers none of them right.

    Of 2^12 flips 2 are as far, so that p = .0005 for the evidence. The answers are the same.
    """
    (sentence,) = difference_sentences(run_of(a="w" * 12 + "rrrr", b="m" * 12 + "rrrr"))
    assert sentence.startswith("A reads the evidence of more questions than B (.75 [")
    assert "(.00 [.00, .00], n = 16)" in sentence
    # here the answers differ as well
    assert not list(difference_sentences(run_of(a="r" * 12 + "rrrr", b="m" * 12 + "rrrr")))
    assert not list(difference_sentences(run_of(a="w" * 8, b="w" * 8)))


def test_the_paired_intervals_by_hand():
    """Of 10 questions a reads the evidence of 6 that b misses, and none the other way.

    A bootstrap mean is a draw of Binomial(10, .6) / 10, whose quantiles at .025 and .975 are 3 and
    9 of 10: at most 2 has .012, at most 3 .055, at most 8 .954 and at most 9 .994.
    """
    retrieval, answers = paired_reading_tests(run_of(a="wwwwwwrrrr", b="mmmmmmrrrr"))
    (test,), (right,) = retrieval, answers
    assert (test.difference, test.low, test.high, test.n) == (0.6, 3 / 10, 9 / 10, 10)
    assert test.p == pytest.approx(2 / 2**6) and (right.low, right.high, right.p) == (0, 0, 1)
    # what is not counted for one method leaves the pair
    assert paired_reading_tests(run_of(a="wwxr", b="mmmr"))[0][0].n == 3


def test_each_question_of_triples_and_documents_has_the_stage_of_its_source():
    """Without a model the graph reader reads paths, also where the run asks documents too."""
    run = run_of(a="r").run
    spec = run.spec | {"model": False, "graphs": [["films", "0"], ["corpus:small", "0"]]}
    answer = ScoredAnswer("Bob", "graph reader", 0, 1)
    on_paths = Outcome(1, answer=answer, alive={"graph": 1, "paths": 1, "answer": 0})
    row = StoredRow("a", QUESTION, on_paths)
    in_texts = Outcome(1, answer=answer, alive={"corpus": 1, "graph": 1, "retrieved": 1})
    other = StoredRow("a", replace(QUESTION, id="q2"), in_texts)
    (shares,) = reading_shares(RunSummary(replace(run, spec=spec), [row, other]))
    assert list(shares.ends.values()) == [LOST_IN_READING, LOST_IN_READING]


def test_what_could_not_be_asked_is_said():
    summary = run_of(["-1"] * 3, a="rmw")
    rows = [
        StoredRow(
            row.method,
            row.question,
            row.outcome,
            readings={"nothing": ReaderAnswer("nothing", fault="Its model noted points.")},
        )
        for row in summary.rows
    ]
    all_shares = reading_shares(RunSummary(summary.run, rows))
    assert list(note_sentences(all_shares, {"a": "A"})) == [
        "A: 3 answers missing. Its model noted points."
    ]
    assert shares_row(all_shares[0])["known"]["n"] == 0
    (shares,) = reading_shares(run_of(a="rux"))
    assert list(note_sentences([shares], {"a": "A"})) == [
        "A: not counted are 1 without known evidence or correct answer, 1 failed."
    ]


def test_the_recommendation_says_what_can_be_won():
    found = recommendation(run_of(a="rrrrrrmmwwww", b="rrrrrrmmwwww"))
    assert (
        "With A a better retriever can win at most .17 here, a better reader .33 (n = 12)."
        in found.details
    )
    only = recommendation(run_of(a="rrmw"))
    assert only.details == (
        "A better retriever can win at most .25 here, a better reader .25 (n = 4).",
    )


def test_a_run_without_known_answers_has_no_shares():
    assert reading_shares(run_of(a="uux")) == []
    assert reading_headline([]).startswith("No question here")
