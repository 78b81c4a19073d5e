"""Entity linking: the nodes that a question names, and alternatives to them.

Of all possible names in a question, the longest and best matching are chosen. The score of a name
is the sum of the scores of its words. A rare word counts fully; a word that is common in questions,
or that names a relation or a type, counts little. A typing error lowers the score, less so if the
mistyped word is unknown to the graph. A name in its own capital letters scores higher. Of names
with equal text (a person and a keyword, say), the one with a relation that the question mentions is
preferred: “directed” supports a node with the relation “directed_by”.
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

    min_inner_letters: int = 2  # of a name that may be part of a word
    max_alternatives: int = 3  # of a link
    # per letter of a name within a word, as in scripts without spaces
    unspaced_letter_score: float = 0.5
    unspaced_letter_bonus: float = 0.03  # per letter, in addition
    common_word_score: float = 0.2  # of a word that is common in questions
    type_word_score: float = 0.4  # of a word that names a relation or a type
    number_score: float = 0.8  # of a word of digits
    typo_cost: float = 0.4  # of a typing error in a word that the graph has
    unknown_word_typo_cost: float = 0.3  # in a word that the graph does not have
    max_typo_share: float = 0.9  # largest cost, as a share of the word's score
    common_word_typo_cost: float = 0.1  # in addition, in a word that is common in questions
    # in addition, for a letter that is not omitted, doubled or swapped
    replaced_letter_cost: float = 0.05
    typography_cost: float = 0.05  # for other accents, apostrophes or hyphens
    capitals_bonus: float = 1.0  # for a name in its own capitals
    lower_case_cost: float = 0.3  # for a name without capitals, in a text that has some
    relation_bonus: float = 0.2  # if the question names a relation of the node
    same_capitals_bonus: float = 0.05  # if the capitals are those of the name
    degree_bonus: float = 0.01  # for ten times the edges
    min_second_link_share: float = 0.85  # of the best link's score, for another link
    min_alternative_share: float = 0.5  # of a link's score, for an alternative
    max_linked_degree: int = 5_000  # of a node whose relations are read


LINKING = LinkingScores()
# Scores of short words by length; longer ones have 1.
SHORT_WORD_SCORES = {1: 0.4, 2: 0.4, 3: 0.7, 4: 0.85}
# Words that ask for the answer.
ASKING_WORDS = frozenset("who whom whose what which when where why how".split())
# fmt: skip
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
    """A mention in a question with its node, and alternative nodes.

    The most likely alternative comes first.
    """

    mention: Mention
    others: tuple[int, ...] = ()


@dataclass(frozen=True)
class _LinkCandidate:
    start: int
    end: int
    node: int
    worth: float
    errors: int
    clear: bool  # in its own capitals
    exact: bool  # with the letters of the name, ignoring case
    text: str = field(compare=False)

    def overlaps(self, other: _LinkCandidate) -> bool:
        return self.start < other.end and other.start < self.end

    @property
    def order(self) -> tuple:
        return (-self.worth, self.start - self.end, self.start, self.node)


def link_names(graph: KnowledgeGraph, vocabulary: Vocabulary, question: str) -> list[LinkedName]:
    """Return the nodes that a question names, with alternatives.

    They are in the order of the text. If there are names in [brackets], only these count.
    """
    bracketed = [
        LinkedName(
            Mention(match.start(1), match.end(1), match[1], node),
            _same_named(vocabulary, match[1], node),
        )
        for match in BRACKETED_MENTION.finditer(question)
        if (node := vocabulary.choose(match[1])) is not None
    ]
    if bracketed:
        return bracketed
    words = words_of(question)
    judge = _CandidateScorer(graph, vocabulary, question, words)
    candidates = sorted(
        (
            judge.candidate(spelt, node)
            for spelt in vocabulary.spelt(question, words)
            for node in spelt.nodes
        ),
        key=_order,
    )
    chosen = _choose_candidates(
        [one for one in candidates if not judge.plain(one)]
    ) or _drop_overlaps(judge.plainly_meant(candidates))
    return [
        LinkedName(_mention(one), _alternatives(one, chosen, candidates))
        for one in sorted(chosen, key=lambda one: one.start)
    ]


def _order(one: _LinkCandidate) -> tuple:
    return one.order


def _choose_candidates(candidates: Sequence[_LinkCandidate]) -> list[_LinkCandidate]:
    """Return the best candidate and further ones that are also meant.

    Candidates are given best first.
    """
    chosen: list[_LinkCandidate] = []
    for one in candidates:
        if chosen and one.clear != chosen[0].clear:
            continue
        if chosen and not one.clear and one.worth < LINKING.min_second_link_share * chosen[0].worth:
            break
        if chosen and one.errors and one.worth < chosen[0].worth:
            continue
        if not any(one.overlaps(other) for other in chosen):
            chosen.append(one)
    return chosen


def _drop_overlaps(candidates: Iterable[_LinkCandidate]) -> list[_LinkCandidate]:
    """Drop the candidates that overlap a better one; they are given best first."""
    chosen: list[_LinkCandidate] = []
    for one in candidates:
        if not any(one.overlaps(other) for other in chosen):
            chosen.append(one)
    return chosen


def _alternatives(
    one: _LinkCandidate, chosen: Sequence[_LinkCandidate], candidates: Iterable[_LinkCandidate]
) -> tuple[int, ...]:
    chosen_nodes = {other.node for other in chosen}
    others = [
        other
        for other in candidates
        if other.overlaps(one)
        and other.node not in chosen_nodes
        and other.worth >= LINKING.min_alternative_share * one.worth
    ]
    others = [
        other for other in others if one.errors or other.start <= one.start and one.end <= other.end
    ]
    return tuple(dict.fromkeys(other.node for other in others))[: LINKING.max_alternatives]


def _same_named(vocabulary: Vocabulary, text: str, node: int) -> tuple[int, ...]:
    return tuple(other for other in vocabulary.nodes(text) if other != node)[
        : LINKING.max_alternatives
    ]


def _mention(one: _LinkCandidate) -> Mention:
    return Mention(one.start, one.end, one.text, one.node, one.errors > 0)


class _CandidateScorer:
    """Scoring of the candidates of one question."""

    def __init__(
        self, graph: KnowledgeGraph, vocabulary: Vocabulary, question: str, words: Sequence[Word]
    ):
        self.graph, self.vocabulary, self.question, self.words = graph, vocabulary, question, words
        self.code = language_code(graph, question)
        own_language = language(self.code)
        self.common = (
            COMMON_QUESTION_WORDS
            if own_language is None
            else COMMON_QUESTION_WORDS | frozenset(map(bare_word, own_language.common))
        )
        self.asking = (
            ASKING_WORDS if own_language is None else ASKING_WORDS | own_language.asks.keys()
        )
        self.stems = relation_stems(graph.relation_names, self.code)
        self.capitals = any(letter.isupper() for letter in question[1:])
        self.all_stems = frozenset().union(*self.stems) if self.stems else frozenset()
        self._relations: dict[int, tuple[int, ...]] = {}

    def candidate(self, spelt: SpelledName, node: int) -> _LinkCandidate:
        """Return the candidate with its score."""
        text = self.question[spelt.start : spelt.end]
        name = self.vocabulary.names[node]
        own_words = self.words_within(spelt.start, spelt.end)
        differs = _differs_beyond_case(text, name)
        clear = self.has_own_capitals(text, name)
        lacks_capitals = _capital(text) and not _capital(name)
        alike = self.has_same_case(text, name, own_words)

        worth = sum(self.weight(word.text) for word in own_words) or _unspaced_score(text)
        worth -= sum(self.cost(word, like) for word, like in self.errors(own_words, spelt, name))
        worth -= LINKING.typography_cost * (differs and not _has_typos(own_words, spelt))
        worth += (
            LINKING.capitals_bonus * clear
            - LINKING.lower_case_cost * lacks_capitals
            + LINKING.same_capitals_bonus * alike
            + LINKING.relation_bonus * self.names_a_relation(node, own_words)
        )
        worth += LINKING.degree_bonus * math.log10(1 + self.graph.degree(node))
        return _LinkCandidate(
            spelt.start,
            spelt.end,
            node,
            round(worth, 6),
            sum(spelt.errors),
            clear,
            not differs,
            text,
        )

    def words_within(self, start: int, end: int) -> list[Word]:
        """Return the words of the question between two positions."""
        return [word for word in self.words if start <= word.start and word.end <= end]

    def has_own_capitals(self, text: str, name: str) -> bool:
        """Return whether a text has the capitals of an uncommon name that has some."""
        if not _capital(name) or name.casefold() in self.common:
            return False
        if not self.capitals and name.lower() == name:
            return False
        if text == name:
            return True
        has_capitals = text.lower() != text
        return _differs_beyond_case(text, name) and has_capitals and _same_capitals(text, name)

    def has_same_case(self, text: str, name: str, own_words: Sequence[Word]) -> bool:
        """Return whether a text is written like the name, with or without capitals.

        A text without capitals counts only if it is not the whole question.
        """
        has_capitals = _capital(text)
        if not has_capitals and len(own_words) >= len(self.words):
            return False
        if text == name:
            return True
        return _differs_beyond_case(text, name) and has_capitals == _capital(name)

    def plain(self, one: _LinkCandidate) -> bool:
        """Return whether a name is too common to be meant.

        This is so for one or two words that are common in questions, a sign, or one letter in a
        word.
        """
        inside = [word.text for word in self.words_within(one.start, one.end)]
        if not inside:
            return sum(map(str.isalnum, one.text)) < LINKING.min_inner_letters
        return not one.clear and len(inside) <= 2 and all(word in self.common for word in inside)

    def plainly_meant(self, candidates: Sequence[_LinkCandidate]) -> list[_LinkCandidate]:
        """Return the exact candidates among common names.

        Those with the capitals of the graph, after the first word of the question, are preferred. A
        question word in lower case names nothing.
        """
        exact = [one for one in candidates if one.exact and one.text not in self.asking]
        return [
            one
            for one in exact
            if one.start
            and one.text != one.text.lower()
            and one.text == self.vocabulary.names[one.node]
        ] or exact

    def weight(self, word: str) -> float:
        """Return the score of a matched word, 0 to 1."""
        if word in self.common:
            return LINKING.common_word_score
        if UNSPACED_LETTER.search(word) or KOREAN_LETTER.search(word):
            return _unspaced_score(word)
        if word in type_words() or stem(word, self.code) in self.all_stems:
            return LINKING.type_word_score
        return LINKING.number_score if word.isdecimal() else SHORT_WORD_SCORES.get(len(word), 1.0)

    def errors(
        self, inside: Sequence[Word], spelt: SpelledName, name: str
    ) -> list[tuple[Word, str]]:
        """Pair the mistyped words with the words of the name.

        This requires equal numbers of words.
        """
        names = words_of(name)
        likes = [word.text for word in names] if len(names) == len(inside) else [""] * len(inside)
        return [(word, like) for word, like, count in zip(inside, likes, spelt.errors) if count]

    def cost(self, word: Word, like: str) -> float:
        """Return the cost of a mistyped word."""
        weight = self.weight(word.text)
        if word.text in self.common:
            return weight + LINKING.common_word_typo_cost
        changed = len(word.text) == len(like) and sorted(word.text) != sorted(like)
        return (
            min(
                LINKING.max_typo_share * weight,
                LINKING.typo_cost
                if word.text in self.vocabulary
                else LINKING.unknown_word_typo_cost,
            )
            + LINKING.replaced_letter_cost * changed
        )

    def names_a_relation(self, node: int, inside: Sequence[Word]) -> bool:
        """Return whether the question mentions a relation of the node outside of the name."""
        other_stems = [stem(word.text, self.code) for word in self.words if word not in inside]
        return any(
            holds_stem(relation_stem, one)
            for relation in self.relations(node)
            for relation_stem in self.stems[relation]
            for one in other_stems
        )

    def relations(self, node: int) -> tuple[int, ...]:
        if node not in self._relations:
            is_small = self.graph.degree(node) <= LINKING.max_linked_degree
            relations = (
                np.unique(self.graph.steps_from(np.array([node]), "both").relations).tolist()
                if is_small
                else ()
            )
            self._relations[node] = tuple(relations)
        return self._relations[node]


def _unspaced_score(text: str) -> float:
    """Return the score of a name within a word, which grows with its length."""
    return min(
        1.0, LINKING.unspaced_letter_score * len(text)
    ) + LINKING.unspaced_letter_bonus * len(text)


def stem(word: str, code: str = "") -> str:
    """Return a word without its common English endings.

    Examples are director, directed -> direct; written, wrote -> writ. For the code of another
    language, Snowball's stemmer is used, in German without the ge- of participles.

    >>> from core.graph.names.linking import stem
    >>> stem("director"), stem("directed"), stem("wrote")
    ('direct', 'direct', 'writ')
    >>> stem("gebaut", "de"), stem("baute", "de"), stem("построил", "ru")
    ('baut', 'baut', 'постро')
    """
    if code:
        root = stem_word(word, code)
        return root[2:] if code == "de" and root.startswith("ge") and len(root) > 5 else root
    cut = WORD_ENDINGS.sub("", IRREGULAR_STEMS.get(word, word))
    cut = cut if len(cut) >= 3 else word
    return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] else cut


@lru_cache(maxsize=8)
def relation_stems(relation_names: tuple[str, ...], code: str = "") -> tuple[frozenset[str], ...]:
    """Return for each relation the stems of the words that describe it.

    Prepositions and the like are left out. In a script without spaces, the name itself is returned.
    """
    own_language = language(code)
    if own_language is not None:
        return tuple(_foreign_stems(name, own_language) for name in relation_names)
    stems = []
    for name in relation_names:
        name_phrase = relation_phrase(name)
        words = bare_word(f"{name_phrase.noun} {name_phrase.tie} {name_phrase.head_type}").split()
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
    common = frozenset(map(bare_word, foreign.common))
    return frozenset(
        stem(word, foreign.code) for word in words if len(word) > 2 and word not in common
    )


@lru_cache(maxsize=1)
def type_words() -> frozenset[str]:
    """Everyday nouns for types of entities, and their plurals."""
    words = Path(__file__).with_name("head_types.txt").read_text("utf-8").split()
    return frozenset([*words, *(word + "s" for word in words)])


def holds_stem(target: str, said: str) -> bool:
    """Return whether a stem equals the wanted one or contains it: screenwrit contains writ.

    >>> from core.graph.names.linking import holds_stem
    >>> holds_stem("writ", "screenwrit"), holds_stem("tag", "stage")
    (True, False)
    """
    return target == said or (len(target) >= 4 and target in said)


def _has_typos(words: Sequence[Word], spelt: SpelledName) -> bool:
    """Return whether one of a name's words is mistyped."""
    return any(count for _, count in zip(words, spelt.errors))


def _differs_beyond_case(text: str, name: str) -> bool:
    """Return whether a text differs from a name, ignoring case.

    Typography is not ignored: of two names that differ in it, the one written as in the question is
    meant.
    """
    return text.casefold() != name.casefold()


def _capital(text: str) -> bool:
    return any(letter.isupper() or letter.isdigit() for letter in text)


def _same_capitals(text: str, name: str) -> bool:
    """Return whether at least half of the words are capitalised as in the name."""
    pairs = [(a[0].isupper(), b[0].isupper()) for a, b in zip(text.split(), name.split())]
    return 2 * sum(a == b for a, b in pairs) >= len(pairs)
