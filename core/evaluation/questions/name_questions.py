"""Questions with answers and gold passages, made from names alone, without a language model.

They are cheap and need no check by a person, so a corpus without questions can be evaluated.

| kind | question | answer | gold passages |
|---|---|---|---|
| cloze | Which name is missing in “_____ built the harbour of Oban.”? | Ann Lee | the sentence's |
| shared | Which name is mentioned together with “Oban” in one sentence, and … | Ann Lee | both |
| bridge | In “_____ built the harbour of Oban.” a name is missing. Which … | Tom Reid | both |

A shared question goes on with “and together with “Tom Reid” in another?”. A bridge question goes on
with “Which other name is mentioned together with it in one sentence of another passage?”.

Each question asks for a name that the texts determine. A sentence with a gap occurs once and
contains another name that is rare. The other kinds need two passages, which share one name, the
linking name (`link`). No passage and no sentence of the corpus contains the two names that it links, and no
other name links them. A bridge question does not contain the linking name, so its words cannot find
the second passage.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, product

import numpy as np

from core.evaluation.questions.named_sentences import NamedSentence, SentenceTable, spans_of
from core.languages.spelling import fold
from core.types import Question
from core.watch import NO_WATCH, Watch

GAP_TEXT = "_____"
CLOZE_KIND = "cloze"
SHARED_KIND = "shared"
BRIDGE_KIND = "bridge"
# Shares of the requested questions.
KIND_SHARES = {CLOZE_KIND: 0.5, SHARED_KIND: 0.25, BRIDGE_KIND: 0.25}
MIN_ASKED_SENTENCE_WORDS = 6
MAX_ASKED_SENTENCE_WORDS = 50
MAX_RARE_SENTENCES = 5  # maximum sentences with a name that still identifies a sentence
MAX_LINK_SENTENCES = 12  # maximum sentences with a linking name
CHECK_EVERY_CANDIDATES = 64  # candidates between two checks for cancellation
COMPLETE_SENTENCE = re.compile(r"^[\"'“‘(\[«]?[^\W_a-z].*[.!?…。！？][\"'”’)\]»]*$", re.DOTALL)

UNFIT_SENTENCE = "the sentence is cut, too short or too long"
REPEATED_SENTENCE = "the sentence is in the texts more than once"
NO_SINGLE_NAME = "each of its names is in it more than once, or is no proper name"
NO_RARE_NAME = "no other name in it is rare"
NO_LINK = "no name of it joins it to another passage"
NAMES_TOGETHER = "a passage holds both names"
SEVERAL_ANSWERS = "another name would be an answer too"
SAID_ELSEWHERE = "another passage says it too"
REPEATED_QUESTION = "the question was made already"


@dataclass
class MadeQuestions:
    """Questions by kind, and the number of rejected candidates by kind and reason.

    A candidate is a sentence, or for questions of a language model a passage.
    """

    questions: dict[str, list[Question]] = field(default_factory=dict)
    rejections: dict[str, Counter[str]] = field(default_factory=dict)

    def all_questions(self) -> tuple[Question, ...]:
        """Return all questions, kind by kind."""
        return tuple(chain.from_iterable(self.questions.values()))

    def counts(self) -> dict[str, int]:
        """Return the number of questions of each kind."""
        return {kind: len(questions) for kind, questions in self.questions.items()}


def questions_from_names(
    table: SentenceTable, total: int, seed: int = 0, watch: Watch = NO_WATCH
) -> MadeQuestions:
    """Return questions made from a table of sentences.

    The kinds have the shares of `KIND_SHARES`; if one kind has too few, the others fill its share.
    The same texts, total and seed give the same questions. With another total, they may differ
    altogether.

    Parameters
    ----------
    table : sentences of a corpus, with their names.
    total : largest number of questions.
    seed : seed of the order in which sentences are tried.
    watch : may raise RunCancelled.

    Returns
    -------
    The questions, and how many sentences were rejected for each reason.
    """
    made_questions = MadeQuestions()
    question_texts: set[str] = set()
    pools: dict[str, list[Question]] = {}
    for kind_number, (kind, make) in enumerate(MAKERS_BY_KIND.items()):
        order = np.random.default_rng([seed, kind_number]).permutation(sorted(table.named))
        pool: list[Question] = []
        rejections = made_questions.rejections[kind] = Counter[str]()
        for number, row in enumerate(order.tolist()):
            if number % CHECK_EVERY_CANDIDATES == 0:
                watch.check()
            if len(pool) == total:
                break
            result = make(table, table.named[row])
            if isinstance(result, str):
                rejections[result] += 1
            elif fold(result.text) in question_texts:
                rejections[REPEATED_QUESTION] += 1
            else:
                question_texts.add(fold(result.text))
                pool.append(result)
        pools[kind] = pool
    counts = kind_counts({kind: len(pool) for kind, pool in pools.items()}, KIND_SHARES, total)
    made_questions.questions = {
        kind: [
            replace(question, id=f"{kind}-{number}")
            for number, question in enumerate(pools[kind][:count], 1)
        ]
        for kind, count in counts.items()
    }
    return made_questions


def kind_counts(available: dict[str, int], shares: dict[str, float], total: int) -> dict[str, int]:
    """Return how many questions of each kind to take.

    Each kind gets its share. If a kind has too few questions, the others fill its share.

    Parameters
    ----------
    available : available questions of each kind.
    shares : share of each kind.
    total : number of questions in all.

    Returns
    -------
    Numbers by kind; fewer than `total` together if there are fewer questions.

    Examples
    --------
    >>> from core.evaluation.questions.name_questions import kind_counts
    >>> kind_counts(
    ...     {"cloze": 90, "shared": 1, "bridge": 9},
    ...     {"cloze": 0.5, "shared": 0.25, "bridge": 0.25},
    ...     20,
    ... )
    {'cloze': 10, 'shared': 1, 'bridge': 9}
    """
    counts = {
        kind: min(available.get(kind, 0), round(share * total)) for kind, share in shares.items()
    }
    for kind in reversed(shares):  # the last kinds, over two passages, fill a gap first
        further_count = min(available.get(kind, 0) - counts[kind], total - sum(counts.values()))
        counts[kind] += max(0, further_count)
    return counts


def make_cloze(table: SentenceTable, sentence: NamedSentence) -> Question | str:
    """Make the question for a name that is left out of a sentence.

    Parameters
    ----------
    table : sentences of a corpus, with their names.
    sentence : one of them.

    Returns
    -------
    The question without an id, or the reason why there is none.
    """
    if fault := sentence_fault(table, sentence):
        return fault
    names = [
        name
        for name in sentence.names_occurring_once
        if is_proper_name(name) and not _leaks_name(sentence.text, name)
    ]
    for name in names:
        if _is_identified(table, sentence, name):
            text = f"Which name is missing in “{_with_gap(sentence.text, name)}”?"
            return Question(text, answers=(name,), hops=1, gold=(table.passage(sentence),))
    return NO_RARE_NAME if names else NO_SINGLE_NAME


def make_shared(table: SentenceTable, sentence: NamedSentence) -> Question | str:
    """Make the question for the linking name of two passages.

    The question gives one other name of each passage.

    Parameters
    ----------
    table : sentences of a corpus, with their names.
    sentence : a sentence of the first passage.

    Returns
    -------
    The question without an id, or the reason why there is none.
    """
    if fault := sentence_fault(table, sentence):
        return fault
    reasons: list[str] = []
    for link, other_sentence in _connections(table, sentence):
        names = _rare_names(table, sentence, link)
        for a, b in product(names, _rare_names(table, other_sentence, link)):
            reason = _pair_fault(table, sentence, other_sentence, link, a, b)
            if not reason:
                first, second = sorted((a, b), key=fold)
                text = (
                    f"Which name is mentioned together with “{first}” in one sentence, and together "
                    f"with “{second}” in another?"
                )
                gold = (table.passage(sentence), table.passage(other_sentence))
                return Question(text, answers=(link,), hops=2, gold=gold)
            reasons.append(reason)
    return reasons[0] if reasons else NO_LINK


def make_bridge(table: SentenceTable, sentence: NamedSentence) -> Question | str:
    """Make the question from a gap to a name in another passage.

    The missing name is the linking name. The other passage mentions it together with the answer.

    Parameters
    ----------
    table : sentences of a corpus, with their names.
    sentence : the sentence with the gap.

    Returns
    -------
    The question without an id, or the reason why there is none.
    """
    if fault := sentence_fault(table, sentence):
        return fault
    reasons: list[str] = []
    for link, other_sentence in _connections(table, sentence):
        other_names = [name for name in other_sentence.names if fold(name) != fold(link)]
        if _leaks_name(sentence.text, link) or not _is_identified(table, sentence, link):
            reasons.append(NO_RARE_NAME)
        elif table.rows_with(link) != {sentence.row, other_sentence.row} or len(other_names) != 1:
            reasons.append(SEVERAL_ANSWERS)
        elif not is_proper_name(other_names[0]) or spans_of(
            table.surrounding_text(sentence), other_names[0]
        ):
            reasons.append(NAMES_TOGETHER)
        else:
            text = (
                f"In “{_with_gap(sentence.text, link)}” a name is missing. Which other name is "
                "mentioned together with it in one sentence of another passage?"
            )
            gold = (table.passage(sentence), table.passage(other_sentence))
            return Question(text, answers=(other_names[0],), hops=2, gold=gold)
    return reasons[0] if reasons else NO_LINK


MAKERS_BY_KIND: dict[str, Callable[[SentenceTable, NamedSentence], Question | str]] = {
    CLOZE_KIND: make_cloze,
    SHARED_KIND: make_shared,
    BRIDGE_KIND: make_bridge,
}


def sentence_fault(table: SentenceTable, sentence: NamedSentence) -> str:
    """Return why no question may be made from a sentence.

    Parameters
    ----------
    table : sentences of a corpus, with their names.
    sentence : one of them.

    Returns
    -------
    The reason in a few words; empty if a question may be made.
    """
    word_count = len(sentence.text.split())
    has_fit_length = MIN_ASKED_SENTENCE_WORDS <= word_count <= MAX_ASKED_SENTENCE_WORDS
    if not has_fit_length or not COMPLETE_SENTENCE.match(sentence.text):
        return UNFIT_SENTENCE
    return REPEATED_SENTENCE if len(table.rows_with(sentence.text)) > 1 else ""


def is_proper_name(name: str) -> bool:
    """Return whether a name looks like a proper name.

    Such a name has more than two letters and is not in lower case. Names in scripts without capital
    letters are accepted.

    >>> from core.evaluation.questions.name_questions import is_proper_name
    >>> is_proper_name("Ann Lee"), is_proper_name("the harbour"), is_proper_name("Al"), is_proper_name("安住罗马")
    (True, False, False, True)
    """
    letters = [character for character in name if character.isalpha()]
    return len(letters) > 2 and not name.islower()


def _leaks_name(text: str, name: str) -> bool:
    """Return whether a sentence gives a name away.

    It does if it contains a word of the name outside the mention of the name.
    """
    remaining_text = _with_gap(text, name)
    return any(spans_of(remaining_text, word) for word in re.findall(r"\w{3,}", name))


def _with_gap(text: str, name: str) -> str:
    """Return the sentence with the one mention of a name replaced by a gap."""
    start, end = spans_of(text, name)[0]
    return f"{text[:start]}{GAP_TEXT}{text[end:]}"


def _is_identified(table: SentenceTable, sentence: NamedSentence, name: str) -> bool:
    """Return whether a sentence has a rare name besides `name`.

    A search can then find the sentence.
    """
    return bool(_rare_names(table, sentence, name))


def _rare_names(table: SentenceTable, sentence: NamedSentence, excluded: str) -> list[str]:
    """Return the proper names of a sentence, except `excluded`, that occur in few sentences."""
    others = (
        name for name in sentence.names if fold(name) != fold(excluded) and is_proper_name(name)
    )
    return [
        name
        for name in others
        if len(table.rows_with(name)) <= MAX_RARE_SENTENCES
        and not spans_of(name, excluded)
        and not spans_of(excluded, name)
    ]


def _connections(
    table: SentenceTable, sentence: NamedSentence
) -> Iterator[tuple[str, NamedSentence]]:
    """Yield each linking name of a sentence, with a sentence of the other passage.

    Both sentences are fit for questions and contain the linking name once.
    """
    for name in filter(is_proper_name, sentence.names_occurring_once):
        rows = table.rows_with(name)
        if len(rows) > MAX_LINK_SENTENCES:
            continue
        for row in sorted(rows - {sentence.row}):
            other_sentence = table.named.get(row)
            if other_sentence is None or sentence_fault(table, other_sentence):
                continue
            is_elsewhere = set(other_sentence.chunks).isdisjoint(sentence.chunks)
            if is_elsewhere and fold(name) in map(fold, other_sentence.names_occurring_once):
                yield name, other_sentence


def _pair_fault(
    table: SentenceTable, first: NamedSentence, second: NamedSentence, link: str, a: str, b: str
) -> str:
    """Return why two names do not determine their linking name, empty if they do.

    `a` is a name in the `first` sentence and `b` one in the `second`. They do if neither passage
    contains both, each occurs with the linking name in its own sentence alone, and no other name
    occurs with both of them.
    """
    if fold(a) == fold(b) or _rows_with_both(table, a, b):
        return NAMES_TOGETHER
    if spans_of(table.surrounding_text(first), b) or spans_of(table.surrounding_text(second), a):
        return NAMES_TOGETHER
    for name, sentence in ((a, first), (b, second)):
        if _rows_with_both(table, link, name) != {sentence.row}:
            return SAID_ELSEWHERE
    return "" if _neighbours(table, a) & _neighbours(table, b) == {fold(link)} else SEVERAL_ANSWERS


def _rows_with_both(table: SentenceTable, a: str, b: str) -> frozenset[int]:
    """Return the rows of the sentences that contain two names."""
    return table.rows_with(a) & table.rows_with(b)


def _neighbours(table: SentenceTable, name: str) -> set[str]:
    """Return the names that share a sentence with a name.

    They are folded (lower case, plain letters).
    """
    rows = table.rows_with(name) & table.named.keys()
    names = chain.from_iterable(table.named[row].names for row in rows)
    return set(map(fold, names)) - {fold(name)}


def kind_of(question: Question) -> str:
    """Return the kind of a made question, from its id.

    >>> from core.evaluation.questions.name_questions import kind_of
    >>> from core.types import Question
    >>> kind_of(Question("?", "cloze-12"))
    'cloze'
    """
    return question.id.rpartition("-")[0]


MADE_QUESTIONS_NOTE = (
    "These are made questions, not yours: they show whether passages are found, not whether "
    "answers are right or overviews good."
)
MADE_SET_SUFFIX = "-made"  # suffix of the names of sets of made questions
# Names of the kinds of made questions in sentences.
KIND_WORDS = {
    "written": "questions by a language model",
    CLOZE_KIND: "fill-in-the-blank questions",
    SHARED_KIND: "two-name questions",
    BRIDGE_KIND: "two-hop questions",
}


def rejection_sentences(rejections: Mapping[str, Mapping[str, int]]) -> tuple[str, ...]:
    """Return a sentence per kind on how many candidates gave no question, and why.

    The most frequent reasons come first. Kinds without rejected candidates are left out.

    >>> from core.evaluation.questions.name_questions import rejection_sentences
    >>> rejection_sentences(
    ...     {"cloze": {"the sentence is cut": 1, "no other name in it is rare": 12}, "shared": {}}
    ... )
    ('Of 13 candidates for fill-in-the-blank questions no question was made: no other name in it is
    rare (12), the sentence is cut (1).',)
    """
    sentences = []
    for kind, reasons in rejections.items():
        if reasons:
            ordered = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
            text = ", ".join(f"{reason} ({count:,})" for reason, count in ordered)
            sentences.append(
                f"Of {sum(reasons.values()):,} candidates for {KIND_WORDS.get(kind, kind)} no "
                f"question was made: {text}."
            )
    return tuple(sentences)
