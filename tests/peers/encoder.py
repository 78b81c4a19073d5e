"""The encoder of the comparisons, alike in every environment: a text as the sum of its words, rarer words more.

Nothing of ours is imported here, so that it can be read in the programs' own environments. A word has a vector of 384 signs, which are the
bits of its digest.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

from core.watch import NO_WATCH

SIZE = 384


def words(text: str) -> list[str]:
    """The words of a text in small letters."""
    return re.findall(r"\w+", text.lower())


def tokens(text: str) -> int:
    """About how many tokens a text has, so that budgets mean the same for all: 3.5 letters each."""
    return math.ceil(len(text) / 3.5)


class Encoder:
    """Vectors of texts; how rare a word is, is seen in `passages`."""

    size = SIZE

    def __init__(self, passages: Iterable[str]):
        told = [set(words(text)) for text in passages]
        self._n, self._held = len(told), Counter(word for one in told for word in one)
        self._known: dict[str, np.ndarray] = {}
        self._read: dict[str, str] = {}

    def reads(self, text: str, another: str) -> None:
        """Read a text as another, where a program runs words together."""
        self._read[text] = another

    def encode(self, texts, watch=NO_WATCH) -> np.ndarray:
        """float32 [n, 384], each of length 1."""
        return np.array(
            [self._vector(self._read.get(text, text)) for text in texts], np.float32
        ).reshape(-1, SIZE)

    def _vector(self, text: str) -> np.ndarray:
        total = np.zeros(SIZE)
        for word in words(text):
            total += self._word(word)
        return total / max(float(np.sqrt((total * total).sum())), 1e-12)

    def _word(self, word: str) -> np.ndarray:
        if word not in self._known:
            bits = np.unpackbits(
                np.frombuffer(
                    hashlib.blake2b(word.encode(), digest_size=SIZE // 8).digest(), np.uint8
                )
            )
            self._known[word] = math.log(1 + self._n / (1 + self._held[word])) * (2.0 * bits - 1.0)
        return self._known[word]
