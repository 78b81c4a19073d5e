"""Index of a graph's names by their words.

It finds names in a text in spite of different accents, different apostrophes and typing errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.languages.spelling import APOSTROPHES, MARKED_LETTER, strip_accents

ASCII_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")  # of an ASCII text
UNICODE_WORD = re.compile(rf"[^\W_]{MARKED_LETTER}*(?:[{APOSTROPHES}]{MARKED_LETTER}+)*")
MAX_NAME_WORDS = 16  # largest number of words of a name
# Largest number of words of a text that are read as one name with other spaces.
MAX_JOINED_WORDS = 8
# Number of typing errors in a name, and number of letters from which one more is allowed.
MAX_NAME_ERRORS, LONG_NAME_LETTERS = 1, 12


@dataclass(frozen=True)
class Word:
    """A word of a text, with its position.

    Its letters are without case, accents and apostrophes.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class NameMatch:
    """Names that `words[first:last]` of a text match.

    `nodes` have these names, and `errors` are the typing errors in each word.
    """

    first: int
    last: int
    nodes: tuple[int, ...]
    errors: tuple[int, ...]


def words_of(text: str) -> list[Word]:
    """Return the words of a text, in order.

    >>> from core.graph.names.word_index import words_of
    >>> words_of("Le Été")
    [Word(start=0, end=2, text='le'), Word(start=3, end=6, text='ete')]
    """
    pattern = ASCII_WORD if text.isascii() else UNICODE_WORD
    return [
        Word(match.start(), match.end(), bare_word(match[0])) for match in pattern.finditer(text)
    ]


def bare_word(word: str) -> str:
    """Return a word without case, accents and apostrophes.

    >>> from core.graph.names.word_index import bare_word
    >>> bare_word("L’Été")
    'lete'
    """
    return strip_accents(word).replace("'", "")


class WordIndex:
    """A tree of the names' words.

    `find` walks it along a text.
    """

    def __init__(self, names: Sequence[str]):
        # Next position in the tree for each word, per position.
        self._children: list[dict[str, int]] = [{}]
        self._nodes: dict[int, tuple[int, ...]] = {}  # names that end at a position
        self._words: set[str] = set()
        self._by_text: dict[str, tuple[int, ...]] = {}  # names by their words without spaces
        for node, name in enumerate(names):
            pattern = ASCII_WORD if name.isascii() else UNICODE_WORD
            words = [bare_word(word) for word in pattern.findall(name)]
            if 0 < len(words) <= MAX_NAME_WORDS:
                self._add(node, words)
        by_length: dict[int, list[str]] = {}
        for word in self._children[0]:
            by_length.setdefault(len(word), []).append(word)
        self._by_length = {
            size: (some, np.array([*map(letter_bits, some)], np.uint64))
            for size, some in by_length.items()
        }

    def __contains__(self, word: str) -> bool:
        """Return whether a name has this word."""
        return word in self._words

    def _add(self, node: int, words: list[str]) -> None:
        position = 0
        for word in words:
            step = self._children[position].get(word)
            if step is None:
                step = self._children[position][word] = len(self._children)
                self._children.append({})
            position = step
        self._nodes[position] = (*self._nodes.get(position, ()), node)
        self._words.update(words)
        text = "".join(words)
        self._by_text[text] = (*self._by_text.get(text, ()), node)

    def find(self, words: Sequence[Word]) -> list[NameMatch]:
        """Return the names that runs of the words match.

        Words with digits must match exactly. A run that differs from a name in its spaces alone has
        one error.
        """
        matches = [match for first in range(len(words)) for match in self._match_from(words, first)]
        hits = {(match.first, match.last, node) for match in matches for node in match.nodes}
        for first in range(len(words)):
            for last in range(first + 1, min(len(words), first + MAX_JOINED_WORDS) + 1):
                run = [word.text for word in words[first:last]]
                nodes = tuple(
                    n for n in self._by_text.get("".join(run), ()) if (first, last, n) not in hits
                )
                if nodes:
                    matches.append(NameMatch(first, last, nodes, (1, *(0 for _ in run[1:]))))
        return matches

    def _match_from(self, words: Sequence[Word], first: int) -> Iterator[NameMatch]:
        # (position in the tree, errors on the way there).
        partial_matches: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        for last in range(first, min(len(words), first + MAX_NAME_WORDS)):
            word, extended_matches = words[last].text, []
            for position, errors in partial_matches:
                errors_left = (
                    MAX_NAME_ERRORS
                    + (sum(len(one.text) for one in words[first : last + 1]) >= LONG_NAME_LETTERS)
                    - sum(errors)
                )
                for like, count in self._like(position, word, min(errors_left, MAX_NAME_ERRORS)):
                    extended_matches.append((self._children[position][like], (*errors, count)))
            partial_matches = extended_matches
            for position, errors in partial_matches:
                if position in self._nodes:
                    yield NameMatch(first, last + 1, self._nodes[position], errors)
            if not partial_matches:
                return

    def _like(self, position: int, word: str, errors: int) -> Iterator[tuple[str, int]]:
        """Yield the next words in the tree that match this one.

        `errors` is the number of typing errors allowed.
        """
        if word in self._children[position]:
            yield word, 0
        if errors < 1 or any(letter.isdigit() for letter in word):
            return
        for like in self._similar_words(word, self._rivals(position, word)):
            if like != word and not any(letter.isdigit() for letter in like):
                yield like, 1

    def _rivals(self, position: int, word: str) -> list[str]:
        """Return the next words in the tree that may be one typing error away."""
        if position:
            return list(self._children[position])
        next_words, own_letters = list[str](), np.uint64(letter_bits(word))
        for size in (len(word) - 1, len(word), len(word) + 1):
            if size in self._by_length:
                words, sets = self._by_length[size]
                next_words += [
                    words[index]
                    for index in np.flatnonzero(np.bitwise_count(sets ^ own_letters) <= 2).tolist()
                ]
        return next_words

    def _similar_words(self, word: str, rivals: list[str]) -> list[str]:
        """Return those of the words that are one insertion, deletion, change or swap away."""
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import extract

        if rivals:
            return [
                like
                for like, _, _ in extract(
                    word, rivals, scorer=OSA.distance, score_cutoff=1, limit=None
                )
            ]
        return []


def letter_bits(word: str) -> int:
    """Return the set of a word's letters as 64 bits.

    Some letters share a bit. A typing error changes at most two bits.

    >>> from core.graph.names.word_index import letter_bits
    >>> others = ("carols", "calor", "caron", "ghost")
    >>> [(letter_bits("carol") ^ letter_bits(other)).bit_count() for other in others]
    [1, 0, 2, 8]
    """
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits
