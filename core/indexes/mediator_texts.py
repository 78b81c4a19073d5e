"""Texts for chains of Freebase-like relations.

A passage through a mediator, a node without a name, is worded as one step.
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

    Freebase ends the names of relations with several values with `_s`: `people.person.sibling_s` is
    worded as the sibling.
    """
    return relation_phrase(_PLURAL.sub("", relation))


def mediated_text(chain: Chain, phrases: Sequence[Phrase], into: np.ndarray) -> str:
    """Word a chain from X, from its last step to its first.

    An example is "the profession of the sibling of the person X". A step into a mediator and the
    step out of it are worded together: "the actor in the performance of X".

    Parameters
    ----------
    chain : step codes, `2 * r` along and `2 * r + 1` against the triples of relation `r`.
    phrases : `phrases[r]` is the wording of relation `r`.
    into : `into[code]` is true where the step leads into a mediator.

    Returns
    -------
    Words that end in X.
    """
    kind = phrases[chain[0] >> 1].head_type
    text = ENTITY_PLACEHOLDER if chain[0] & 1 or not kind else f"the {kind} {ENTITY_PLACEHOLDER}"
    codes = iter(chain)
    for code in codes:
        out = next(codes, None) if into[code] else None
        text = _step(code, phrases, text) if out is None else _passage(code, out, phrases, text)
    return text


def _step(code: int, phrases: Sequence[Phrase], text: str) -> str:
    words = phrases[code >> 1]
    return (
        words.against(text, plural(words.head_type or FALLBACK_NOUN))
        if code & 1
        else words.along(text)
    )


def _passage(entry: int, out: int, phrases: Sequence[Phrase], text: str) -> str:
    """Word a passage through a mediator: into it by one relation and out by another.

    Each step goes either along or against its triples.
    """
    first, last = phrases[entry >> 1], phrases[out >> 1]
    things = plural(last.head_type or FALLBACK_NOUN)
    if entry & 1:
        if out & 1:
            return f"the {things} with {last.noun} for {first.noun} {text}"
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
