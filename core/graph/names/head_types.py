"""A noun for the heads of each relation, such as “film” for “directed_by”.

The noun is read from the relation's name, or guessed from all relations of the heads. Texts about
relation chains use it: “the genre of the films directed by X”.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.graph.names.phrases import FALLBACK_NOUN, Phrase

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# Largest number of relations that describe the heads of a relation.
MAX_DESCRIBING_RELATIONS = 8
# A relation describes heads if they have at least this many of its steps each, on average.
MIN_STEPS_PER_HEAD = 0.01
# Cosine below which no noun is accepted, since a wrong noun misleads more than “thing”.
MIN_NOUN_COSINE = 0.4
NOUN_TEMPLATES = ("{}", "a {} with these")


def head_types(phrases: Sequence[Phrase], steps: csr_matrix, encode) -> list[str]:
    """Return a noun for the heads of each relation, or “thing” if none fits.

    If the relation's name contains the type, it is used. Otherwise the heads are described by their
    relations: `things with genre, release year, ...`. Of the everyday nouns in `head_types.txt`,
    the one with the nearest vector is chosen, except words of these relations.

    Parameters
    ----------
    phrases : phrase of each relation.
    steps : sparse matrix [nodes, 2 * relations] of the steps that each node has, from
        `core.indexes.chains.possible_steps`. Column `2 * r` is the step along relation `r`, and
        column `2 * r + 1` the step against it.
    encode : function that returns the unit vectors of texts, [texts, dimensions].

    >>> from core.graph.names.head_types import head_types
    >>> from core.graph.names.phrases import relation_phrase
    >>> head_types([relation_phrase("film.film.genre")], None, None)  # the name contains the type
    ['film']
    """
    phrase_lists = [_describe_heads(relation, phrases, steps) for relation in range(len(phrases))]
    texts = sorted({_description(describing) for describing in phrase_lists if describing})
    if not texts:
        return [phrase.head_type or FALLBACK_NOUN for phrase in phrases]
    nouns = Path(__file__).with_name("head_types.txt").read_text("utf-8").split()
    cosines = dict(zip(texts, _noun_cosines(texts, nouns, encode)))
    head_nouns = []
    for phrase, describing in zip(phrases, phrase_lists):
        noun = phrase.head_type or FALLBACK_NOUN
        if describing:
            noun = _nearest_noun(nouns, cosines[_description(describing)], describing)
        head_nouns.append(noun)
    return head_nouns


def _describe_heads(relation: int, phrases: Sequence[Phrase], steps: csr_matrix) -> list[Phrase]:
    """Return phrases that describe the heads of a relation.

    There are at least two, each the phrase of another relation. The result is empty if the
    relation's name contains the type, or if too few relations are common.
    """
    if phrases[relation].head_type:
        return []
    common = _common_relations(relation, steps)
    return [phrases[other] for other in common] if len(common) > 1 else []


def _noun_cosines(texts: list[str], nouns: list[str], encode) -> np.ndarray:
    """Return the similarities of texts and nouns, [texts, nouns].

    The vector of a noun is the mean over `NOUN_TEMPLATES`.
    """
    vectors = sum(encode([form.format(noun) for noun in nouns]) for form in NOUN_TEMPLATES)
    return encode(texts) @ (vectors / len(NOUN_TEMPLATES)).T


def _nearest_noun(nouns: list[str], cosines: np.ndarray, describing: Sequence[Phrase]) -> str:
    """Return the noun with the largest cosine, or “thing” if none is near enough.

    The words of the describing relations are left out.
    """
    excluded_words = set[str]()
    for phrase in describing:
        excluded_words.update(phrase.noun.split())
    scores = cosines.copy()
    scores[[i for i, noun in enumerate(nouns) if noun in excluded_words]] = -1
    best = int(np.argmax(scores))
    return nouns[best] if scores[best] >= MIN_NOUN_COSINE else FALLBACK_NOUN


def _common_relations(relation: int, steps: csr_matrix) -> tuple[int, ...]:
    """Return the relations that are common among a relation's heads.

    The commonest relation is first.
    """
    heads = steps.getcol(2 * relation).nonzero()[0]
    # Columns of even number are steps along relations.
    counts = np.asarray(steps[heads].sum(axis=0)).ravel()[0::2]
    order = np.lexsort((np.arange(len(counts)), -counts))[:MAX_DESCRIBING_RELATIONS]
    return tuple(
        int(other) for other in order if counts[other] >= max(1, MIN_STEPS_PER_HEAD * len(heads))
    )


def _description(describing: Sequence[Phrase]) -> str:
    return "things with " + ", ".join(phrase.noun for phrase in describing)
