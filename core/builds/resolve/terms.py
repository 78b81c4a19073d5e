"""How much of a term each noun phrase of a corpus is: by how much more its words are used in it than in the language."""

from __future__ import annotations

import gzip
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from core.watch import NO_WATCH, Watch

FILE = Path(__file__).with_name("english_words.txt.gz")
RARE = 3.3  # the Zipf value of a word that the list of common ones does not have
USUAL = 4.0  # the Zipf value from which a word is common
WORD = re.compile(r"[^\W\d_]+")
CHUNKS = 1000  # between two looks at whether somebody cancelled


@cache
def common_words() -> Mapping[str, float]:
    """The Zipf value of common English words: log10 of how often a word is among a billion."""
    lines = gzip.decompress(FILE.read_bytes()).decode().splitlines()
    return {
        word: float(value)
        for value, _, words in (line.partition(" ") for line in lines)
        for word in words.split()
    }


def commonness(word: str) -> float:
    """The Zipf value of a word, that of its singular where it has none, 3.3 for one that is not common.

    >>> from core.builds.resolve.terms import commonness
    >>> commonness("thing"), commonness("melanoma"), commonness("boxers")
    (5.7, 3.3, 3.7)
    """
    known = common_words()
    return known.get(word) or known.get(word.removesuffix("s")) or RARE


def word_counts(texts: Iterable[str], watch: Watch = NO_WATCH) -> Counter[str]:
    """How often each word is in some texts, in lower case."""
    counts = Counter[str]()
    for number, text in enumerate(texts):
        if number % CHUNKS == 0:
            watch.check()
        counts.update(WORD.findall(text.lower()))
    return counts


class TermWeights:
    """The weight of noun phrases in a corpus whose words are counted."""

    def __init__(self, counts: Mapping[str, int]):
        self.counts, self.total = counts, max(1, sum(counts.values()))

    def keyness(self, word: str) -> float:
        """By how many powers of ten a word is more frequent in the corpus than in the language; 0 for one that is there once."""
        count = self.counts.get(word, 0)
        return 0.0 if count < 2 else math.log10(count / self.total * 1e9) - commonness(word)

    def weight(self, term: str, burst: float = 1.0) -> float:
        """How much of a term a noun phrase is: a quarter of its words' mean keyness, less how common they are in the language, and more
        with more of them and with `burst`, how often a chunk that has the phrase names it: what a text is about it names again (Church and
        Gale, Natural Language Engineering 1995). Words as common as *thing* make it negative.

            weight = keyness / 4 - (commonness - 4) + log2(number of words) + 1.5 log2(burst)

        >>> from core.builds.resolve.terms import TermWeights
        >>> of = TermWeights({"radiation": 40, "therapy": 40, "difficult": 1, "thing": 5, "the": 914})
        >>> round(of.weight("radiation therapy"), 2), round(of.weight("difficult thing"), 2), round(of.weight("difficult thing", 2.0), 2)
        (1.4, -0.28, 1.22)
        """
        words = WORD.findall(term.lower())
        if not words:
            return -math.inf
        mean = lambda of: sum(map(of, words)) / len(words)
        return (
            mean(self.keyness) / 4
            - (mean(commonness) - USUAL)
            + math.log2(len(words))
            + 1.5 * math.log2(burst)
        )
