"""Decisions on questions are saved, replayed on the next version of a set, and exported."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.errors import BadInput
from core.evaluation.audit.decisions import (
    CORRECT,
    KEEP,
    LEAVE_OUT,
    Decisions,
    decisions_file,
    question_lines,
)
from core.io.home import home_folder
from core.questions import read_questions
from core.types import Question

A = Question("who directed Alpha", "a", ("Alpha",), ("Bob",), hops=1)
B = Question("when was Beta released", "b", ("Beta",), ("1991",), gold=("x",))
C = Question("who is Cy", "c", answers=("A", "B"), aliases=(("A", "Aa"), ("B",)))


def decided() -> Decisions:
    decisions = Decisions()
    decisions.decide(A, CORRECT, answers=("Ann",))
    decisions.decide(B, LEAVE_OUT)
    decisions.decide(C, KEEP)
    return decisions


def test_decisions_are_replayed_from_their_file(tmp_path):
    file = tmp_path / "sub" / "set.audit.json"
    decided().save(file)
    revised = Decisions.open(file).replay([A, B, C])
    assert revised.questions == (replace(A, answers=("Ann",)), C)
    assert (revised.corrected, revised.left_out, revised.confirmed) == (("a",), ("b",), ("c",))
    assert revised.changed == ()


def test_a_changed_question_is_decided_anew_and_a_moved_one_is_found():
    changed, moved = replace(A, answers=("Eve",)), replace(B, id="9")
    revised = decided().replay([changed, moved])
    assert revised.questions == (changed,)
    assert revised.changed == ("a",) and revised.left_out == ("9",)
    assert revised.decided == {"9"}


def test_a_correction_that_the_next_version_has_is_not_made_twice():
    revised = decided().replay([replace(A, answers=("Ann",)), C])
    assert revised.questions[0].answers == ("Ann",) and revised.changed == ()


def test_evidence_and_entities_are_corrected_and_the_rest_stays(tmp_path):
    decisions = Decisions()
    kept = {"answers": B.answers, "entities": B.entities}
    decisions.decide(B, CORRECT, gold=("y", "z\nquoted"), **kept)
    decisions.decide(A, CORRECT, entities=("Alfa",))
    decisions.save(tmp_path / "d.json")
    revised = Decisions.open(tmp_path / "d.json").replay([A, B])
    right = [replace(A, entities=("Alfa",)), replace(B, gold=("y", "z\nquoted"))]
    assert list(revised.questions) == right
    assert list(Decisions.open(tmp_path / "d.json").replay(right).questions) == right
    with pytest.raises(BadInput, match="Name the correct answers"):
        decisions.decide(B, CORRECT, answers=(), gold=("y",))


def test_wrong_decisions_are_refused():
    decisions = Decisions()
    with pytest.raises(BadInput):
        decisions.decide(A, "burn")
    with pytest.raises(BadInput):
        decisions.decide(A, CORRECT, answers=("Bob",))
    with pytest.raises(BadInput):
        decisions.decide(A, CORRECT, answers=())
    assert decisions.by_question == {}
    decisions.decide(A, KEEP)
    decisions.forget("a")
    decisions.forget("a")
    assert decisions.by_question == {}


@pytest.mark.parametrize(
    "text",
    ["[", "{}", '{"format": "other", "decisions": []}', "[" * 5000]
    + [json.dumps({"format": "hopscope-audit-1", "decisions": one}) for one in (3, [3], [{}])]
    + [
        '{"format": "hopscope-audit-1", "decisions": '
        '[{"question": "a", "digest": "d", "action": "burn"}]}'
    ],
)
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path, text):
    file = tmp_path / "set.audit.json"
    file.write_text(text)
    with pytest.raises(BadInput):
        Decisions.open(file)
    assert file.read_text() == text


def test_a_missing_file_holds_no_decisions(tmp_path):
    assert Decisions.open(tmp_path / "none.json").by_question == {}


def test_the_file_lies_beside_a_file_and_else_in_the_home(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("question\n")
    assert decisions_file(str(file)) == tmp_path / "mine.csv.audit.json"
    assert decisions_file("metaqa-1hop-dev") == home_folder() / "audits/metaqa-1hop-dev.audit.json"
    assert decisions_file("../etc").parent == home_folder() / "audits"


def test_an_exported_set_is_read_again_as_it_was(tmp_path):
    chosen = Question(
        "What was big? Options: (A) a boy (B) a hen",
        "d",
        answers=("a hen",),
        options=("a boy", "a hen"),
    )
    file = tmp_path / "out.jsonl"
    file.write_text(question_lines([A, B, C, chosen]), "utf-8")
    from core.questions import GOLD_KEYS

    assert read_questions(file, "out", gold=GOLD_KEYS) == (A, B, C, chosen)
