"""Index of a graph's names by their words.

It finds names in questions despite typing errors. Case, accents and apostrophes are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.languages.spelling import APOSTROPHES, MARKED_LETTER, strip_accents

ASCII_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")  # faster, for ASCII texts
UNICODE_WORD = re.compile(rf"[^\W_]{MARKED_LETTER}*(?:[{APOSTROPHES}]{MARKED_LETTER}+)*")
MAX_NAME_WORDS = 16  # longer names are not indexed
# Largest number of words of a text that are compared with a name regardless of spaces.
MAX_JOINED_WORDS = 8
# Largest number of typing errors in a name, at most one in each word; a long name may have one
# more.
MAX_NAME_ERRORS = 1
NO_CHILDREN: dict[str, int] = {}  # of each position of the trie where only a name ends
# Smallest number of letters of a long name.
LONG_NAME_LETTERS = 12


@dataclass(frozen=True)
class Word:
    """A word of a text, from `start` to `end`.

    Its own `text` is without case, accents and apostrophes.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class NameMatch:
    """Nodes with the same name, which the words `[first:last]` of a text spell.

    `errors` are the numbers of typing errors in each word.
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
    """A trie of the names' words, which `find` walks along a text.

    A position in the trie is a number; 0 is the root.
    """

    def __init__(self, names: Sequence[str]):
        # For each position in the trie: next word -> next position.
        self._children: list[dict[str, int]] = [NO_CHILDREN]
        self._nodes: dict[int, tuple[int, ...]] = {}  # position -> nodes whose names end there
        self._words: set[str] = set()  # words of all names
        self._by_text: dict[str, tuple[int, ...]] = {}  # name without spaces -> nodes
        for node, name in enumerate(names):
            if name.isascii():  # most names; this is a third of the time of `bare_word`
                words = [word.replace("'", "") for word in ASCII_WORD.findall(name.lower())]
            else:
                words = [bare_word(word) for word in UNICODE_WORD.findall(name)]
            if 0 < len(words) <= MAX_NAME_WORDS:
                self._add(node, words)
        by_length: dict[int, list[str]] = {}
        for word in self._children[0]:
            by_length.setdefault(len(word), []).append(word)
        # Length -> first words of names, and their sets of letters from `letter_sets`.
        self._by_length = {size: (words, letter_sets(words)) for size, words in by_length.items()}

    def __contains__(self, word: str) -> bool:
        """Return whether a name contains this word."""
        return word in self._words

    def _add(self, node: int, words: list[str]) -> None:
        """Add the name of a node, as its words."""
        position = 0
        for word in words:
            child = self._children[position].get(word)
            if child is None:
                child = len(self._children)
                if not self._children[position]:
                    self._children[position] = {}
                self._children[position][word] = child
                self._children.append(NO_CHILDREN)
            position = child
        self._nodes[position] = (*self._nodes.get(position, ()), node)
        self._words.update(words)
        text = "".join(words)
        self._by_text[text] = (*self._by_text.get(text, ()), node)

    def find(self, words: Sequence[Word]) -> list[NameMatch]:
        """Return the names that runs of the words match.

        Words with digits must match exactly. A run that differs from a name only in its spaces has
        one error.
        """
        matches = [match for first in range(len(words)) for match in self._match_from(words, first)]
        hits = {(match.first, match.last, node) for match in matches for node in match.nodes}
        for first in range(len(words)):
            for last in range(first + 1, min(len(words), first + MAX_JOINED_WORDS) + 1):
                run = [word.text for word in words[first:last]]
                nodes = tuple(
                    node
                    for node in self._by_text.get("".join(run), ())
                    if (first, last, node) not in hits
                )
                if nodes:
                    matches.append(NameMatch(first, last, nodes, (1, *(0 for _ in run[1:]))))
        return matches

    def _match_from(self, words: Sequence[Word], first: int) -> Iterator[NameMatch]:
        """Yield the names that begin at the word `first`."""
        # Beginnings of names: (position in the trie, errors in each word so far).
        partial_matches: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        n_letters = 0
        for last in range(first, min(len(words), first + MAX_NAME_WORDS)):
            text, extended_matches = words[last].text, []
            n_letters += len(text)
            max_errors = MAX_NAME_ERRORS + (n_letters >= LONG_NAME_LETTERS)
            for position, errors in partial_matches:
                has_errors_left = sum(errors) < max_errors
                for word, count in self._matching_words(position, text, has_errors_left):
                    extended_matches.append((self._children[position][word], (*errors, count)))
            partial_matches = extended_matches
            for position, errors in partial_matches:
                if position in self._nodes:
                    yield NameMatch(first, last + 1, self._nodes[position], errors)
            if not partial_matches:
                return

    def _matching_words(
        self, position: int, text: str, allows_error: bool
    ) -> Iterator[tuple[str, int]]:
        """Yield the next words in the trie that match a text.

        Each comes with the number of errors.
        """
        if text in self._children[position]:
            yield text, 0
        if not allows_error or any(letter.isdigit() for letter in text):
            return
        for word in _similar_words(text, self._near_words(position, text)):
            if word != text and not any(letter.isdigit() for letter in word):
                yield word, 1

    def _near_words(self, position: int, word: str) -> list[str]:
        """Return the next words in the trie that may be one typing error away.

        At the root, which has many next words, they are filtered by length and letters.
        """
        if position:
            return list(self._children[position])
        next_words, own_letters = list[str](), letter_sets([word])
        for size in (len(word) - 1, len(word), len(word) + 1):
            if size in self._by_length:
                words, letters = self._by_length[size]
                is_near = np.bitwise_count(letters ^ own_letters) <= 2
                next_words += [words[index] for index in np.flatnonzero(is_near).tolist()]
        return next_words


def _similar_words(word: str, candidates: list[str]) -> list[str]:
    """Return the candidates that are at most one insertion, deletion, change or swap away."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    matches = extract(word, candidates, scorer=OSA.distance, score_cutoff=1, limit=None)
    return [candidate for candidate, _, _ in matches]


def letter_sets(words: Sequence[str]) -> np.ndarray:
    """Return the set of each word's letters as 64 bits. The words have the same length.

    Some letters share a bit. A typing error changes at most two bits.

    >>> import numpy as np
    >>> from core.graph.names.word_index import letter_sets
    >>> carol, *others = letter_sets(["carol", "calor", "caron", "ghost"])
    >>> np.bitwise_count(carol ^ np.array(others)).tolist()
    [0, 2, 8]
    """
    letters = np.array(words).view(np.uint32).reshape(len(words), -1)
    return np.bitwise_or.reduce(np.uint64(1) << (letters & 63).astype(np.uint64), axis=1)
