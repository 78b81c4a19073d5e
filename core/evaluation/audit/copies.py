"""Questions of a set that are asked twice, in the same words or in others.

Two questions are copies if they differ in nothing that names a thing: in case, order of words,
typing errors and function words, or in a few other words if the vectors of their sentences are
close and their answers are the same. The same words about another entity are another question.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, combinations
from typing import Any

import numpy as np

from core.evaluation.audit.findings import Finding
from core.evaluation.audit.word_vectors import letter_vectors, similar_pairs
from core.languages import languages
from core.languages.spelling import fold, name_key
from core.languages.terms import search_terms
from core.types import Question
from core.watch import NO_WATCH, Watch

MIN_LETTER_COSINE = 0.5  # of pairs that are compared word by word
MIN_VECTOR_COSINE = 0.85  # of pairs that are compared because their vectors are close
MIN_SAME_SENSE_COSINE = 0.8  # of copies that differ in words
MIN_SHARED_WORDS = 0.6  # share of the words that copies share, if there are no vectors
MAX_OTHER_WORDS = 6  # words in which copies differ
MAX_GROUP_QUESTIONS = 40  # of one entity that are compared pair by pair
MIN_TYPO_LETTERS = 5
MAX_QUOTED_LETTERS = 200
# Kinds of findings on two questions.
COPY = "copy"
VARIANT = "variant"
NEGATIONS = frozenset(
    "not no never without nor kein keine nicht nie ohne ne pas jamais sans non mai senza".split()
)
Vectors = Callable[[Sequence[str]], np.ndarray]


@dataclass(eq=False)
class CopySearch:
    """Search for copies in a set.

    Parameters
    ----------
    questions : the questions.
    encode : returns the unit vectors of texts; None compares by words alone.
    senses : what a question asks of which entity, by its id, where a graph says it.
    watch : checked between steps.
    """

    questions: Sequence[Question]
    encode: Vectors | None = None
    senses: Mapping[str, Any] = field(default_factory=dict)
    watch: Watch = field(default=NO_WATCH, repr=False)

    @cached_property
    def _vectors(self) -> np.ndarray | None:
        if self.encode is None or len(self.questions) < 2:
            return None
        return self.encode([question.text for question in self.questions])

    @cached_property
    def _words(self) -> list[Counter[str]]:
        """The words of each question."""
        return [Counter(search_terms(question.text)) for question in self.questions]

    @cached_property
    def _frequency(self) -> Counter[str]:
        """Number of questions that have each word."""
        frequency: Counter[str] = Counter()
        for words in self._words:
            frequency.update(words.keys())
        return frequency

    def findings(self) -> Iterator[Finding]:
        """Yield each question that repeats an earlier one, with the ids of those."""
        earlier: dict[tuple[int, str], list[int]] = defaultdict(list)
        for first, second in sorted(self._candidates()):
            if kind := self._pair_kind(first, second):
                earlier[second, kind].append(first)
        for (second, kind), firsts in sorted(earlier.items()):
            question = self.questions[second]
            other = self.questions[firsts[0]]
            verb = "repeats" if kind == COPY else "resembles"
            end = "" if _have_same_key(question, other) else ", with another key"
            text = f"It {verb} “{other.text[:MAX_QUOTED_LETTERS]}”{end}."
            others = tuple(self.questions[first].id for first in firsts)
            yield Finding(question.id, kind, text, others=others)

    def _candidates(self) -> set[tuple[int, int]]:
        """Return the pairs that are compared, as indices of questions."""
        groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for index, question in enumerate(self.questions):
            if question.entities:
                groups[tuple(sorted(map(name_key, question.entities)))].append(index)
        pairs: set[tuple[int, int]] = set()
        for group in groups.values():
            if len(group) <= MAX_GROUP_QUESTIONS:
                pairs.update(combinations(group, 2))
        free = [i for i, question in enumerate(self.questions) if not question.entities]
        large = [i for group in groups.values() if len(group) > MAX_GROUP_QUESTIONS for i in group]
        for rows in (free, large):
            all_pairs = combinations(rows, 2)
            is_small = len(rows) <= MAX_GROUP_QUESTIONS
            pairs.update(all_pairs if is_small else self._near_pairs(rows))
        return pairs

    def _near_pairs(self, rows: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the pairs of some questions with similar letters or vectors."""
        if len(rows) < 2:
            return
        texts = [" ".join(search_terms(self.questions[row].text)) for row in rows]
        found = set(similar_pairs(letter_vectors(texts), MIN_LETTER_COSINE))
        self.watch.check()
        if self._vectors is not None:
            found.update(similar_pairs(self._vectors[list(rows)], MIN_VECTOR_COSINE))
        for first, second in found:
            yield tuple(sorted((rows[first], rows[second])))  # type: ignore[misc]

    def _pair_kind(self, first: int, second: int) -> str:
        """Return the kind of finding on two questions; empty if they differ.

        The same evidence does not show that two claims say the same, but the same answers do.
        """
        a, b = self.questions[first], self.questions[second]
        senses = self.senses.get(a.id), self.senses.get(b.id)
        if None not in senses and senses[0] != senses[1]:
            return ""
        only_a, only_b = self._other_words(first, second)
        if not only_a and not only_b:
            return COPY if self._words[first] or a.text == b.text else ""
        if len(only_a) + len(only_b) > MAX_OTHER_WORDS or not _have_same_key(a, b):
            return ""
        kind = COPY if a.answers else VARIANT
        if None not in senses:
            return kind
        if _names_in(a.text, only_a) or _names_in(b.text, only_b):
            return ""
        return kind if self._are_close(first, second) else ""

    def _are_close(self, first: int, second: int) -> bool:
        """Return whether the vectors of two questions are close or, without any, their words."""
        if self._vectors is not None:
            return bool(self._vectors[first] @ self._vectors[second] >= MIN_SAME_SENSE_COSINE)
        n_shared = (self._words[first] & self._words[second]).total()
        n_words = max(self._words[first].total(), self._words[second].total())
        return n_shared >= MIN_SHARED_WORDS * n_words

    def _other_words(self, first: int, second: int) -> tuple[list[str], list[str]]:
        """Return the words that only one of two questions has.

        Function words, and words that a typing error explains, are left out.
        """
        only_a = sorted(self._words[first] - self._words[second])
        only_b = sorted(self._words[second] - self._words[first])
        for word in list(only_a):
            other = next((other for other in only_b if self._is_typo(word, other)), None)
            if other is not None:
                only_a.remove(word)
                only_b.remove(other)
        names = _function_words()
        return [w for w in only_a if w not in names], [w for w in only_b if w not in names]

    def _is_typo(self, word: str, other: str) -> bool:
        """Return whether two words differ by a typing error, as one of them is in no other text."""
        is_short = min(len(word), len(other)) < MIN_TYPO_LETTERS
        if is_short or not (word + other).isalpha():
            return False
        if min(self._frequency[word], self._frequency[other]) > 1:
            return False
        from rapidfuzz.distance import OSA

        return OSA.distance(word, other, score_cutoff=1) <= 1


@cache
def _function_words() -> frozenset[str]:
    """Return the function words of all known languages, without negations."""
    return frozenset(chain(*(language.words for language in languages().values()))) - NEGATIONS


def _names_in(text: str, words: Sequence[str]) -> bool:
    """Return whether some words of a text are names or numbers, or may be names.

    In scripts without capitals, each word may be one.
    """
    if any(word.upper() == word.lower() or not word.isalpha() for word in words):
        return True
    if text.upper() == text or text.title() == text:
        return False
    inner = {fold(word) for word in re.findall(r"(?<=\S )[^\W\d_]+", text) if word[:1].isupper()}
    return not inner.isdisjoint(words)


def _have_same_key(a: Question, b: Question) -> bool:
    """Return whether two questions have the same answers or, without any, the same evidence."""
    if a.answers or b.answers:
        return set(map(name_key, a.answers)) == set(map(name_key, b.answers))
    return set(a.gold) == set(b.gold)
