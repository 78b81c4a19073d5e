"""Gates: figures that an evaluation must reach, on rows written down by hand."""

import pytest

from core.cli import EXIT_FAILED, EXIT_OK, EXIT_WRONG_INPUT, main
from core.errors import BadInput, BadParameter
from core.evaluation.metrics.outcome import Outcome, ScoredAnswer
from core.evaluation.reports.gate import Gate, gate_failures, parse_gates
from core.evaluation.reports.summary import RunSummary
from core.evaluation.runs.store import Run, StoredRow
from core.types import Question
from tests.notes import NoteWith


def summary(*right, sample=None):
    """A run of one method by its answers, one entry of `right` each.

    An answer holds all known ones (True), holds none of them (False), or failed (None).
    """
    spec = {
        "instances": [{"id": "a", "name": "A", "title": "", "line": "GraphReader()"}],
        "sample": sample or len(right),
    }
    spec |= {
        "graphs": [["towns", ""]],
        "set": "s",
        "of": 9,
        "seed": 0,
        "model": True,
        "judge": False,
        "cold": False,
    }
    rows = []
    for number, one in enumerate(right):
        if one is None:
            outcome = None
        else:
            outcome = Outcome(1, answer=ScoredAnswer("Ann", "language model", int(one), 1))
        rows.append(
            StoredRow(
                "a",
                Question("Who?", f"q{number}", answers=("Ann",)),
                outcome,
                "It broke." if one is None else None,
            )
        )
    return RunSummary(Run(1, "k", spec, 0.0, "done", 0, 0), rows)


def said(run, *required):
    return list(gate_failures(run, parse_gates(required)))


def test_a_mean_is_held_against_the_least_value_as_it_is():
    two_of_three = summary(True, True, False)
    assert said(two_of_three, "hits@1=.66") == [] and said(two_of_three) == []
    (sentence,) = said(two_of_three, "hits@1=.667")
    # and not “0.667 is less than 0.667”
    assert "hits@1 0.666667 (n = 3)" in sentence and "0.667 or more" in sentence
    assert len(said(two_of_three, "hits@1=.7,accuracy=.9")) == 2


def test_a_question_that_failed_counts_0():
    assert (
        said(summary(True, None), "hits@1=.5") == []
        and len(said(summary(True, None), "hits@1=.6")) == 1
    )


def test_a_partial_run_is_a_failure_however_good_it_is():
    (sentence,) = said(summary(True, True, sample=5), "hits@1=.5")
    assert sentence == NoteWith("partial", 2, "5 questions")
    assert said(summary(sample=5), "hits@1=.5")[0].startswith("The run is partial")


def test_what_was_not_measured_is_a_failure():
    (sentence,) = said(summary(True), "nearness=.5")
    assert "no nearness" in sentence and "0.5 or more" in sentence


def test_what_cannot_be_a_gate_is_an_error():
    assert parse_gates(["accuracy=.7", "hits@1=1, nearness=0"]) == (
        Gate("accuracy", 0.7),
        Gate("hits@1", 1.0),
        Gate("nearness", 0.0),
    )
    with pytest.raises(BadParameter, match="accuracy"):
        parse_gates(["acuracy=.7"])
    for text in ("accuracy", "accuracy=", "accuracy=much", "accuracy=nan", "accuracy=inf"):
        with pytest.raises(BadInput, match="least value"):
            parse_gates([text])
    with pytest.raises(BadInput, match="more is not better"):
        parse_gates(["tokens=5"])


def test_the_command_exits_with_1_and_says_why(kit, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOPSCOPE_HOME", str(tmp_path))
    file = tmp_path / "questions.tsv"
    file.write_text("genre of [One]\tDrama\nwho directed [Two]\tAnn\n", "utf-8")
    line = "EgoNetwork(hops=1) >> ShortestPaths()"
    command = [
        "evaluate",
        "--set",
        str(file),
        "--methods",
        line,
        "--sample",
        "all",
        "--graph",
        str(kit.graph.folder),
        "--no-llm",
    ]
    assert main([*command, "--fail-below", "path_hit=1"]) == EXIT_OK
    assert (
        main([*command, "--fail-below", "path_hit=.5", "--fail-below", "reader_hit@1=1.1"])
        == EXIT_FAILED
    )
    assert "1.1 or more." in capsys.readouterr().err
    assert main([*command, "--fail-below", "path_hits=1"]) == EXIT_WRONG_INPUT
