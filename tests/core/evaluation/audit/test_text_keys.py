"""Keys of questions on documents, in their evidence and by their type."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.corpus import Document, write_corpus
from core.evaluation.audit.answer_types import answer_type, asked_type, type_findings
from core.evaluation.audit.audit import audit_questions
from core.evaluation.audit.text_keys import holds_answer
from core.graph.columns import Table
from core.sources import CorpusSource
from core.types import Question
from tests.core.operators.texts.kit import assemble

DOCUMENTS = [
    Document("ann", "Ann Lee built the harbour from 1969 until the storm in 1974.", "Ann Lee"),
    Document("bo", "Bo Berg sailed to Turku with 3,677 crates.", "Bo Berg"),
]
BUILT = Question("who built the harbour", "1", answers=("Ann Lee",), gold=("ann",))


@pytest.fixture
def source(tmp_path):
    corpus = write_corpus(tmp_path / "small", DOCUMENTS, "small texts")
    chunks = Table.from_columns(
        id=["a#0"], document=["ann"], title=["Ann Lee"], text=[DOCUMENTS[0].text]
    )
    graph = assemble("small", ["Ann Lee"], [], {"chunks": [[0]]}, {}, chunks)
    return CorpusSource("small", graph, corpus)


def found(source, *questions):
    audit = audit_questions(questions, source)
    return [(one.question, one.kind, one.names) for one in audit.findings]


def test_a_key_in_its_evidence_is_not_flagged(source):
    until = replace(BUILT, id="2", text="when did she build it", answers=("1969 until 1974",))
    sailed = Question("how many crates", "3", answers=("3677",), gold=("bo",))
    assert [one for one in found(source, BUILT, until) if one[1] != "lost_answer"] == []
    assert found(source, sailed) == [("3", "lost_answer", ("3677",))]  # in no chunk


def test_a_key_of_another_document_contradicts_its_evidence(source):
    wrong = replace(BUILT, answers=("Bo Berg",))
    assert ("1", "contradicted", ("Bo Berg",)) in found(source, wrong)


def test_a_key_that_is_only_part_of_a_word_is_not_in_its_evidence(source):
    """“Bo” is in “harbour” and is a word of another document; “arb” is a word of none."""
    assert ("1", "contradicted", ("Bo",)) in found(source, replace(BUILT, answers=("Bo",)))
    assert found(source, replace(BUILT, answers=("arb",))) == [("1", "missing_answer", ("arb",))]


@pytest.mark.parametrize("answer", ["Cy", "1980", "باريس"])
def test_a_key_that_other_words_are_written_on_is_found(tmp_path, answer):
    text = "Cy's boat sailed in the 1980s. سافر وباريس"
    corpus = write_corpus(tmp_path / "joined", [Document("cy", text, "Joined")], "joined")
    audit = audit_questions(
        [replace(BUILT, text="name it", answers=(answer,), gold=())],
        CorpusSource("j", None, corpus),
    )
    assert not audit.findings


def test_a_typing_error_and_an_unknown_passage_are_missing(source):
    assert ("1", "missing_answer", ("Ann Leee",)) in found(
        source, replace(BUILT, answers=("Ann Leee",))
    )
    assert found(source, replace(BUILT, gold=("ann", "eve"))) == [
        ("1", "missing_passage", ("eve",))
    ]
    quoted = replace(BUILT, gold=("ann\nBo built the harbour",))
    assert found(source, quoted) == [("1", "missing_passage", quoted.gold)]


def test_aliases_yes_and_no_and_long_answers_are_not_searched_by_their_letters(source):
    alias = replace(BUILT, answers=("A. Lee",), aliases=(("A. Lee", "Ann Lee"),))
    yes = Question("did Ann build it", "2", answers=("yes",), gold=("ann",))
    long = replace(
        BUILT,
        id="3",
        text="how did the name get lost",
        answers=("It was built by a woman whose name the storm took away",),
    )
    assert found(source, alias, yes, long) == []
    notes = audit_questions([long], source).notes
    assert any(note.startswith("1 long") for note in notes)


def test_questions_without_any_key_are_noted(source):
    assert found(source, Question("what now", "1")) == [("1", "no_key", ())]
    assert ("1", "no_key", ()) in found(source, Question("what now", "1", answers=(" ",)))
    assert found(source, Question("an overview", "1", abstract=True)) == []


def test_words_of_an_answer_may_be_spread_over_the_evidence():
    assert holds_answer("from 1969 until his fall in 1974", ["1969 until 1974"])
    assert not holds_answer("from 1969 until his fall in 1974", ["1969 until 1975"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Are both genera?", "yes or no"),
        ("Is it Ann or Bo?", ""),
        ("can you name a film", ""),
        ("In what year did it open?", "time"),
        ("Wann wurde sie eröffnet?", "time"),
        ("How many people live there?", "number"),
        ("Who is older, Ann Lee or Bo Berg?", "choice"),
        ("Who built it?", "person"),
        ("北京在哪里？", ""),
        ("\ufffd\x00", ""),
    ],
)
def test_a_question_word_says_what_is_asked(text, kind):
    assert asked_type(text).kind == kind


def test_answers_have_types():
    assert [answer_type(text) for text in ("Yes", "May 1999", "twelve", "Ann")] == [
        "yes or no",
        "number",
        "number",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("Are both genera?", "no", "Ajuga"),
        ("When did it open?", "in May 1999", "Ann Lee"),
        ("How many are there?", "nine", "Turku"),
        ("Who built it?", "Ann", "1999"),
        ("Where is it?", "Turku", "yes"),
        ("Who is older, Ann Lee or Bo Berg?", "Berg", "Cy"),
    ],
)
def test_a_key_of_another_type_is_flagged(text, right, wrong):
    assert list(type_findings([Question(text, "1", answers=(right,))])) == []
    (finding,) = type_findings([Question(text, "1", answers=(wrong,))])
    assert (finding.kind, finding.names) == ("other_type", (wrong,))


def test_other_languages_learn_the_type_from_the_other_keys():
    keys = ["1896", "1900", "1910", "1920", "im Mai 1930"]
    questions = [
        Question(f"Wann war Fest {i}?", str(i), answers=(key,)) for i, key in enumerate(keys)
    ]
    odd = Question("Wann war das letzte?", "odd", answers=("Emil Rapp",))
    assert [one.question for one in type_findings([*questions, odd])] == ["odd"]
    assert list(type_findings([questions[0], odd])) == []
