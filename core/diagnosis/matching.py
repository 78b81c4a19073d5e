"""Matching of known answers in texts, as in LEGO-GraphRAG, RoG, G-Retriever and HippoRAG."""

from __future__ import annotations

from core.languages.spelling import PAUSES, holds, normalize

BARE = ("yes", "no")  # answers that are contained in many other words


def match(prediction: str, gold: str) -> bool:
    """Return whether a text contains a known answer, both normalised (one way only).

    A gold answer that normalises to nothing ("The", "?!") matches only a prediction that is the
    same text, where the papers' code lets it match everything. A number is not found within another
    one.
    """
    wanted = normalize(gold)
    return holds(normalize(prediction), wanted) if wanted else prediction.strip() == gold.strip()


def says(text: str, answer: str) -> bool:
    """Return whether a text gives an answer; yes and no only as words of their own.

    The papers' code finds no in know.

    >>> from core.diagnosis.matching import says
    >>> (says("No, they are not.", "no"), says("I do not know.", "no"),
    ...  says("In the Bronx.", "Bronx"))
    (True, False, True)
    """
    wanted = normalize(answer)
    if wanted in BARE:
        return wanted in normalize(text.translate(PAUSES)).split()
    return match(text, answer)
