"""Types of the heads of each relation, as nouns.

They are taken from the relation's name, or guessed from all relations of the heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.graph.names.phrases import FALLBACK_NOUN, Phrase

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Largest number of relations that describe a type.
MAX_DESCRIBING_RELATIONS = 8
# Smallest share of the heads that must have a relation for it to describe them.
MIN_HEAD_SHARE = 0.01
# Cosine below which no noun is accepted, since a wrong noun misleads more than “thing”.
MIN_NOUN_COSINE = 0.4
NOUN_TEMPLATES = ("{}", "a {} with these")


def head_types(phrases: Sequence[Phrase], has: csr_matrix, encode) -> list[str]:
    """Return a noun for the heads of each relation, or “thing” if none fits.

    If the relation's name contains the type, it is used. Else the heads are described by their
    relations: `things with genre, release year, ...`. The everyday noun in `head_types.txt` with
    the nearest vector is chosen. Words that are themselves one of these relations are left out.

    Parameters
    ----------
    has : sparse matrix of nodes by step codes, which tells the relations of each node.
    encode : returns the unit vectors of texts.

    >>> from core.graph.names.head_types import head_types
    >>> from core.graph.names.phrases import relation_phrase
    >>> head_types([relation_phrase("film.film.genre")], None, None)  # the name says it
    ['film']
    """
    described = [
        _common_relations(relation, phrases, has) if not said.head_type else ()
        for relation, said in enumerate(phrases)
    ]
    texts = sorted({_description(phrases, others) for others in described if len(others) > 1})
    if not texts:
        return [said.head_type or FALLBACK_NOUN for said in phrases]
    words = (Path(__file__).with_name("head_types.txt")).read_text("utf-8").split()
    nouns = sum(encode([form.format(word) for word in words]) for form in NOUN_TEMPLATES) / len(
        NOUN_TEMPLATES
    )
    likeness = dict(zip(texts, encode(texts) @ nouns.T))
    head_nouns = []
    for said, others in zip(phrases, described):
        if said.head_type or len(others) < 2:
            head_nouns.append(said.head_type or FALLBACK_NOUN)
            continue
        scores = likeness[_description(phrases, others)].copy()
        excluded_words = {word for other in others for word in phrases[other].noun.split()}
        scores[[i for i, word in enumerate(words) if word in excluded_words]] = -1
        best = int(np.argmax(scores))
        head_nouns.append(words[best] if scores[best] >= MIN_NOUN_COSINE else FALLBACK_NOUN)
    return head_nouns


def _common_relations(relation: int, phrases: Sequence[Phrase], has: csr_matrix) -> tuple[int, ...]:
    """Return the relations that most of the relation's heads have, the commonest first."""
    heads = has.getcol(2 * relation).nonzero()[0]
    counts = np.asarray(has[heads].sum(axis=0)).ravel()[0::2]
    order = np.lexsort((np.arange(len(counts)), -counts))[:MAX_DESCRIBING_RELATIONS]
    return tuple(
        int(other) for other in order if counts[other] >= max(1, MIN_HEAD_SHARE * len(heads))
    )


def _description(phrases: Sequence[Phrase], relations: Sequence[int]) -> str:
    return "things with " + ", ".join(phrases[relation].noun for relation in relations)
