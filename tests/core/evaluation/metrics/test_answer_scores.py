"""Exact match and shared words of answers, in scripts with and without blanks."""

import pytest

from core.evaluation.metrics.answer_scores import is_exact_match, shared_words


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("北京大学。", "北京大学"),
        ("「東京タワー」", "東京タワー"),
        ("วัดโพธิ์๏", "วัดโพธิ์"),
        ("“The Heron”", "The Heron"),
        ("¿El faro?", "El faro"),
        ("ψυχή·", "Ψυχή"),
        ("1984.0", "1984"),
    ],
)
def test_an_answer_is_exact_whatever_its_punctuation(text, answer):
    assert is_exact_match(text, [answer])


@pytest.mark.parametrize(("text", "answer"), [("10⁶", "106"), ("3.5", "35"), ("½", "12")])
def test_another_value_is_not_exact(text, answer):
    assert not is_exact_match(text, [answer])


@pytest.mark.parametrize(
    ("text", "answer", "recall", "precision"),
    [
        ("答案是北京大学。", "北京大学", 1, 4 / 7),
        ("上海大学", "北京大学", 1 / 2, 1 / 2),
        ("答えは東京タワーです", "東京タワー", 1, 5 / 10),
        ("อยู่ที่นี่", "ที่นี่", 1, 2 / 4),
        ("នៅភ្នំពេញ", "ភ្នំពេញ", 1, 4 / 5),
        ("It is the Heron—a boat", "Heron", 1, 1 / 4),
        ("in the PKU 北京", "PKU 北京", 1, 3 / 4),
    ],
)
def test_words_of_an_answer(text, answer, recall, precision):
    assert shared_words(text, answer) == pytest.approx(recall)
    assert shared_words(answer, text) == pytest.approx(precision)
