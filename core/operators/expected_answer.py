"""Expected answer of a question: a person, a time, a number or a thing.

Nothing is trained and no relation is known by name. "who" asks for a person, "when" and "which
year" for a time, "how many" for a number. The word after "what" or "which", or next to "who", is
compared with the words of the graph's relations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.graph.names.language import language_code
from core.graph.names.linking import holds_stem, relation_stems, stem
from core.graph.names.phrases import agent_noun, relation_phrase
from core.graph.names.word_index import words_of
from core.graph.protocol import KnowledgeGraph
from core.languages import Language, language
from core.languages.spelling import fold
from core.types import Path

PERSON_ANSWER, TIME_ANSWER, NUMBER_ANSWER, THING_ANSWER = "person", "time", "number", "thing"
PERSON_NOUNS = frozenset(
    "person people man men woman women human individual someone somebody guy".split()
)
TIME_NOUNS = frozenset("year years date dates day month time decade century".split())
VAGUE_NOUNS = frozenset(
    (
        "kind kinds type types sort sorts category categories word words topic topics name names "
        "thing things one ones"
    ).split()
)
SKIPPED_WORDS = frozenset(
    (
        "is are was were be been the a an of all some main primary several other different did do "
        "does has have had can could in on by to for with his her its their this that these those "
        "co"
    ).split()
)
PERSON_ROLE_PATTERN = re.compile(
    r"(?:ors?|ers?|ists?|ians?|ress|resses|man|men|woman|spouse|wife|husband|child|children"
    r"|parents?|sibling|person)$"
)
MAX_ANSWER_FIT = 2  # highest value of AnswerFit
MAX_QUESTION_WORDS_READ = 4  # words after the question word that are read
YEAR_NAME_PATTERN = re.compile(
    r"(?:c\. ?)?-?\d{3,4}(?:-\d\d){0,2}(?:T[\d:.Z+-]+)?(?:\D{0,3}(?:BC|AD|BCE|CE))?$"
)
DATE_NAME_PATTERN = re.compile(
    r"(?=.*\d{4})(?=.*(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))[\w ,.-]+$",
    re.IGNORECASE,
)
NUMBER_NAME_PATTERN = re.compile(r"-?[\d,.]+(?:e\d+)? ?%?$")
MAX_EDGES_READ = 5_000  # the relations of a node with more edges are not read


@dataclass(frozen=True)
class ExpectedAnswer:
    """Expected type of the answer, and the word for the relation to it.

    Attributes
    ----------
    answer_type : one of the four types above; empty if the words do not tell.
    word : stem of the word that names the relation which leads to the answer.
    code : language of the question, if it is not English.
    """

    answer_type: str = ""
    word: str = ""
    code: str = ""


def expect_answer(
    graph: KnowledgeGraph, question: str, names: Iterable[str] = ()
) -> ExpectedAnswer:
    """Return the expected answer of a question, ignoring the names of its entities.

    In a language other than English it depends on the question words of that language.
    """
    if question_language := language(language_code(graph, question)):
        return _expect_in_language(graph, question, question_language, names)
    for name in sorted(names, key=len, reverse=True):
        question = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " X ", question, flags=re.IGNORECASE)
    words = [word.text for word in words_of(question)]
    for position, word in enumerate(words):
        if word in ("when",):
            return ExpectedAnswer(TIME_ANSWER)
        if word == "how" and words[position + 1 : position + 2] in (["many"], ["much"]):
            return ExpectedAnswer(NUMBER_ANSWER)
        if word in ("who", "whom"):
            return ExpectedAnswer(PERSON_ANSWER, _person_relation(graph, words, position))
        if word in ("what", "which", "whats"):
            return _expect_thing(
                graph, words[position + 1 : position + 1 + MAX_QUESTION_WORDS_READ + 2]
            )
    return ExpectedAnswer()


def _expect_in_language(
    graph: KnowledgeGraph, question: str, question_language: Language, names: Iterable[str]
) -> ExpectedAnswer:
    """Return the expected answer by the first question word in the question's language.

    A question word that is also a function word counts only at the beginning.
    """
    text = fold(question)
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(fold(name), " ")
    positions = [
        (start, phrase)
        for phrase in question_language.asks
        if (start := _phrase_position(text, phrase, question_language)) >= 0
    ]
    if not positions:
        return ExpectedAnswer()
    start, phrase = min(positions, key=lambda one: (one[0], -len(one[1])))
    kind = question_language.asks[phrase]
    if kind not in (PERSON_ANSWER, THING_ANSWER):
        return (
            ExpectedAnswer(kind, code=question_language.code)
            if kind in (TIME_ANSWER, NUMBER_ANSWER)
            else ExpectedAnswer()
        )
    remainder = text[:start] + " " + text[start + len(phrase) :]
    word = _relation_word(graph, remainder, question_language)
    return (
        ExpectedAnswer(kind, word, question_language.code)
        if word or kind == PERSON_ANSWER
        else ExpectedAnswer()
    )


def _phrase_position(text: str, phrase: str, question_language: Language) -> int:
    """Return the position of a question phrase in a text, else -1."""
    if not question_language.spaced:
        return text.find(phrase)
    match = re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text)
    if (
        match is None
        or phrase in question_language.words
        and any(map(str.isalnum, text[: match.start()]))
    ):
        return -1
    return match.start()


def _relation_word(graph: KnowledgeGraph, text: str, question_language: Language) -> str:
    """Return the stem of the first word that names a relation.

    In a script without blanks it is the name of the relation that comes last in the text, because
    there the wanted thing follows its owner.
    """
    stems = relation_stems(graph.relation_names, question_language.code)
    if not question_language.spaced:
        names_in_text = {name for names in stems for name in names if name in text}
        return max(
            names_in_text, key=lambda name: (text.rfind(name) + len(name), len(name)), default=""
        )
    for word in words_of(text):
        word_stem = stem(word.text, question_language.code)
        if word.text not in question_language.common and any(
            holds_stem(one, word_stem) for names in stems for one in names
        ):
            return word_stem
    return ""


def _expect_thing(graph: KnowledgeGraph, next_words: Sequence[str]) -> ExpectedAnswer:
    """Return the expected answer of "what" or "which", by the words after it.

    A thing is expected only in graphs with few and plain relations, such as WikiMovies. In a graph
    of typed names, such as Freebase, a word like "country" is in many relations, and each of these
    has an inverse.
    """
    expected_thing = _expect_by_words(graph, next_words)
    if expected_thing.answer_type == THING_ANSWER and _has_typed_heads(tuple(graph.relation_names)):
        return ExpectedAnswer()
    return expected_thing


@lru_cache(maxsize=64)
def _has_typed_heads(relations: tuple[str, ...]) -> bool:
    """Return whether relation names tell the type of their heads."""
    return any(relation_phrase(name).head_type for name in relations)


def _expect_by_words(graph: KnowledgeGraph, next_words: Sequence[str]) -> ExpectedAnswer:
    for position, word in enumerate(next_words[: MAX_QUESTION_WORDS_READ + 2]):
        if word == "x" or (position == 0 and word in ("does", "did", "do", "has", "have")):
            return ExpectedAnswer()
        if (
            word in TIME_NOUNS
            or TIME_NOUNS & set(next_words[position : position + 2])
            and _names_relation(graph, word)
        ):
            return ExpectedAnswer(TIME_ANSWER)
        if word in PERSON_NOUNS:
            return ExpectedAnswer(PERSON_ANSWER, _person_relation(graph, next_words, position))
        if word in SKIPPED_WORDS:
            continue
        if word in VAGUE_NOUNS:
            return ExpectedAnswer()
        if _names_relation(graph, word):
            return ExpectedAnswer(THING_ANSWER, stem(word))
        return ExpectedAnswer(THING_ANSWER)
    return ExpectedAnswer()


def _person_relation(graph: KnowledgeGraph, words: Sequence[str], position: int) -> str:
    """Return the stem of the word that says what the person did.

    It is the first word after "who" that names a relation, or a word before "who" if that comes
    last.
    """
    next_words = list(words[position + 1 : position + 1 + MAX_QUESTION_WORDS_READ])
    previous_words = (
        list(reversed(words[max(0, position - MAX_QUESTION_WORDS_READ) : position]))
        if len(words) - position <= 2
        else []
    )
    for word in [*next_words, *previous_words]:
        if word == "x":
            break
        if word not in SKIPPED_WORDS and _names_relation(graph, word):
            return stem(word)
    return ""


def _names_relation(graph: KnowledgeGraph, word: str) -> bool:
    """Return whether a word names one of the graph's relations."""
    word_stem = stem(word)
    return any(
        holds_stem(one, word_stem)
        for stems in relation_stems(graph.relation_names)
        for one in stems
    )


