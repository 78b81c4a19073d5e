"""Weights of noun phrases as terms of a corpus.

A phrase weighs more if its words are more frequent in the corpus than in the language.
"""

from __future__ import annotations

import gzip
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from core.watch import NO_WATCH, Watch

COMMON_WORDS_FILE = Path(__file__).with_name("english_words.txt.gz")
RARE_ZIPF = 3.3  # Zipf value of a word that is not in the list of common words
MIN_COMMON_ZIPF = 4.0  # lowest Zipf value of a common word
LETTER_RUN = re.compile(r"[^\W\d_]+")
CHUNKS_PER_CHECK = 1000  # chunks counted between two checks for cancelling


@cache
def common_words() -> Mapping[str, float]:
    """Return the Zipf values of common English words.

    The Zipf value is log10 of the number of occurrences per billion words.
    """
    values: dict[str, float] = {}
    for line in gzip.decompress(COMMON_WORDS_FILE.read_bytes()).decode().splitlines():
        value, *words = line.split()
        values.update(dict.fromkeys(words, float(value)))
    return values


def commonness(word: str) -> float:
    """Return the Zipf value of an English word.

    If that is unknown, it is the value of the singular. The result is 3.3 if the word is not
    common.

    >>> from core.builds.resolve.terms import commonness
    >>> commonness("thing"), commonness("melanoma"), commonness("boxers")
    (5.7, 3.3, 3.7)
    """
    words = common_words()
    return words.get(word) or words.get(word.removesuffix("s")) or RARE_ZIPF


def word_counts(texts: Iterable[str], watch: Watch = NO_WATCH) -> Counter[str]:
    """Count the words of texts, in lower case.

    Parameters
    ----------
    texts : texts of chunks.
    watch : may raise RunCancelled.

    Returns
    -------
    Number of occurrences of each word.
    """
    counts = Counter[str]()
    for number, text in enumerate(texts):
        if number % CHUNKS_PER_CHECK == 0:
            watch.check()
        counts.update(LETTER_RUN.findall(text.lower()))
    return counts


class TermWeights:
    """Weights of noun phrases in a corpus.

    Parameters
    ----------
    counts : number of occurrences of each word of the corpus, by `word_counts`.
    """

    def __init__(self, counts: Mapping[str, int]):
        self.counts, self.total = counts, max(1, sum(counts.values()))

    def keyness(self, word: str) -> float:
        """Return log10 of a word's frequency relative to the language.

        This is the frequency in the corpus divided by that in the language. 0 for a word that
        occurs at most once, as a single occurrence says little.
        """
        count = self.counts.get(word, 0)
        if count < 2:
            return 0.0
        return math.log10(count / self.total * 1e9) - commonness(word)

    def weight(self, term: str, burst: float = 1.0) -> float:
        """Return the weight of a noun phrase as a term.

            weight = keyness / 4 - (commonness - 4) + log2(number of words) + 1.5 log2(burst)

        Keyness and commonness are means over the words. Words as common as *thing* make the weight
        negative.

        Parameters
        ----------
        term : the phrase.
        burst : mean number of mentions in the chunks that have the phrase.

        Returns
        -------
        A number without unit; minus infinity for a phrase without letters.

        Notes
        -----
        A text mentions its subject repeatedly (Church and Gale, Natural Language Engineering 1995).

        Examples
        --------
        >>> from core.builds.resolve.terms import TermWeights
        >>> counts = {"radiation": 40, "therapy": 40, "difficult": 1, "thing": 5, "the": 914}
        >>> weights = TermWeights(counts)
        >>> round(weights.weight("radiation therapy"), 2)
        1.4
        >>> round(weights.weight("difficult thing"), 2)
        -0.28
        >>> round(weights.weight("difficult thing", 2.0), 2)
        1.22
        """
        words = LETTER_RUN.findall(term.lower())
        if not words:
            return -math.inf
        keyness = sum(map(self.keyness, words)) / len(words)
        mean_commonness = sum(map(commonness, words)) / len(words)
        return (
            keyness / 4
            - (mean_commonness - MIN_COMMON_ZIPF)
            + math.log2(len(words))
            + 1.5 * math.log2(burst)
        )
