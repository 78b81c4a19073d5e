"""The type of answer that a question asks for: a person, a time, a number or a thing.

`GraphReader` uses it to choose among the ends of paths: "who" must not be answered by a year. The
rules need no training and no list of relations. "who" asks for a person, "when" and "which
year" for a time, "how many" for a number. The word after "what" or "which", or next to "who", is
compared with the words of the graph's relations.
"""

from __future__ import annotations

import itertools
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

# types of answers
PERSON_ANSWER = "person"
TIME_ANSWER = "time"
NUMBER_ANSWER = "number"
THING_ANSWER = "thing"
PERSON_NOUNS = frozenset(
    "person people man men woman women human individual someone somebody guy".split()
)
TIME_NOUNS = frozenset("year years date dates day month time decade century".split())
# "which kind of ..." tells neither a type nor a relation
VAGUE_NOUNS = frozenset(
    (
        "kind kinds type types sort sorts category categories word words topic topics name names "
        "thing things one ones"
    ).split()
)
# words between the question word and the noun or verb that matters
SKIPPED_WORDS = frozenset(
    (
        "is are was were be been the a an of all some main primary several other different did do "
        "does has have had can could in on by to for with his her its their this that these those "
        "co"
    ).split()
)
# ends of nouns for persons, such as director, player, artist
PERSON_ROLE_PATTERN = re.compile(
    r"(?:ors?|ers?|ists?|ians?|ress|resses|man|men|woman|spouse|wife|husband|child|children"
    r"|parents?|sibling|person)$"
)
MAX_ANSWER_FIT = 2  # highest value that an `AnswerFit` returns
MAX_QUESTION_WORDS_READ = 4  # words near the question word in which a relation is sought
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
    answer_type : `PERSON_ANSWER`, `TIME_ANSWER`, `NUMBER_ANSWER` or `THING_ANSWER`; empty if it is
        unknown.
    word : stem of the question's word for the relation to the answer, as in "who *directed* X";
        empty if there is none.
    code : code of the question's language; empty for English.
    """

    answer_type: str = ""
    word: str = ""
    code: str = ""


def expect_answer(
    graph: KnowledgeGraph, question: str, names: Iterable[str] = ()
) -> ExpectedAnswer:
    """Return the expected answer of a question, ignoring the names of its entities.

    In a language other than English it depends on the question words of that language.

    Parameters
    ----------
    graph : the graph, whose relation names are compared with the question's words.
    question : the text of the question.
    names : names of the question's entities.
    """
    question_language = language(language_code(graph, question))
    if question_language:
        return _expect_in_language(graph, question, question_language, names)
    for name in sorted(names, key=len, reverse=True):
        question = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " X ", question, flags=re.IGNORECASE)
    words = [word.text for word in words_of(question)]
    for position, word in enumerate(words):
        if word == "when":
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
    starts = {
        phrase: _phrase_position(text, phrase, question_language)
        for phrase in question_language.kinds_by_question_phrase
    }
    phrases = [phrase for phrase, start in starts.items() if start >= 0]
    if not phrases:
        return ExpectedAnswer()
    phrase = min(phrases, key=lambda phrase: (starts[phrase], -len(phrase)))
    answer_type = question_language.kinds_by_question_phrase[phrase]
    if answer_type in (TIME_ANSWER, NUMBER_ANSWER):
        return ExpectedAnswer(answer_type, code=question_language.code)
    if answer_type not in (PERSON_ANSWER, THING_ANSWER):
        return ExpectedAnswer()
    start = starts[phrase]
    remainder = text[:start] + " " + text[start + len(phrase) :]
    word = _relation_word(graph, remainder, question_language)
    if not word and answer_type == THING_ANSWER:
        return ExpectedAnswer()
    return ExpectedAnswer(answer_type, word, question_language.code)


def _phrase_position(text: str, phrase: str, question_language: Language) -> int:
    """Return the index at which a question phrase begins in a text.

    It is -1 if the phrase does not occur. A phrase that is also a function word counts only at the
    beginning of the text.
    """
    if not question_language.spaced:
        return text.find(phrase)
    match = re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text)
    if match is None:
        return -1
    is_at_beginning = not any(map(str.isalnum, text[: match.start()]))
    return match.start() if is_at_beginning or phrase not in question_language.words else -1


def _relation_word(graph: KnowledgeGraph, text: str, question_language: Language) -> str:
    """Return the stem of the first word that names a relation.

    The result is empty if there is none. In a script without spaces it is the relation name that
    ends last in the text, because in these languages the thing that is asked for follows its owner.
    """
    code = question_language.code
    if not question_language.spaced:
        all_stems = itertools.chain.from_iterable(relation_stems(graph.relation_names, code))
        return max(
            {name_stem for name_stem in all_stems if name_stem in text},
            key=lambda name_stem: (text.rfind(name_stem) + len(name_stem), len(name_stem)),
            default="",
        )
    for word in words_of(text):
        if word.text not in question_language.stop_words and _names_relation(
            graph, word.text, code
        ):
            return stem(word.text, code)
    return ""


def _expect_thing(graph: KnowledgeGraph, next_words: Sequence[str]) -> ExpectedAnswer:
    """Return the expected answer of a question with "what" or "which".

    The words after the question word decide. A thing is expected only in graphs with few and plain
    relations, such as WikiMovies. In a graph whose relation names have types, such as Freebase, a
    word like "country" is in many relations, and each of these has an inverse.
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
    """Return the expected answer by the first of the words that tells a type.

    The word "x" stands for an entity's name.
    """
    for position, word in enumerate(next_words):
        if word == "x" or (position == 0 and word in ("does", "did", "do", "has", "have")):
            return ExpectedAnswer()
        # “release date” asks for a time if a relation is named by “release”
        is_before_time = not TIME_NOUNS.isdisjoint(next_words[position + 1 : position + 2])
        if word in TIME_NOUNS or (is_before_time and _names_relation(graph, word)):
            return ExpectedAnswer(TIME_ANSWER)
        if word in PERSON_NOUNS:
            return ExpectedAnswer(PERSON_ANSWER, _person_relation(graph, next_words, position))
        if word in SKIPPED_WORDS:
            continue
        if word in VAGUE_NOUNS:
            return ExpectedAnswer()
        return ExpectedAnswer(THING_ANSWER, stem(word) if _names_relation(graph, word) else "")
    return ExpectedAnswer()