class AnswerFit:
    """Fit of a path's end to the expected answer.

    The value is 0 for no fit, 1 for a fit of its type, and 2 if the relation that leads to it fits
    too.
    """

    def __init__(self, graph: KnowledgeGraph, expected: ExpectedAnswer, relations: dict[int, int]):
        self.graph, self.wanted, self.relations = graph, expected, relations
        self.stems = relation_stems(graph.relation_names, expected.code)
        self._person: dict[int, bool] = {}
        self._tails: dict[int, set[int]] = {}

    def __call__(self, path: Path) -> int:
        answer_type, relation = self.wanted.answer_type, self.relations[path.edges[-1]]
        if answer_type in (TIME_ANSWER, NUMBER_ANSWER):
            looks_like = type_of_name(self.graph.node_name(path.end))
            return int(
                answer_type == looks_like
                or (answer_type, looks_like) == (NUMBER_ANSWER, TIME_ANSWER)
            )
        is_named = (
            bool(self.wanted.word)
            and path.forward[-1]
            and (self.names_relation(relation) or self.beside(path.nodes[-2], path.end))
        )
        # relation names in other languages do not tell persons
        if answer_type == PERSON_ANSWER and self.wanted.code:
            return 2 * is_named
        if answer_type == PERSON_ANSWER:
            return self.person(path.end) * (1 + is_named)
        if self.wanted.word:
            return 2 * is_named
        return int(not path.forward[-1])

    def names_relation(self, relation: int) -> bool:
        """Return whether the question's word names the relation."""
        return any(holds_stem(one, self.wanted.word) for one in self.stems[relation])

    def beside(self, head: int, tail: int) -> bool:
        """Return whether the question's word names any triple between two nodes.

        It need not be the triple on the path: a director may also have written the film.
        """
        if head not in self._tails:
            is_small = self.graph.degree(head) <= MAX_EDGES_READ
            steps = self.graph.steps_from(np.array([head]), "out") if is_small else None
            pairs = zip(steps.nodes.tolist(), steps.relations.tolist()) if steps else ()
            self._tails[head] = {node for node, relation in pairs if self.names_relation(relation)}
        return tail in self._tails[head]

    def person(self, node: int) -> bool:
        """Return whether a node is a person.

        The relations that lead to it name a role, or its own relations have a person as their head
        type.
        """
        if node not in self._person:
            self._person[node] = not type_of_name(self.graph.node_name(node)) and self._plays(node)
        return self._person[node]

    def _plays(self, node: int) -> bool:
        if self.graph.degree(node) > MAX_EDGES_READ:
            return False
        steps = self.graph.steps_from(np.array([node]), "both")
        incoming, outgoing = (
            np.unique(steps.relations[steps.forward == direction]).tolist()
            for direction in (False, True)
        )
        names = self.graph.relation_names
        return any(leads_to_person(names[code]) for code in incoming) or any(
            PERSON_NOUNS & set(relation_phrase(names[code]).head_type.split()) for code in outgoing
        )


@lru_cache(maxsize=4096)
def leads_to_person(relation: str) -> bool:
    """Return whether a relation leads to persons: “directed_by”, “starred_actors”, `spouse`."""
    phrase = relation_phrase(relation)
    tie_words = phrase.tie.split()
    is_done_by = (
        tie_words[-1:] == ["by"]
        and len(tie_words) > 1
        and agent_noun(tie_words[-2]) != tie_words[-2]
    )
    return is_done_by or bool(PERSON_ROLE_PATTERN.search(phrase.noun.split()[-1]))


def type_of_name(name: str) -> str:
    """Return the type that a name looks like: a time, a number or neither.

    The text is empty for neither.
    """
    name = name.strip()
    if YEAR_NAME_PATTERN.match(name) or DATE_NAME_PATTERN.match(name):
        return TIME_ANSWER
    return NUMBER_ANSWER if NUMBER_NAME_PATTERN.match(name) else ""
