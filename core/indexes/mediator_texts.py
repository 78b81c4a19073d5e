"""Texts for chains of Freebase-like relations.

Freebase states facts with several parts by a mediator, a node without a name. Two steps through a
mediator are worded as one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from core.graph.algorithms.chains import Chain
from core.graph.names.phrases import (
    ENTITY_PLACEHOLDER,
    FALLBACK_NOUN,
    Phrase,
    plural,
    relation_phrase,
)

_PLURAL = re.compile(r"(?<=[^\W_])_s$")


def plain_phrase(relation: str) -> Phrase:
    """Return `relation_phrase` of a relation without the Freebase suffix `_s`.

    In Freebase, names of relations with several values end with `_s`: `people.person.sibling_s` is
    worded as “sibling”.
    """
    return relation_phrase(_PLURAL.sub("", relation))


def mediated_text(chain: Chain, phrases: Sequence[Phrase], into_mediator: np.ndarray) -> str:
    """Word a chain from X: "the profession of the sibling of the person X".

    A step into a mediator and the step out of it are worded together: "the actor in the performance
    of X".

    Parameters
    ----------
    chain : step codes, `2 * r` along and `2 * r + 1` against the triples of relation `r`.
    phrases : `phrases[r]` is the wording of relation `r`.
    into_mediator : `into_mediator[code]` is true if the step leads into a mediator.

    Returns
    -------
    Words that end in X.
    """
    kind = phrases[chain[0] >> 1].head_type
    text = ENTITY_PLACEHOLDER if chain[0] & 1 or not kind else f"the {kind} {ENTITY_PLACEHOLDER}"
    codes = iter(chain)
    for code in codes:
        out = next(codes, None) if into_mediator[code] else None
        if out is None:
            text = _word_step(phrases[code >> 1], code, text)
        else:
            text = _word_mediated_steps(code, out, phrases, text)
    return text


def _word_step(phrase: Phrase, code: int, text: str) -> str:
    if code & 1:
        return phrase.describe_heads(text, plural(phrase.head_type or FALLBACK_NOUN))
    return phrase.describe_tails(text)


def _word_mediated_steps(entry: int, out: int, phrases: Sequence[Phrase], text: str) -> str:
    """Word the step into a mediator and the step out of it together."""
    first, last = phrases[entry >> 1], phrases[out >> 1]
    things = plural(last.head_type or FALLBACK_NOUN)
    if entry & 1:
        if out & 1:
            return f"the {things} with {last.noun} for {first.noun} {text}"
        # Out by the relation of the step in: to another node than the one before.
        other = "other " if entry ^ 1 == out else ""
        return f"the {other}{last.noun} in the {first.head_type or FALLBACK_NOUN} of {text}"
    if out & 1:
        return f"the {things} with {last.noun} in the {first.noun} of {text}"
    last_words = {word.rstrip("s") for word in last.noun.split()}
    if last_words.issuperset(word.rstrip("s") for word in first.noun.split()):
        nouns = last.noun
    else:
        nouns = f"{last.noun} of the {first.noun}"
    return f"the {nouns} of {text}"
