"""Entity linking: the nodes that a question names, and alternatives to them.

Of all names that parts of a question may spell, those with the best scores are chosen. The score of
a name is the sum of the scores of its words. A rare word counts fully; a word that is common in
questions, or that names a relation or a type, counts little. A typing error lowers the score, but
less if no name in the graph contains the mistyped word. A name with the capital letters of the
graph scores higher. Of nodes with the same name, such as a person and a keyword, the one with a
relation that the question mentions is preferred: “directed” supports a node with the relation
“directed_by”.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from core.graph.names.language import language_code
from core.graph.names.mentions import (
    BRACKETED_MENTION,
    COMMON_QUESTION_WORDS,
    KOREAN_LETTER,
    Mention,
    SpelledName,
    Vocabulary,
)
from core.graph.names.phrases import relation_phrase, spaced_words
from core.graph.names.word_index import Word, bare_word, words_of
from core.graph.protocol import KnowledgeGraph
from core.languages import Language, language
from core.languages.scripts import UNSPACED_LETTER
from core.languages.terms import stem_word


@dataclass(frozen=True)
class LinkingScores:
    """Scores, costs and limits by which names in a text are linked to nodes.

    A word has a score of at most 1. Costs are subtracted and bonuses added.
    """

    min_inner_letters: int = 2  # of a name that is part of a word
    max_alternatives: int = 3  # of a link
    # per letter of a name that is part of a word, as in scripts without spaces; at most 1 in all
    unspaced_letter_score: float = 0.5
    unspaced_letter_bonus: float = 0.03  # per letter of such a name, in addition
    common_word_score: float = 0.2  # of a word that is common in questions
    type_word_score: float = 0.4  # of a word that names a relation or a type
    number_score: float = 0.8  # of a word of digits
    typo_cost: float = 0.4  # of a typing error, if a name in the graph has the word as typed
    unknown_word_typo_cost: float = 0.3  # of a typing error in any other word
    max_typo_share: float = 0.9  # largest cost of a typing error, as a share of the word's score
    # beyond the word's score, for a typing error in a word that is common in questions
    common_word_typo_cost: float = 0.1
    # in addition, for a wrong letter, which is not omitted, doubled or swapped
    replaced_letter_cost: float = 0.05
    typography_cost: float = 0.05  # for different accents, apostrophes or hyphens
    capitals_bonus: float = 1.0  # for an uncommon name that is written with its capitals
    lower_case_cost: float = 0.3  # for a name without capitals, if the question writes it with some
    relation_bonus: float = 0.2  # if the question names a relation of the node
    same_capitals_bonus: float = 0.05  # if the name is written with the same capitals
    degree_bonus: float = 0.01  # for ten times the edges
    min_second_link_share: float = 0.85  # of the best link's score, for another link
    min_alternative_share: float = 0.5  # of a link's score, for an alternative
    max_linked_degree: int = 5_000  # of a node whose relations are read


LINKING = LinkingScores()
# Scores of short words by length; longer ones have 1.
SHORT_WORD_SCORES = {1: 0.4, 2: 0.4, 3: 0.7, 4: 0.85}
# Question words, which stand for the answer and are never linked.
ASKING_WORDS = frozenset("who whom whose what which when where why how".split())
# Irregular word -> word from which its stem is made.
IRREGULAR_STEMS = {
    "wrote": "write",
    "written": "write",
    "made": "make",
    "born": "birth",
    "sang": "sing",
    "sung": "sing",
    "won": "win",
    "led": "lead",
    "spoke": "speak",
    "spoken": "speak",
    "built": "build",
    "wed": "wife",
    "died": "death",
    "die": "death",
    "taught": "teach",
}
WORD_ENDINGS = re.compile(r"(?:ers|ors|er|or|resses|ress|ings|ing|ions|ion|tten|ed|es|s|e)$")


@dataclass(frozen=True)
class LinkedName:
    """A mention in a question with its node and alternative nodes.

    The most likely alternative is first.
    """

    mention: Mention
    alternatives: tuple[int, ...] = ()


@dataclass(frozen=True)
class _LinkCandidate:
    """A node that a part of the question may name."""

    start: int
    end: int
    node: int
    score: float
    errors: int
    has_own_capitals: bool  # an uncommon name, written with its capitals
    is_exact: bool  # same letters as the name, ignoring case
    text: str = field(compare=False)  # the part of the question

    def overlaps(self, other: _LinkCandidate) -> bool:
        return self.start < other.end and other.start < self.end

    @property
    def order(self) -> tuple:
        """Sort key: best score first, then the longest, the leftmost, and the smallest node."""
        return (-self.score, self.start - self.end, self.start, self.node)


def link_names(graph: KnowledgeGraph, vocabulary: Vocabulary, question: str) -> list[LinkedName]:
    """Return the nodes that a question names, with alternatives.

    The names are in the order of the text. If there are names in [brackets], only these count.
    """
    bracketed = []
    for match in BRACKETED_MENTION.finditer(question):
        node = vocabulary.choose_node(match[1])
        if node is not None:
            others = [other for other in vocabulary.find_nodes(match[1]) if other != node]
            mention = Mention(match.start(1), match.end(1), match[1], node)
            bracketed.append(LinkedName(mention, tuple(others[: LINKING.max_alternatives])))
    if bracketed:
        return bracketed
    words = words_of(question)
    scorer = _CandidateScorer(graph, vocabulary, question, words)
    candidates: list[_LinkCandidate] = []
    for spelt in vocabulary.find_spelled_names(question, words):
        candidates += [scorer.candidate(spelt, node) for node in spelt.nodes]
    candidates.sort(key=lambda candidate: candidate.order)
    chosen = _choose_candidates(
        [candidate for candidate in candidates if not scorer.is_too_common(candidate)]
    )
    chosen = chosen or _drop_overlaps(scorer.exact_candidates(candidates))
    chosen.sort(key=lambda candidate: candidate.start)
    return [
        LinkedName(
            Mention(link.start, link.end, link.text, link.node, link.errors > 0),
            _find_alternatives(link, chosen, candidates),
        )
        for link in chosen
    ]


def _choose_candidates(candidates: Sequence[_LinkCandidate]) -> list[_LinkCandidate]:
    """Return the best candidate and further ones that are also meant.

    The candidates are ordered from best to worst. A further one must not overlap a chosen one, and
    must agree with the best in having its own capitals. Without capitals, it needs a score close to
    the best. With typing errors, it needs the best score.
    """
    chosen: list[_LinkCandidate] = []
    for candidate in candidates:
        if chosen:
            best = chosen[0]
            if candidate.has_own_capitals != best.has_own_capitals:
                continue
            if (
                not candidate.has_own_capitals
                and candidate.score < LINKING.min_second_link_share * best.score
            ):
                break
            if candidate.errors and candidate.score < best.score:
                continue
        if not any(candidate.overlaps(other) for other in chosen):
            chosen.append(candidate)
    return chosen


def _drop_overlaps(candidates: Iterable[_LinkCandidate]) -> list[_LinkCandidate]:
    """Drop the candidates that overlap a better one.

    `candidates` are ordered from best to worst.
    """
    chosen: list[_LinkCandidate] = []
    for candidate in candidates:
        if not any(candidate.overlaps(other) for other in chosen):
            chosen.append(candidate)
    return chosen


def _find_alternatives(
    link: _LinkCandidate, chosen: Sequence[_LinkCandidate], candidates: Iterable[_LinkCandidate]
) -> tuple[int, ...]:
    """Return the nodes of other candidates that overlap a link, best first.

    `chosen` are all links. If the link has no typing errors, an alternative must cover the whole
    link.
    """
    chosen_nodes = {other.node for other in chosen}
    min_score = LINKING.min_alternative_share * link.score
    nodes: dict[int, None] = {}
    for other in candidates:
        if not other.overlaps(link) or other.node in chosen_nodes or other.score < min_score:
            continue
        if link.errors or (other.start <= link.start and link.end <= other.end):
            nodes[other.node] = None
    return tuple(nodes)[: LINKING.max_alternatives]


class _CandidateScorer:
    """Scorer of the candidates of one question.

    `own_words` in its methods are the words of the question that a candidate covers.
    """

    def __init__(
        self, graph: KnowledgeGraph, vocabulary: Vocabulary, question: str, words: Sequence[Word]
    ):
        self.graph, self.vocabulary, self.question, self.words = graph, vocabulary, question, words
        self.code = language_code(graph, question)  # of the language, empty for English
        self.common_words, self.asking_words = COMMON_QUESTION_WORDS, ASKING_WORDS
        foreign = language(self.code)
        if foreign is not None:
            self.common_words |= frozenset(map(bare_word, foreign.stop_words))
            self.asking_words |= foreign.kinds_by_question_phrase.keys()
        self.stems = relation_stems(graph.relation_names, self.code)
        # The first letter is a capital in any case.
        self.question_has_capitals = any(letter.isupper() for letter in question[1:])
        self.all_stems = frozenset().union(*self.stems) if self.stems else frozenset()
        self._relations: dict[int, list[int]] = {}  # cache of `relations`

    def candidate(self, spelt: SpelledName, node: int) -> _LinkCandidate:
        """Return the scored candidate for a node named in the question.

        `spelt` is the name as it is spelt there.
        """
        text = self.question[spelt.start : spelt.end]
        name = self.vocabulary.names[node]
        own_words = self.words_within(spelt.start, spelt.end)
        differs = _differs_beyond_case(text, name)
        has_own_capitals = self.has_own_capitals(text, name)
        has_typos = any(count for _, count in zip(own_words, spelt.errors))

        # Without whole words, the name is part of a word, as in scripts without spaces.
        score = sum(self.word_score(word.text) for word in own_words) or _unspaced_score(text)
        score -= sum(self.typo_cost(*pair) for pair in self.pair_typos(own_words, spelt, name))
        score -= LINKING.typography_cost * (differs and not has_typos)
        score += (
            LINKING.capitals_bonus * has_own_capitals
            - LINKING.lower_case_cost * (_has_capital(text) and not _has_capital(name))
            + LINKING.same_capitals_bonus * self.has_same_case(text, name, own_words)
            + LINKING.relation_bonus * self.names_a_relation(node, own_words)
        )
        score += LINKING.degree_bonus * math.log10(1 + self.graph.degree(node))
        return _LinkCandidate(
            start=spelt.start,
            end=spelt.end,
            node=node,
            score=round(score, 6),  # so that rounding errors do not decide the order
            errors=sum(spelt.errors),
            has_own_capitals=has_own_capitals,
            is_exact=not differs,
            text=text,
        )

    def words_within(self, start: int, end: int) -> list[Word]:
        """Return the words of the question between two positions."""
        return [word for word in self.words if start <= word.start and word.end <= end]

    def has_own_capitals(self, text: str, name: str) -> bool:
        """Return whether a text is an uncommon name that is written with its capitals.

        Digits count as capitals, unless the question has no capital letters. A misspelt text needs
        the capitals of at least half of the words.
        """
        if not _has_capital(name) or name.casefold() in self.common_words:
            return False
        if not self.question_has_capitals and name.lower() == name:
            return False
        if text == name:
            return True
        has_capitals = text.lower() != text
        return _differs_beyond_case(text, name) and has_capitals and _same_capitals(text, name)

    def has_same_case(self, text: str, name: str, own_words: Sequence[Word]) -> bool:
        """Return whether a text is written like the name, with or without capitals.

        A text without capitals counts only if it is not the whole question.
        """
        has_capitals = _has_capital(text)
        if not has_capitals and len(own_words) >= len(self.words):
            return False
        if text == name:
            return True
        return _differs_beyond_case(text, name) and has_capitals == _has_capital(name)

    def is_too_common(self, candidate: _LinkCandidate) -> bool:
        """Return whether a candidate counts only if the question names nothing else.

        Such names are one or two words that are common in questions, a single letter inside a word,
        and signs.
        """
        words = [word.text for word in self.words_within(candidate.start, candidate.end)]
        if not words:
            return sum(map(str.isalnum, candidate.text)) < LINKING.min_inner_letters
        if candidate.has_own_capitals or len(words) > 2:
            return False
        return all(word in self.common_words for word in words)

    def exact_candidates(self, candidates: Sequence[_LinkCandidate]) -> list[_LinkCandidate]:
        """Return the candidates that are exact, except question words.

        If some are written with capitals as in the graph, and do not begin the question, only these
        are returned.
        """
        exact, capitalised = [], []
        for candidate in candidates:
            text = candidate.text
            if not candidate.is_exact or text in self.asking_words:
                continue
            exact.append(candidate)
            is_name = text == self.vocabulary.names[candidate.node]
            if candidate.start and text != text.lower() and is_name:
                capitalised.append(candidate)
        return capitalised or exact

    def word_score(self, word: str) -> float:
        """Return the score of a word of the question that belongs to a name."""
        if word in self.common_words:
            return LINKING.common_word_score
        if UNSPACED_LETTER.search(word) or KOREAN_LETTER.search(word):
            return _unspaced_score(word)
        if word in type_words() or stem(word, self.code) in self.all_stems:
            return LINKING.type_word_score
        return LINKING.number_score if word.isdecimal() else SHORT_WORD_SCORES.get(len(word), 1.0)

    def pair_typos(
        self, words: Sequence[Word], spelt: SpelledName, name: str
    ) -> list[tuple[Word, str]]:
        """Pair the mistyped words with the words of the name.

        If the numbers of words differ, the mistyped words are paired with empty texts.
        """
        name_words = [word.text for word in words_of(name)]
        if len(name_words) != len(words):
            name_words = [""] * len(words)
        return [
            (word, name_word)
            for word, name_word, count in zip(words, name_words, spelt.errors)
            if count
        ]

    def typo_cost(self, word: Word, name_word: str) -> float:
        """Return the cost of a mistyped word for the word `name_word` of a name."""
        word_score = self.word_score(word.text)
        if word.text in self.common_words:
            return word_score + LINKING.common_word_typo_cost
        cost = LINKING.unknown_word_typo_cost
        if word.text in self.vocabulary:
            cost = LINKING.typo_cost
        cost = min(LINKING.max_typo_share * word_score, cost)
        # Words with the same letters differ by a swap.
        if len(word.text) == len(name_word) and sorted(word.text) != sorted(name_word):
            cost += LINKING.replaced_letter_cost
        return cost

    def names_a_relation(self, node: int, own_words: Sequence[Word]) -> bool:
        """Return whether the question, outside of the name, mentions a relation of the node."""
        other_stems = [stem(word.text, self.code) for word in self.words if word not in own_words]
        for relation in self.relations(node):
            for relation_stem in self.stems[relation]:
                if any(holds_stem(relation_stem, other) for other in other_stems):
                    return True
        return False

    def relations(self, node: int) -> list[int]:
        """Return the relations of a node.

        There are none if it has more than `max_linked_degree` edges.
        """
        if node not in self._relations:
            self._relations[node] = []
            if self.graph.degree(node) <= LINKING.max_linked_degree:
                steps = self.graph.steps_from(np.array([node]), "both")
                self._relations[node] = np.unique(steps.relations).tolist()
        return self._relations[node]


def _unspaced_score(text: str) -> float:
    """Return the score of a name that is part of a word.

    The score grows with the length of the name.
    """
    base = min(1.0, LINKING.unspaced_letter_score * len(text))
    return base + LINKING.unspaced_letter_bonus * len(text)


def stem(word: str, code: str = "") -> str:
    """Return a word without its common English endings.

    With the code of another language, Snowball's stemmer is used; in German, the ge- of participles
    is removed.

    >>> from core.graph.names.linking import stem
    >>> stem("director"), stem("directed"), stem("wrote")
    ('direct', 'direct', 'writ')
    >>> stem("gebaut", "de"), stem("baute", "de"), stem("построил", "ru")
    ('baut', 'baut', 'постро')
    """
    if code:
        root = stem_word(word, code)
        return root[2:] if code == "de" and root.startswith("ge") and len(root) > 5 else root
    root = WORD_ENDINGS.sub("", IRREGULAR_STEMS.get(word, word))
    if len(root) < 3:
        root = word
    has_double_end = len(root) > 3 and root[-1] == root[-2]
    return root[:-1] if has_double_end else root


@lru_cache(maxsize=8)
def relation_stems(relation_names: tuple[str, ...], code: str = "") -> tuple[frozenset[str], ...]:
    """Return the stems of the words that describe each relation.

    Common words are left out. `code` is the language, empty for English. In a script without
    spaces, the words of the name are returned unchanged.
    """
    foreign = language(code)
    if foreign is not None:
        return tuple(_foreign_stems(name, foreign) for name in relation_names)
    stems = []
    for name in relation_names:
        name_phrase = relation_phrase(name)
        words = bare_word(
            f"{name_phrase.noun} {name_phrase.connector} {name_phrase.head_type}"
        ).split()
        stems.append(
            frozenset(
                stem(word)
                for word in words
                if len(word) > 2 and word not in ("with", "the", "and", "for", "thing", "place")
            )
        )
    return tuple(stems)


def _foreign_stems(name: str, foreign: Language) -> frozenset[str]:
    """Return the stems of a relation's name in a language other than English."""
    words = bare_word(spaced_words(name)).split()
    if not foreign.spaced:
        return frozenset(words)
    common = frozenset(map(bare_word, foreign.stop_words))
    return frozenset(
        stem(word, foreign.code) for word in words if len(word) > 2 and word not in common
    )


