"""What a question starts from: of all names that it may mention the longest and best matching, and what else may be meant.

A name is worth the words it matches: a rare one counts fully, a word that all questions hold or that names a relation or a kind
little; a typing error takes something away, less where the mistyped word is none that the graph knows. A name in its own capital
letters counts more. Between names written alike (a person and a keyword, say) those win of which the question tells a
relation: “directed” speaks for a node that things are `directed_by`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from core.graph.names.language import code_of
from core.graph.names.mentions import BRACKETS, COMMON, KOREAN, Mention, Spelt, Vocabulary
from core.graph.names.phrases import phrase, spaced
from core.graph.names.word_index import Word, bare, words_of
from core.graph.protocol import KnowledgeGraph
from core.languages import Language, language
from core.languages.scripts import UNSPACED
from core.languages.terms import stemmed

LEAST_WITHIN = 2  # letters of a name that is meant though it is part of a word
OTHERS = 3  # runners-up of a link
# a letter of a name within a word, as in scripts without blanks, up to 1; and each letter more
LETTER, MORE = (0.5, 0.03)
# what a word of all questions, and one for a relation or a kind of things is worth
PLAIN, TYPE = (0.2, 0.4)
# what a short word is worth, longer ones 1; and a number
LETTERS, NUMBER = ({1: 0.4, 2: 0.4, 3: 0.7, 4: 0.85}, 0.8)
# what a typing error costs: in a word that the graph has, and in one that it has not
ERROR, UNKNOWN = (0.4, 0.3)
# of the word's worth it costs at most; what it costs more than that in a word of all questions
SHARE, ASTRAY = (0.9, 0.1)
CHANGED = (
    0.05  # what it costs more where a letter is another one, neither left out, doubled nor swapped
)
WRITTEN = 0.05  # what it costs where accents, apostrophes or hyphens differ
# a name in its own capitals; a name without them for a text that has some
CAPITALS, LOWER = (1.0, 0.3)
# the question names a relation of the node; capitals as in the name; ten times the edges
RELATED, ALIKE, CONNECTED = (0.2, 0.05, 0.01)
TOGETHER = 0.85  # of the best link's worth is what another one needs to be meant as well
NEAR = 0.5  # of it, what a runner-up needs
MOST_EDGES = 5_000  # of a node whose relations are looked at
ASKING = frozenset("who whom whose what which when where why how".split())
# fmt: skip
IRREGULAR = {
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
ENDINGS = re.compile(r"(?:ers|ors|er|or|resses|ress|ings|ing|ions|ion|tten|ed|es|s|e)$")


@dataclass(frozen=True)
class LinkedName:
    """A mention of a question with the node it is linked to, and the nodes that may be meant instead, the likeliest first."""

    mention: Mention
    others: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Candidate:
    start: int
    end: int
    node: int
    worth: float
    errors: int
    clear: bool  # in its own capitals
    exact: bool  # in its own letters, case aside
    text: str = field(compare=False)

    def overlaps(self, other: _Candidate) -> bool:
        return self.start < other.end and other.start < self.end

    @property
    def order(self) -> tuple:
        return (-self.worth, self.start - self.end, self.start, self.node)


def links(graph: KnowledgeGraph, vocabulary: Vocabulary, question: str) -> list[LinkedName]:
    """The nodes that a question names, ordered by place, each with its runners-up. Names in [brackets] win."""
    marked = [
        LinkedName(
            Mention(match.start(1), match.end(1), match[1], node),
            _twins(vocabulary, match[1], node),
        )
        for match in BRACKETS.finditer(question)
        if (node := vocabulary.choose(match[1])) is not None
    ]
    if marked:
        return marked
    words = words_of(question)
    judge = _Judge(graph, vocabulary, question, words)
    found = sorted(
        (
            judge.candidate(spelt, node)
            for spelt in vocabulary.spelt(question, words)
            for node in spelt.nodes
        ),
        key=_order,
    )
    chosen = _chosen([one for one in found if not judge.plain(one)]) or _disjoint(
        judge.plainly_meant(found)
    )
    return [
        LinkedName(_mention(one), _others(one, chosen, found))
        for one in sorted(chosen, key=lambda one: one.start)
    ]


def _order(one: _Candidate) -> tuple:
    return one.order


def _chosen(found: Sequence[_Candidate]) -> list[_Candidate]:
    """Of the candidates, best first, the best and those beside it that are meant as well."""
    chosen: list[_Candidate] = []
    for one in found:
        if chosen and one.clear != chosen[0].clear:
            continue
        if chosen and not one.clear and one.worth < TOGETHER * chosen[0].worth:
            break
        if chosen and one.errors and one.worth < chosen[0].worth:
            continue
        if not any(one.overlaps(other) for other in chosen):
            chosen.append(one)
    return chosen


def _disjoint(found: Iterable[_Candidate]) -> list[_Candidate]:
    """The candidates, best first, without those that overlap a better one."""
    chosen: list[_Candidate] = []
    for one in found:
        if not any(one.overlaps(other) for other in chosen):
            chosen.append(one)
    return chosen


def _others(
    one: _Candidate, chosen: Sequence[_Candidate], found: Iterable[_Candidate]
) -> tuple[int, ...]:
    taken = {other.node for other in chosen}
    near = [
        other
        for other in found
        if other.overlaps(one) and other.node not in taken and other.worth >= NEAR * one.worth
    ]
    near = [
        other for other in near if one.errors or other.start <= one.start and one.end <= other.end
    ]
    return tuple(dict.fromkeys(other.node for other in near))[:OTHERS]


def _twins(vocabulary: Vocabulary, text: str, node: int) -> tuple[int, ...]:
    return tuple(other for other in vocabulary.nodes(text) if other != node)[:OTHERS]


def _mention(one: _Candidate) -> Mention:
    return Mention(one.start, one.end, one.text, one.node, one.errors > 0)


class _Judge:
    """What candidates of one question are worth."""

    def __init__(
        self, graph: KnowledgeGraph, vocabulary: Vocabulary, question: str, words: Sequence[Word]
    ):
        self.graph, self.vocabulary, self.question, self.words = graph, vocabulary, question, words
        self.code = code_of(graph, question)
        known = language(self.code)
        self.common = COMMON if known is None else COMMON | frozenset(map(bare, known.common))
        self.asking = ASKING if known is None else ASKING | known.asks.keys()
        self.stems = relation_stems(graph.relation_names, self.code)
        self.capitals = any(letter.isupper() for letter in question[1:])
        self.all_stems = frozenset().union(*self.stems) if self.stems else frozenset()
        self._relations: dict[int, tuple[int, ...]] = {}

    def candidate(self, spelt: Spelt, node: int) -> _Candidate:
        """The candidate with its worth."""
        text, name = self.question[spelt.start : spelt.end], self.vocabulary.names[node]
        inside = [
            word for word in self.words if spelt.start <= word.start and word.end <= spelt.end
        ]
        worth = sum(self.weight(word.text) for word in inside) or _unspaced(text)
        wrong = [word for word, count in zip(inside, spelt.errors) if count]
        worth -= sum(self.cost(word, like) for word, like in self.errors(inside, spelt, name))
        # Not folded: of two names that differ in typography the one written as here is meant.
        differs = text.casefold() != name.casefold()
        worth -= WRITTEN * (differs and not wrong)
        proper, typed = _capital(name), _capital(text)
        clear = (
            proper
            and (self.capitals or name.lower() != name)
            and name.casefold() not in self.common
        )
        clear = clear and (
            text == name or differs and text.lower() != text and _same_capitals(text, name)
        )
        alike = (text == name or differs and typed == proper) and (
            typed or len(inside) < len(self.words)
        )
        worth += (
            CAPITALS * clear
            - LOWER * (typed and not proper)
            + ALIKE * alike
            + RELATED * self.names_a_relation(node, inside)
        )
        worth += CONNECTED * math.log10(1 + self.graph.degree(node))
        return _Candidate(
            spelt.start,
            spelt.end,
            node,
            round(worth, 6),
            sum(spelt.errors),
            clear,
            not differs,
            text,
        )

    def plain(self, one: _Candidate) -> bool:
        """Whether a name is but a word or two of all questions, a sign, or one letter within a word."""
        inside = [
            word.text for word in self.words if one.start <= word.start and word.end <= one.end
        ]
        if not inside:
            return sum(map(str.isalnum, one.text)) < LEAST_WITHIN
        return not one.clear and len(inside) <= 2 and all(word in self.common for word in inside)

    def plainly_meant(self, found: Sequence[_Candidate]) -> list[_Candidate]:
        """The exact ones of plain names: those written as in the graph, behind the first word of the question, where there are any. A
        question word in small letters asks and names nothing."""
        exact = [one for one in found if one.exact and one.text not in self.asking]
        return [
            one
            for one in exact
            if one.start
            and one.text != one.text.lower()
            and one.text == self.vocabulary.names[one.node]
        ] or exact

    def weight(self, word: str) -> float:
        """What a matched word is worth, 0 to 1."""
        if word in self.common:
            return PLAIN
        if UNSPACED.search(word) or KOREAN.search(word):
            return _unspaced(word)
        if word in type_words() or stem(word, self.code) in self.all_stems:
            return TYPE
        return NUMBER if word.isdecimal() else LETTERS.get(len(word), 1.0)

    def errors(self, inside: Sequence[Word], spelt: Spelt, name: str) -> list[tuple[Word, str]]:
        """The mistyped words with what they are taken for, as far as the words of both stand side by side."""
        names = words_of(name)
        likes = [word.text for word in names] if len(names) == len(inside) else [""] * len(inside)
        return [(word, like) for word, like, count in zip(inside, likes, spelt.errors) if count]

    def cost(self, word: Word, like: str) -> float:
        """What a mistyped word takes from the worth of a name."""
        weight = self.weight(word.text)
        if word.text in self.common:
            return weight + ASTRAY
        changed = len(word.text) == len(like) and sorted(word.text) != sorted(like)
        return (
            min(SHARE * weight, ERROR if word.text in self.vocabulary else UNKNOWN)
            + CHANGED * changed
        )

    def names_a_relation(self, node: int, inside: Sequence[Word]) -> bool:
        """Whether the question holds, beside the name, a word of a relation that the node has."""
        said = [stem(word.text, self.code) for word in self.words if word not in inside]
        return any(
            holds_stem(wanted, one)
            for relation in self.relations(node)
            for wanted in self.stems[relation]
            for one in said
        )

    def relations(self, node: int) -> tuple[int, ...]:
        if node not in self._relations:
            few = self.graph.degree(node) <= MOST_EDGES
            found = (
                np.unique(self.graph.steps_from(np.array([node]), "both").relations).tolist()
                if few
                else ()
            )
            self._relations[node] = tuple(found)
        return self._relations[node]


def _unspaced(text: str) -> float:
    """What a name within a word is worth: a longer one always more."""
    return min(1.0, LETTER * len(text)) + MORE * len(text)


def stem(word: str, code: str = "") -> str:
    """A word without its common English endings: director, directed -> direct; written, wrote -> writ. In a language with another code what
    Snowball's stemmer leaves, in German without the ge- of participles.

    >>> from core.graph.names.linking import stem
    >>> stem("director"), stem("directed"), stem("wrote")
    ('direct', 'direct', 'writ')
    >>> stem("gebaut", "de"), stem("baute", "de"), stem("построил", "ru")
    ('baut', 'baut', 'постро')
    """
    if code:
        left = stemmed(word, code)
        return left[2:] if code == "de" and left.startswith("ge") and len(left) > 5 else left
    cut = ENDINGS.sub("", IRREGULAR.get(word, word))
    cut = cut if len(cut) >= 3 else word
    return cut[:-1] if len(cut) > 3 and cut[-1] == cut[-2] else cut


@lru_cache(maxsize=8)
def relation_stems(relation_names: tuple[str, ...], code: str = "") -> tuple[frozenset[str], ...]:
    """For each relation the stems of the words it is told by, without prepositions and the like; in a script without blanks its name."""
    known = language(code)
    if known is not None:
        return tuple(_own_stems(name, known) for name in relation_names)
    stems = []
    for name in relation_names:
        said = phrase(name)
        words = bare(f"{said.noun} {said.tie} {said.head_type}").split()
        stems.append(
            frozenset(
                stem(word)
                for word in words
                if len(word) > 2 and word not in ("with", "the", "and", "for", "thing", "place")
            )
        )
    return tuple(stems)


def _own_stems(name: str, known: Language) -> frozenset[str]:
    """The stems of a relation's name in a language other than English."""
    words = bare(spaced(name)).split()
    if not known.spaced:
        return frozenset(words)
    common = frozenset(map(bare, known.common))
    return frozenset(
        stem(word, known.code) for word in words if len(word) > 2 and word not in common
    )


@lru_cache(maxsize=1)
def type_words() -> frozenset[str]:
    """Everyday nouns for types of things, and their plurals."""
    words = Path(__file__).with_name("head_types.txt").read_text("utf-8").split()
    return frozenset([*words, *(word + "s" for word in words)])


def holds_stem(wanted: str, said: str) -> bool:
    """Whether a stem said is the one wanted, or holds it: screenwrit holds writ.

    >>> from core.graph.names.linking import holds_stem
    >>> holds_stem("writ", "screenwrit"), holds_stem("tag", "stage")
    (True, False)
    """
    return wanted == said or (len(wanted) >= 4 and wanted in said)


def _capital(text: str) -> bool:
    return any(letter.isupper() or letter.isdigit() for letter in text)


def _same_capitals(text: str, name: str) -> bool:
    """Whether at least half of the words begin with a capital letter, or without one, as in the name."""
    pairs = [(a[0].isupper(), b[0].isupper()) for a, b in zip(text.split(), name.split())]
    return 2 * sum(a == b for a, b in pairs) >= len(pairs)
