"""Questions with gold passages made from names alone, without a language model: gaps in a sentence, and two kinds over two passages.

| kind | question | answer | gold passages |
|---|---|---|---|
| cloze | Which name is missing in “_____ built the harbour of Oban.”? | Ann Lee | the one that holds the sentence |
| shared | Which name is mentioned together with “Oban” in one sentence, and with “Tom Reid” in another? | Ann Lee | both |
| bridge | In “_____ built the harbour of Oban.” a name is missing. Which other name … in another passage? | Tom Reid | both |

Each asks for a name that the texts determine: a gap is of a sentence that is there once and holds another name that is rare. For the
two kinds over two passages neither passage holds both names, no sentence of the corpus does, and one name alone joins them. A bridge's
question does not hold the name that joins its passages, so that the second one cannot be found by the question's words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from core.evaluation.questions.named_sentences import NamedSentence, SentenceTable, spans_of
from core.languages.spelling import fold
from core.types import Question
from core.watch import NO_WATCH, Watch

GAP = "_____"
CLOZE, SHARED, BRIDGE = "cloze", "shared", "bridge"
SHARES = {CLOZE: 0.5, SHARED: 0.25, BRIDGE: 0.25}  # of the questions that are wanted
FEWEST_WORDS, MOST_WORDS = 6, 50  # of a sentence that is asked about
RARE = 5  # sentences of the corpus that a name may be in that makes a sentence known
JOINS = 12  # sentences that a name may be in which joins two passages
EVERY = 64  # candidates between two looks at whether somebody cancelled
WHOLE = re.compile(r"^[\"'“‘(\[«]?[^\W_a-z].*[.!?…。！？][\"'”’)\]»]*$", re.DOTALL)

ODD = "the sentence is cut, too short or too long"
TWICE = "the sentence is in the texts more than once"
AGAIN = "each of its names is in it more than once, or is no proper name"
ALONE = "no other name in it is rare"
NO_JOIN = "no name of it joins it to another passage"
BOTH = "a passage holds both names"
OTHERS = "another name would be an answer too"
ELSEWHERE = "another passage says it too"
SAME = "the question was made already"


@dataclass
class MadeQuestions:
    """Questions by kind, and for each kind how many candidates were left out for which reason."""

    questions: dict[str, list[Question]] = field(default_factory=dict)
    left: dict[str, Counter[str]] = field(default_factory=dict)

    def all(self) -> tuple[Question, ...]:
        """All questions, kind by kind."""
        return tuple(question for some in self.questions.values() for question in some)

    def counts(self) -> dict[str, int]:
        """How many there are of each kind."""
        return {kind: len(some) for kind, some in self.questions.items()}


def from_names(
    table: SentenceTable, wanted: int, seed: int = 0, watch: Watch = NO_WATCH
) -> MadeQuestions:
    """At most `wanted` questions made from a table of sentences, by kinds in the parts of `SHARES`; what one kind lacks another fills.

    The same texts and seed give the same questions; a smaller number is not a part of a larger one. Raises what `watch` raises.
    """
    found, asked, pools = MadeQuestions(), set[str](), dict[str, list[Question]]()
    for kind, make in MAKERS.items():
        order = np.random.default_rng([seed, list(MAKERS).index(kind)]).permutation(
            sorted(table.named)
        )
        pool: list[Question] = []
        left = found.left[kind] = Counter[str]()
        for number, row in enumerate(order.tolist()):
            if number % EVERY == 0:
                watch.check()
            if len(pool) == wanted:
                break
            made = make(table, table.named[row])
            if isinstance(made, str):
                left[made] += 1
            elif fold(made.text) in asked:
                left[SAME] += 1
            else:
                asked.add(fold(made.text))
                pool.append(made)
        pools[kind] = pool
    taken = shares({kind: len(pool) for kind, pool in pools.items()}, SHARES, wanted)
    found.questions = {
        kind: [_numbered(kind, at, one) for at, one in enumerate(pools[kind][:count], 1)]
        for kind, count in taken.items()
    }
    return found


def shares(there: dict[str, int], parts: dict[str, float], wanted: int) -> dict[str, int]:
    """How many of each kind to take of those that are there: its part of what is wanted, and what others lack in the order of `parts`.

    >>> from core.evaluation.questions.from_names import shares
    >>> shares({"cloze": 90, "shared": 1, "bridge": 9}, {"cloze": 0.5, "shared": 0.25, "bridge": 0.25}, 20)
    {'cloze': 10, 'shared': 1, 'bridge': 9}
    """
    taken = {kind: min(there.get(kind, 0), round(part * wanted)) for kind, part in parts.items()}
    for kind in reversed(parts):
        taken[kind] += max(0, min(there.get(kind, 0) - taken[kind], wanted - sum(taken.values())))
    return taken


def cloze(table: SentenceTable, sentence: NamedSentence) -> Question | str:
    """The question for a name that is left out of a sentence, or the reason why there is none."""
    if fault := unfit(table, sentence):
        return fault
    for name in sentence.once:
        if not proper(name) or _leaks(sentence.text, name):
            continue
        if _known_by(table, sentence, name):
            text = f"Which name is missing in “{_gap(sentence.text, name)}”?"
            return Question(text, answers=(name,), hops=1, gold=(table.passage(sentence),))
    if any(proper(name) and not _leaks(sentence.text, name) for name in sentence.once):
        return ALONE
    return AGAIN


def shared(table: SentenceTable, sentence: NamedSentence) -> Question | str:
    """The question for the name that joins two names of different passages, or the reason why there is none."""
    if fault := unfit(table, sentence):
        return fault
    reasons: list[str] = []
    for joint, other in _joined(table, sentence):
        for a, b in product(_rare(table, sentence, joint), _rare(table, other, joint)):
            reason = _no_pair(table, sentence, other, joint, a, b)
            if not reason:
                one, two = sorted((a, b), key=fold)
                text = f"Which name is mentioned together with “{one}” in one sentence, and together with “{two}” in another?"
                return Question(
                    text,
                    answers=(joint,),
                    hops=2,
                    gold=(table.passage(sentence), table.passage(other)),
                )
            reasons.append(reason)
    return reasons[0] if reasons else NO_JOIN


def bridge(table: SentenceTable, sentence: NamedSentence) -> Question | str:
    """The question from a sentence with a gap, by way of the missing name, to the name that another passage gives with it; or the reason
    why there is none."""
    if fault := unfit(table, sentence):
        return fault
    reasons: list[str] = []
    for joint, other in _joined(table, sentence):
        beside = [name for name in other.names if fold(name) != fold(joint)]
        if _leaks(sentence.text, joint) or not _known_by(table, sentence, joint):
            reasons.append(ALONE)
        elif table.where(joint) != {sentence.row, other.row} or len(beside) != 1:
            reasons.append(OTHERS)
        elif not proper(beside[0]) or spans_of(table.around(sentence), beside[0]):
            reasons.append(BOTH)
        else:
            text = (
                f"In “{_gap(sentence.text, joint)}” a name is missing. Which other name is mentioned together with it in one sentence of "
                "another passage?"
            )
            return Question(
                text,
                answers=(beside[0],),
                hops=2,
                gold=(table.passage(sentence), table.passage(other)),
            )
    return reasons[0] if reasons else NO_JOIN


MAKERS: dict[str, Callable[[SentenceTable, NamedSentence], Question | str]] = {
    CLOZE: cloze,
    SHARED: shared,
    BRIDGE: bridge,
}


def unfit(table: SentenceTable, sentence: NamedSentence) -> str:
    """Why no question is made of a sentence; empty where one may be."""
    if not FEWEST_WORDS <= len(sentence.text.split()) <= MOST_WORDS or not WHOLE.match(
        sentence.text
    ):
        return ODD
    return TWICE if len(table.where(sentence.text)) > 1 else ""


def proper(name: str) -> bool:
    """Whether a name is long enough to ask for, and has a capital letter or one of a script without them.

    >>> from core.evaluation.questions.from_names import proper
    >>> proper("Ann Lee"), proper("the harbour"), proper("Al"), proper("安住罗马")
    (True, False, False, True)
    """
    letters = [character for character in name if character.isalpha()]
    return len(letters) > 2 and not name.islower()


def _leaks(text: str, name: str) -> bool:
    """Whether a sentence holds a word of the name elsewhere too."""
    rest = _gap(text, name)
    return any(spans_of(rest, word) for word in re.findall(r"\w{3,}", name))


def _gap(text: str, name: str) -> str:
    """The sentence with the one mention of a name left out."""
    start, end = spans_of(text, name)[0]
    return f"{text[:start]}{GAP}{text[end:]}"


def _known_by(table: SentenceTable, sentence: NamedSentence, name: str) -> bool:
    """Whether a sentence has a rare name beside this one, by which it is known."""
    return bool(_rare(table, sentence, name))


def _rare(table: SentenceTable, sentence: NamedSentence, beside: str) -> list[str]:
    """The proper names of a sentence, other than one, that few sentences hold."""
    others = (name for name in sentence.names if fold(name) != fold(beside) and proper(name))
    return [
        name
        for name in others
        if len(table.where(name)) <= RARE
        and not spans_of(name, beside)
        and not spans_of(beside, name)
    ]


def _joined(table: SentenceTable, sentence: NamedSentence) -> Iterator[tuple[str, NamedSentence]]:
    """The names of a sentence that lead to a sentence of another passage, with that sentence; both are fit to be asked about."""
    for name in sentence.once:
        rows = table.where(name) if proper(name) else frozenset()
        for row in sorted(rows - {sentence.row}) if 1 < len(rows) <= JOINS else ():
            other = table.named.get(row)
            if other is None or unfit(table, other) or set(other.chunks) & set(sentence.chunks):
                continue
            if fold(name) in (fold(known) for known in other.once):
                yield name, other


def _no_pair(
    table: SentenceTable, first: NamedSentence, second: NamedSentence, joint: str, a: str, b: str
) -> str:
    """Why two names ask for no joint of theirs; empty where neither passage holds both, and the joint alone is named with each, once."""
    if (
        fold(a) == fold(b)
        or spans_of(table.around(first), b)
        or spans_of(table.around(second), a)
        or _with(table, a, b)
    ):
        return BOTH
    if _with(table, joint, a) != {first.row} or _with(table, joint, b) != {second.row}:
        return ELSEWHERE
    return "" if _neighbours(table, a) & _neighbours(table, b) == {fold(joint)} else OTHERS


def _with(table: SentenceTable, a: str, b: str) -> frozenset[int]:
    """The rows of the sentences that hold two names."""
    return table.where(a) & table.where(b)


def _neighbours(table: SentenceTable, name: str) -> set[str]:
    """The names that share a sentence with one, in small letters."""
    rows = (table.named[row] for row in table.where(name) if row in table.named)
    return {fold(other) for sentence in rows for other in sentence.names} - {fold(name)}


def _numbered(kind: str, number: int, question: Question) -> Question:
    return Question(
        question.text,
        f"{kind}-{number}",
        answers=question.answers,
        hops=question.hops,
        gold=question.gold,
    )


def kind_of(question: Question) -> str:
    """The kind of a made question, by its id.

    >>> from core.evaluation.questions.from_names import kind_of
    >>> from core.types import Question
    >>> kind_of(Question("?", "cloze-12"))
    'cloze'
    """
    return question.id.rpartition("-")[0]


NOT_YOURS = "These are made questions, not yours: they show whether passages are found, not whether answers are right or overviews good."
MADE_SET = "-made"  # how the names of sets of made questions end
KIND_WORDS = {
    "written": "questions by a language model",
    CLOZE: "gaps",
    SHARED: "shared names",
    BRIDGE: "bridges",
}
"""The kinds of made questions as sentences name them."""


def left_out(left: Mapping[str, Mapping[str, int]]) -> tuple[str, ...]:
    """How many candidates gave no question, and why, the most frequent reasons first: a sentence for each kind that lost some.

    >>> from core.evaluation.questions.from_names import left_out
    >>> left_out({"cloze": {"the sentence is cut": 1, "no other name in it is rare": 12}, "shared": {}})
    ('Of 13 candidates for gaps no question was made: no other name in it is rare (12), the sentence is cut (1).',)
    """
    sentences = []
    for kind, reasons in left.items():
        if reasons:
            listed = ", ".join(
                f"{why} ({count:,})"
                for why, count in sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
            )
            sentences.append(
                f"Of {sum(reasons.values()):,} candidates for {KIND_WORDS.get(kind, kind)} no question was made: {listed}."
            )
    return tuple(sentences)
