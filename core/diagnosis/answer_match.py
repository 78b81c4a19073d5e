"""Matching of known answers in texts, for measures and explanations.

`contains_answer` is the test of the papers (LEGO-GraphRAG, RoG, G-Retriever, HippoRAG): the answer
is a part of the text, also of a word. It serves for their measures: answers, and the texts of paths.
Evidence in passages is searched as whole words (`core.languages.spelling.contains_whole`).
`gives_answer` is for the replies to questions whose known answer may be yes or no. It finds these
two only as whole words, and all other answers as `contains_answer` does.
"""

from __future__ import annotations

from core.languages.spelling import PAUSES, contains_text, normalize

YES_NO_ANSWERS = ("yes", "no")  # answers that are contained in many other words


def contains_answer(prediction: str, gold: str) -> bool:
    """Return whether a normalised text contains a normalised answer, not the reverse.

    A number is not found within another one. A gold answer that normalises to nothing ("The",
    "?!") matches only a prediction that is the same text. The papers' code lets it match every
    text.

    Parameters
    ----------
    prediction : the text that is searched.
    gold : the known answer.
    """
    normalized_gold = normalize(gold)
    return (
        contains_text(normalize(prediction), normalized_gold)
        if normalized_gold
        else prediction.strip() == gold.strip()
    )


def gives_answer(text: str, answer: str) -> bool:
    """Return whether a reply gives a known answer, which may be yes or no.

    Yes and no count only as whole words. The papers' code finds “no” in “know”.

    Parameters
    ----------
    text : the reply.
    answer : the known answer.

    >>> from core.diagnosis.answer_match import gives_answer
    >>> (gives_answer("No, they are not.", "no"), gives_answer("I do not know.", "no"),
    ...  gives_answer("In the Bronx.", "Bronx"))
    (True, False, True)
    """
    normalized_answer = normalize(answer)
    if normalized_answer in YES_NO_ANSWERS:
        # A dash may join two words without a space, as in “no—never”.
        return normalized_answer in normalize(text.translate(PAUSES)).split()
    return contains_answer(text, answer)
