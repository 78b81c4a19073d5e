"""When a text holds an answer (LEGO-GraphRAG, RoG, G-Retriever, HippoRAG: the same normalisation)."""

from __future__ import annotations

import re
import string

_PUNCTUATION = str.maketrans("", "", string.punctuation)
BARE = ("yes", "no")  # answers that are part of many other words
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalize(text: str) -> str:
    """Lower case, ASCII punctuation deleted, the words a, an, the deleted, spaces squeezed; in this order.

    Deleting punctuation joins words: "U.S." becomes "us".
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def match(prediction: str, gold: str) -> bool:
    """Whether the normalised gold answer is a substring of the normalised prediction (one way only).

    A gold answer that normalises to nothing ("The", "?!") matches only a prediction that is the same text, where the
    papers' code lets it match everything.
    """
    wanted = normalize(gold)
    return wanted in normalize(prediction) if wanted else prediction.strip() == gold.strip()


def says(text: str, answer: str) -> bool:
    """Whether a text gives an answer: it holds it, and yes and no as words of their own alone, where the papers' code finds no in know.

    >>> from core.diagnosis.matching import says
    >>> says("No, they are not.", "no"), says("I do not know.", "no"), says("In the Bronx.", "Bronx")
    (True, False, True)
    """
    wanted = normalize(answer)
    return wanted in normalize(text).split() if wanted in BARE else match(text, answer)
