"""Copies of questions in other words, and like questions that are none."""

from __future__ import annotations

import numpy as np
import pytest

from core.evaluation.audit.copies import CopySearch
from core.types import Question

SAILS = "Which harbour did the painter Ann Lee sail to in 1969?"


def copies(*texts: str, keys=("Turku",), encode=None):
    questions = [Question(text, str(i), answers=tuple(keys)) for i, text in enumerate(texts)]
    return {one.question: one.others for one in CopySearch(questions, encode).findings()}


@pytest.mark.parametrize(
    "text",
    [
        SAILS.upper(),
        "In 1969, the painter Ann Lee did sail to which harbour",
        "Which harbuor did the painter Ann Lee sail to in 1969?",
        "To which harbour did the painter Ann Lee sail in 1969?",
    ],
)
def test_case_order_typing_errors_and_function_words_make_copies(text):
    assert copies(SAILS, text) == {"1": ("0",)}


@pytest.mark.parametrize(
    "text",
    [
        "Which harbour did the painter Bo Berg sail to in 1969?",
        "Which harbour did the painter Ann Lee sail to in 1974?",
    ],
)
def test_another_name_or_number_makes_another_question(text):
    assert copies(SAILS, text) == {}
    assert copies(SAILS, text, encode=lambda texts: np.ones((len(texts), 1))) == {}


def test_a_negation_is_no_function_word():
    claim = "Aspirin is linked with cancer of the liver in mice."
    questions = [
        Question(claim, "a", gold=("1",)),
        Question(claim.replace("linked", "not linked"), "b", gold=("2",)),
    ]
    assert list(CopySearch(questions).findings()) == []


def test_other_words_need_close_vectors_and_the_same_key():
    texts = ("who made the film about boats", "who was the maker of the movie about boats")
    close = lambda texts: np.ones((len(texts), 1))
    assert copies(*texts, encode=close) == {"1": ("0",)}
    far = lambda texts: np.eye(len(texts))
    assert copies(*texts, encode=far) == {}
    keys = [Question(text, text, answers=(str(i),)) for i, text in enumerate(texts)]
    assert list(CopySearch(keys, close).findings()) == []


def test_one_template_with_other_entities_is_no_copy():
    questions = [
        Question(f"who directed {film}", film, (film,), ("Ann",))
        for film in ("Alpha", "Alphb", "Beta")
    ]
    assert list(CopySearch(questions).findings()) == []


def test_what_a_graph_says_is_asked_tells_questions_on_one_entity_apart():
    questions = [
        Question("who directed Alpha", "a", ("Alpha",), ("Ann",)),
        Question("who produced Alpha", "b", ("Alpha",), ("Ann",)),
    ]
    close = lambda texts: np.ones((len(texts), 1))
    assert [one.question for one in CopySearch(questions, close).findings()] == ["b"]
    senses = {"a": (0, ((0, True),)), "b": (0, ((1, True),))}
    assert list(CopySearch(questions, close, senses).findings()) == []


def test_claims_on_the_same_evidence_in_other_words_are_noted_as_variants():
    claims = ("aspirin raises the risk of cancer", "aspirin lowers the risk of cancer")
    questions = [Question(text, text[8], gold=("1",)) for text in claims]
    (finding,) = CopySearch(questions).findings()
    assert (finding.question, finding.kind, finding.others) == ("l", "variant", ("r",))
    assert not finding.is_fault


def test_a_copy_with_another_key_says_so():
    questions = [Question(SAILS, "a", answers=("Turku",)), Question(SAILS, "b", answers=("Riga",))]
    (finding,) = CopySearch(questions).findings()
    assert finding.others == ("a",) and "another key" in finding.text


def test_nothing_one_question_and_other_scripts():
    assert copies() == {} and copies("") == {} and copies("", "\x00\ufffd") == {}
    assert copies("北京大学在哪里？", "北京大学在哪里") == {"1": ("0",)}
    assert copies("北京大学在哪里？", "南京大学在哪里？") == {}
