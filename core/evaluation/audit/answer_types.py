"""Types of answers (yes or no, number, name), compared with what their questions ask for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.diagnosis.answer_match import YES_NO_ANSWERS
from core.evaluation.audit.findings import Finding
from core.languages import languages
from core.languages.language import ENGLISH
from core.languages.spelling import answer_words, fold, normalize
from core.types import Question

MAX_TYPED_WORDS = 8  # longer answers are sentences, whose type is not read
# Other keys of a question word, and the share of them that have a type, from which it is expected
# in a language without a list of number words.
MIN_LIKE_KEYS = 4
MIN_TYPE_SHARE = 0.9
YES_OR_NO = "yes or no"
TIME = "time"
NUMBER = "number"
PERSON = "person"
CHOICE = "choice"
OTHER = "other"
AUXILIARIES = frozenset(
    "is are was were am do does did has have had can could will would should".split()
)
TIME_PHRASES = ("what year", "which year", "what date", "which date", "what years", "which years")
# Words of English dates and numbers without digits.
NUMBER_WORDS = frozenset(
    "january february march april may june july august september october november december "
    "none zero one two three four five six seven eight nine ten eleven twelve thirteen fifteen "
    "twenty thirty forty fifty hundred thousand million billion dozen half once twice several "
    "century centuries decade decades".split()
)
TYPE_WORDS = {YES_OR_NO: "yes or no", TIME: "a time", NUMBER: "a number", PERSON: "a person"}
WORD = re.compile(r"[^\W_]+")
# A choice between two names at the end of a question.
CHOICE_PATTERN = re.compile(
    r"[,:] (?:[^,?]+, )*[^,?]+? (?:or|oder|ou) [^,?]+\??\s*$", re.IGNORECASE
)


@dataclass(frozen=True)
class AskedType:
    """Type that a question asks for, and the code of the language of its question word."""

    kind: str = ""
    language: str = ""


def asked_type(text: str) -> AskedType:
    """Return what a question asks for; empty if no question word says it.

    >>> from core.evaluation.audit.answer_types import asked_type
    >>> texts = ("Is Ann a sailor?", "Wann starb Ann?", "Who is older, Ann or Bo?", "Where is Ann?")
    >>> [asked_type(text).kind for text in texts]
    ['yes or no', 'time', 'choice', 'other']
    """
    folded = f" {' '.join(WORD.findall(fold(text)))} "
    first = folded.split()[:1]
    if first and first[0] in AUXILIARIES:
        is_open = " or " in folded or folded.split()[1:2] == ["you"]  # as in "can you name"
        return AskedType() if is_open else AskedType(YES_OR_NO, ENGLISH)
    if CHOICE_PATTERN.search(text):
        return AskedType(CHOICE, ENGLISH)
    if any(f" {phrase} " in folded for phrase in TIME_PHRASES):
        return AskedType(TIME, ENGLISH)
    for code, language in languages().items():
        for phrase, kind in language.kinds_by_question_phrase.items():
            if folded.startswith(f" {phrase} "):
                return AskedType(kind if kind in TYPE_WORDS else OTHER, code)
    return AskedType()


def answer_type(answer: str) -> str:
    """Return the type of an answer: yes or no, a number or date, else empty.

    >>> from core.evaluation.audit.answer_types import answer_type
    >>> [answer_type(text) for text in ("No.", "3,677 seated", "twelve", "Ann Lee")]
    ['yes or no', 'number', 'number', '']
    """
    if normalize(answer) in YES_NO_ANSWERS:
        return YES_OR_NO
    has_digit = any(sign.isdigit() for sign in answer)
    return NUMBER if has_digit or NUMBER_WORDS & set(answer_words(answer)) else ""


def type_findings(questions: Sequence[Question]) -> Iterator[Finding]:
    """Yield keys of another type than their question asks for."""
    asked = {one.id: asked_type(one.text) for one in questions if one.answers}
    clashes = {one.id: _clash(one, asked[one.id]) for one in questions if one.id in asked}
    n_keys = Counter(asked.values())
    n_fitting = Counter(asked[id] for id, clash in clashes.items() if clash is None)
    for id, clash in clashes.items():
        kind = asked[id]
        # Without a list of number words, the other keys must show the type.
        share = MIN_TYPE_SHARE * (n_keys[kind] - 1) if kind.language != ENGLISH else 0.0
        is_known = kind.language == ENGLISH or n_keys[kind] > MIN_LIKE_KEYS
        if clash is not None and is_known and n_fitting[kind] >= share:
            yield clash


def _clash(question: Question, asked: AskedType) -> Finding | None:
    """Return the finding on the first answer of another type than is asked for; None without."""
    if question.abstract or question.options:
        return None
    for answer in question.answers:
        words = answer_words(answer)
        if not 0 < len(words) <= MAX_TYPED_WORDS:
            continue
        wanted = _wanted(question, asked, answer)
        if wanted:
            text = f"The question asks for {wanted}, and the key is “{answer}”."
            return Finding(question.id, "other_type", text, (answer,))
    return None


def _wanted(question: Question, asked: AskedType, answer: str) -> str:
    """Return what is asked for, in words, if an answer is not of that type; else empty."""
    kind = answer_type(answer)
    words = set(answer_words(answer))
    if asked.kind == YES_OR_NO:
        return "" if kind == YES_OR_NO else TYPE_WORDS[YES_OR_NO]
    if asked.kind and kind == YES_OR_NO:
        return "a name or a value"
    if asked.kind in (TIME, NUMBER):
        return "" if kind == NUMBER else TYPE_WORDS[asked.kind]
    if asked.kind == PERSON:
        is_value = all(word in NUMBER_WORDS or word.isdigit() for word in words)
        return TYPE_WORDS[PERSON] if is_value else ""
    if asked.kind == CHOICE:
        return "" if words & set(answer_words(question.text)) else "one of the names in it"
    return ""
