"""Index of a graph's names by their words.

It finds names in questions despite typing errors. Case, accents and apostrophes are ignored.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from core.languages.spelling import APOSTROPHES, MARKED_LETTER, strip_accents

ASCII_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")  # faster, for ASCII texts
# Of ASCII names as bytes: small letters, digits, apostrophes and line feeds stay.
ASCII_LETTERS = bytes(
    code if chr(code) in f"{string.ascii_lowercase}{string.digits}'\n" else ord(" ")
    for code in bytes(range(256)).lower()
)
INNER_APOSTROPHE = re.compile(rb"'(?<=[a-z0-9]')(?=[a-z0-9])")
UNICODE_WORD = re.compile(rf"[^\W_]{MARKED_LETTER}*(?:[{APOSTROPHES}]{MARKED_LETTER}+)*")
MAX_NAME_WORDS = 16  # longer names are not indexed
# Largest number of words of a text that are compared with a name regardless of spaces.
MAX_JOINED_WORDS = 8
# Largest number of typing errors in a name, at most one in each word; a long name may have one
# more.
MAX_NAME_ERRORS = 1
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
    """A table of names by their first words, which `find` follows along a text."""

    def __init__(self, names: Sequence[str]):
        self._name_words = _words_of_names(names)  # of each node
        self._by_first_word: dict[str, list[int]] = {}  # first word -> nodes
        for node, words in enumerate(self._name_words):
            if words:
                self._by_first_word.setdefault(words[0], []).append(node)
        self._words = set(chain.from_iterable(self._name_words))
        self._texts = set(map("".join, self._name_words))  # names without spaces
        by_length: dict[int, list[str]] = {}
        for word in self._by_first_word:
            by_length.setdefault(len(word), []).append(word)
        # Length -> first words of names, and their sets of letters from `letter_sets`.
        self._by_length = {size: (words, letter_sets(words)) for size, words in by_length.items()}

    def __contains__(self, word: str) -> bool:
        """Return whether a name contains this word."""
        return word in self._words

    def find(self, words: Sequence[Word]) -> list[NameMatch]:
        """Return the names that runs of the words match.

        Words with digits must match exactly. A run that differs from a name only in its spaces has
        one error.
        """
        matches = [match for first in range(len(words)) for match in self._match_from(words, first)]
        hits = {(match.first, match.last, node) for match in matches for node in match.nodes}
        for first in range(len(words)):
            for last in range(first + 1, min(len(words), first + MAX_JOINED_WORDS) + 1):
                run = "".join(word.text for word in words[first:last])
                nodes = tuple(
                    node for node in self._nodes_of_text(run) if (first, last, node) not in hits
                )
                if nodes:
                    matches.append(NameMatch(first, last, nodes, (1, *[0] * (last - first - 1))))
        return matches

    def _nodes_of_text(self, text: str) -> list[int]:
        """Return the nodes whose names without spaces are this text, ascending."""
        nodes = []
        for end in range(len(text) + 1) if text in self._texts else ():
            for node in self._by_first_word.get(text[:end], ()):
                if "".join(self._name_words[node]) == text:
                    nodes.append(node)
        return sorted(nodes)

    def _match_from(self, words: Sequence[Word], first: int) -> Iterator[NameMatch]:
        """Yield the names that begin at the word `first`."""
        # Nodes whose names begin with the words so far, and the errors in each of these words.
        partial_matches: list[tuple[list[int], tuple[int, ...]]] = [([], ())]
        n_letters = 0
        for last in range(first, min(len(words), first + MAX_NAME_WORDS)):
            text, extended_matches = words[last].text, []
            n_letters += len(text)
            max_errors = MAX_NAME_ERRORS + (n_letters >= LONG_NAME_LETTERS)
            for nodes, errors in partial_matches:
                by_word = self._by_next_word(nodes, last - first)
                near_words = by_word if nodes else self._near_first_words(text)
                allows_error = sum(errors) < max_errors
                for word, count in _matching_words(text, by_word, near_words, allows_error):
                    extended_matches.append((by_word[word], (*errors, count)))
            partial_matches = extended_matches
            for nodes, errors in partial_matches:
                length = last - first + 1
                ended = tuple(node for node in nodes if len(self._name_words[node]) == length)
                if ended:
                    yield NameMatch(first, last + 1, ended, errors)
            if not partial_matches:
                return

    def _by_next_word(self, nodes: list[int], n_words: int) -> dict[str, list[int]]:
        """Return those nodes whose names have more than `n_words` words, by the next word."""
        if not n_words:
            return self._by_first_word
        by_word: dict[str, list[int]] = {}
        for node in nodes:
            words = self._name_words[node]
            if len(words) > n_words:
                by_word.setdefault(words[n_words], []).append(node)
        return by_word

    def _near_first_words(self, word: str) -> list[str]:
        """Return the first words that may be one typing error away, by length and letters."""
        near_words, own_letters = list[str](), letter_sets([word])
        for size in (len(word) - 1, len(word), len(word) + 1):
            if size in self._by_length:
                words, letters = self._by_length[size]
                is_near = np.bitwise_count(letters ^ own_letters) <= 2
                near_words += [words[index] for index in np.flatnonzero(is_near).tolist()]
        return near_words


def _words_of_names(names: Sequence[str]) -> list[list[str]]:
    """Return the words of each name; none of a name that is too long for the index.

    The ASCII names, which are most, are taken apart as one text.
    """
    text = "\n".join(name.replace("\n", " ") for name in names if name.isascii())
    plain = INNER_APOSTROPHE.sub(b"", text.encode().translate(ASCII_LETTERS)).decode()
    plain_names = iter(plain.replace("'", " ").split("\n"))
    name_words = []
    for name in names:
        if name.isascii():
            words = next(plain_names).split()
        else:
            words = [bare_word(word) for word in UNICODE_WORD.findall(name)]
        name_words.append(words if len(words) <= MAX_NAME_WORDS else [])
    return name_words


def _matching_words(
    text: str, words: Collection[str], near_words: Iterable[str], allows_error: bool
) -> Iterator[tuple[str, int]]:
    """Yield the words that match a text, each with the number of errors.

    `near_words` are those of the words that may have one error.
    """
    if text in words:
        yield text, 0
    if not allows_error or any(letter.isdigit() for letter in text):
        return
    for word in _similar_words(text, list(near_words)):
        if word != text and not any(letter.isdigit() for letter in word):
            yield word, 1


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