@lru_cache(maxsize=1)
def type_words() -> frozenset[str]:
    """Return everyday nouns for types of entities, and their plurals."""
    words = Path(__file__).with_name("head_types.txt").read_text("utf-8").split()
    return frozenset([*words, *(word + "s" for word in words)])


def holds_stem(target: str, other: str) -> bool:
    """Return whether a stem equals or contains the target.

    A target that is only contained must have at least 4 letters.

    >>> from core.graph.names.linking import holds_stem
    >>> holds_stem("writ", "screenwrit"), holds_stem("tag", "stage")
    (True, False)
    """
    return target == other or (len(target) >= 4 and target in other)


def _differs_beyond_case(text: str, name: str) -> bool:
    """Return whether a text differs from a name, ignoring case.

    Typography counts. Of two names that differ only in typography, the one that is written as in
    the question is then preferred.
    """
    return text.casefold() != name.casefold()


def _has_capital(text: str) -> bool:
    """Return whether a text has a capital letter or a digit."""
    return any(letter.isupper() or letter.isdigit() for letter in text)


def _same_capitals(text: str, name: str) -> bool:
    """Return whether a text is mostly capitalised as the name is.

    At least half of its words must be.
    """
    pairs = [(a[0].isupper(), b[0].isupper()) for a, b in zip(text.split(), name.split())]
    return 2 * sum(a == b for a, b in pairs) >= len(pairs)
