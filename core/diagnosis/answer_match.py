"""Matching of known answers in texts, as in LEGO-GraphRAG, RoG, G-Retriever and HippoRAG."""

from __future__ import annotations

from core.languages.spelling import PAUSES, contains_text, normalize

YES_NO_ANSWERS = ("yes", "no")  # answers that are contained in many other words


def contains_answer(prediction: str, gold: str) -> bool:
    """Return whether a text contains a known answer, both normalised (one way only).

    A gold answer that normalises to nothing ("The", "?!") matches only a prediction that is the
    same text; the papers' code lets it match everything. A number is not found within another one.
    """
    normalized_gold = normalize(gold)
    return (
        contains_text(normalize(prediction), normalized_gold)
        if normalized_gold
        else prediction.strip() == gold.strip()
    )


def gives_answer(text: str, answer: str) -> bool:
    """Return whether a text gives an answer.

    Yes and no count only as whole words. The papers' code finds “no” in “know”.

    >>> from core.diagnosis.answer_match import gives_answer
    >>> (gives_answer("No, they are not.", "no"), gives_answer("I do not know.", "no"),
    ...  gives_answer("In the Bronx.", "Bronx"))
    (True, False, True)
    """
    normalized_answer = normalize(answer)
    if normalized_answer in YES_NO_ANSWERS:
        return normalized_answer in normalize(text.translate(PAUSES)).split()
    return contains_answer(text, answer)