def _person_relation(graph: KnowledgeGraph, words: Sequence[str], position: int) -> str:
    """Return the stem of the word that names the person's relation, such as "directed".

    It is the first word after "who" that names a relation; empty if there is none. If "who" is one
    of the last two words, the words before "who" are tried next, the nearest first.

    Parameters
    ----------
    words : the words of the question.
    position : the index of "who", or of a noun for persons, in `words`.
    """
    candidates = list(words[position + 1 : position + 1 + MAX_QUESTION_WORDS_READ])
    if len(words) - position <= 2:
        candidates += reversed(words[max(0, position - MAX_QUESTION_WORDS_READ) : position])
    for word in candidates:
        if word == "x":  # the mark of an entity's name
            break
        if word not in SKIPPED_WORDS and _names_relation(graph, word):
            return stem(word)
    return ""


def _names_relation(graph: KnowledgeGraph, word: str, code: str = "") -> bool:
    """Return whether a word of a language names one of the graph's relations."""
    word_stem = stem(word, code)
    all_stems = itertools.chain.from_iterable(relation_stems(graph.relation_names, code))
    return any(holds_stem(known_stem, word_stem) for known_stem in all_stems)


class AnswerFit:
    """A function that rates how well a path's end fits the expected answer.

    The value is 0 for no fit, 1 for a fit of the type, and 2 if the relation to the end fits too.
    Times and numbers reach 1 at most.

    Parameters
    ----------
    graph : the graph of the paths.
    expected : the expected answer.
    relations : the relation of each edge of the paths.
    """

    def __init__(self, graph: KnowledgeGraph, expected: ExpectedAnswer, relations: dict[int, int]):
        self.graph = graph
        self.expected = expected
        self.relations = relations
        self.stems = relation_stems(graph.relation_names, expected.code)
        self._person: dict[int, bool] = {}  # cache of `is_person`
        self._tails: dict[int, set[int]] = {}  # cache: by head, its tails by relations that fit

    def __call__(self, path: Path) -> int:
        answer_type = self.expected.answer_type
        if answer_type in (TIME_ANSWER, NUMBER_ANSWER):
            name_type = type_of_name(self.graph.node_name(path.end))
            # a name such as “1999” looks like a time and may be a number
            is_year_as_number = (answer_type, name_type) == (NUMBER_ANSWER, TIME_ANSWER)
            return int(answer_type == name_type or is_year_as_number)
        is_named = (
            bool(self.expected.word)
            and path.forward[-1]
            and (
                self.names_relation(self.relations[path.edges[-1]])
                or self.joins_nodes(path.nodes[-2], path.end)
            )
        )
        # relation names in other languages do not tell persons
        if answer_type == PERSON_ANSWER and not self.expected.code:
            return self.is_person(path.end) * (1 + is_named)  # 0, 1 or 2
        if answer_type == PERSON_ANSWER or self.expected.word:
            return 2 * is_named
        # a thing without a word for its relation: an end that is the head of its triple fits
        return int(not path.forward[-1])

    def names_relation(self, relation: int) -> bool:
        """Return whether the question's word names the relation."""
        return any(
            holds_stem(known_stem, self.expected.word) for known_stem in self.stems[relation]
        )

    def joins_nodes(self, head: int, tail: int) -> bool:
        """Return whether the question's word names any triple between two nodes.

        It need not be the triple on the path: a director may also have written the film.
        """
        if head not in self._tails:
            self._tails[head] = set()
            if self.graph.degree(head) <= MAX_EDGES_READ:
                steps = self.graph.steps_from(np.array([head]), "out")
                pairs = zip(steps.nodes.tolist(), steps.relations.tolist())
                self._tails[head].update(
                    node for node, relation in pairs if self.names_relation(relation)
                )
        return tail in self._tails[head]

    def is_person(self, node: int) -> bool:
        """Return whether a node is a person.

        It is if a relation to it names a role, or if a relation from it has persons as head type. A
        date or a number is none.
        """
        if node not in self._person:
            is_value = bool(type_of_name(self.graph.node_name(node)))
            self._person[node] = not is_value and self._has_person_relation(node)
        return self._person[node]

    def _has_person_relation(self, node: int) -> bool:
        if self.graph.degree(node) > MAX_EDGES_READ:
            return False
        steps = self.graph.steps_from(np.array([node]), "both")
        names = self.graph.relation_names
        incoming = np.unique(steps.relations[~steps.forward]).tolist()
        outgoing = np.unique(steps.relations[steps.forward]).tolist()
        return any(leads_to_person(names[relation]) for relation in incoming) or any(
            PERSON_NOUNS.intersection(relation_phrase(names[relation]).head_type.split())
            for relation in outgoing
        )


@lru_cache(maxsize=4096)
def leads_to_person(relation: str) -> bool:
    """Return whether a relation leads to persons: “directed_by”, “starred_actors”, `spouse`."""
    phrase = relation_phrase(relation)
    connector_words = phrase.connector.split()
    if (
        len(connector_words) > 1
        and connector_words[-1] == "by"
        and agent_noun(connector_words[-2]) != connector_words[-2]
    ):
        return True
    return bool(PERSON_ROLE_PATTERN.search(phrase.noun.split()[-1]))


def type_of_name(name: str) -> str:
    """Return the type that a name looks like, `TIME_ANSWER`, `NUMBER_ANSWER` or empty."""
    name = name.strip()
    if YEAR_NAME_PATTERN.match(name) or DATE_NAME_PATTERN.match(name):
        return TIME_ANSWER
    return NUMBER_ANSWER if NUMBER_NAME_PATTERN.match(name) else ""
