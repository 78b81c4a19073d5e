"""An encoder that needs no model file and computes exactly.

So what is made from its vectors is the same on every processor.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import shake_128

import numpy as np

from core.languages.terms import search_terms
from core.models.scorers import EncoderScorer
from core.watch import NO_WATCH
from tests.films import Written

SIZE = 1024  # a power of four: each number is 1/32 or -1/32, so that lengths are 1 and sums of products have no rounding


@lru_cache(None)
def _signs(word: str) -> np.ndarray:
    """int8 [SIZE] of 1 and -1, drawn by the word."""
    return (
        np.unpackbits(np.frombuffer(shake_128(word.encode()).digest(SIZE // 8), np.uint8)).astype(
            np.int8
        )
        * 2
        - 1
    )


class Sketch:
    """An encoder that gives unit vectors of signs.

    They are the signs of the sum of a text's words, each of which has signs of its own. Texts that
    share words are alike.
    """

    def encode(self, texts, watch=NO_WATCH):
        if len(texts):
            return np.stack([self._vector(search_terms(text)) for text in texts])
        return np.zeros((0, SIZE), np.float32)

    def encode_tokens(self, texts, watch=NO_WATCH):
        for place, text in enumerate(texts):
            yield (
                [place],
                np.stack([self._vector([word]) for word in ["[", *search_terms(text), "]"]]),
            )

    def _vector(self, found):
        # which is odd, so never 0
        total = sum(
            (_signs(word).astype(np.int32) * 2 for word in found), _signs("").astype(np.int32)
        )
        return np.sign(total).astype(np.float32) / 32


class Sketched(Written):
    """Models whose every encoder, and every scorer, is the sketch."""

    def encoder(self, name="encoder"):
        return Sketch()

    def chooser(self, expression):
        return EncoderScorer(Sketch())

    def signature(self, name=None):
        return "sketch"
