"""The encoder of the comparisons, the same in every environment.

A text is the sum of its words, with more weight on rare words. A word has a vector of 384 signs,
the bits of its digest. The module imports nothing of Hopscope, so that it runs in the programs' own
environments.
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
    """The words of a text in lower case."""
    return re.findall(r"\w+", text.lower())


def tokens(text: str) -> int:
    """Approximate number of tokens of a text, 3.5 letters each, as a common unit of budgets."""
    return math.ceil(len(text) / 3.5)


class Encoder:
    """An encoder that sums word vectors; `passages` determine how rare a word is."""

    size = SIZE

    def __init__(self, passages: Iterable[str]):
        told = [set(words(text)) for text in passages]
        self._n, self._held = len(told), Counter(word for one in told for word in one)
        self._known: dict[str, np.ndarray] = {}
        self._read: dict[str, str] = {}

    def reads(self, text: str, another: str) -> None:
        """Encode one text as another, where a program joins words."""
        self._read[text] = another

    def encode(self, texts, watch=NO_WATCH) -> np.ndarray:
        """Encode texts as unit vectors, float32 [n, 384]."""
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
