"""The text that answers a question, against the known answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from core.diagnosis.matching import match, says
from core.evaluation.metrics.options import chosen_right
from core.languages.spelling import answer_words, normalize
from core.types import State

MODEL, READER, EXCERPT, OWN = (
    "language model",
    "graph reader",
    "nearest sentence",
    "the method itself",
)
WHOLE = {"yes", "no", "noanswer"}  # answers that count as a whole only


@dataclass(frozen=True)
class Answered:
    """The answer's text, who gave it, how many known answers it holds, and its number of lines that are not empty."""

    text: str
    by: str
    found: int
    lines: int
    tokens: float | None = None  # share of the words of the known answers that it has
    joined: bool | None = None  # whether it has all known answers as one string, in their order
    option: bool | None = (
        None  # whether the option that is read from it is the right one, where the question has options
    )
    own_tokens: float | None = None  # share of its own words that the known answers have
    exact: bool | None = None  # whether the whole text is a known answer and nothing else
    parts: float | None = None  # share of the parts of the known answer of which it has a name
    joined_tokens: float | None = None  # share of the words of all names of the known answers


def answered(graph, state: State) -> Answered | None:
    """The language model's text, or the answer that came along with what was retrieved; where there is neither, the names the graph reader
    gives, one a line, or the nearest sentence; against the known answers of the state's question.

    >>> from core.evaluation.metrics.answering import answered
    >>> from core.types import Question, State
    >>> found = answered(toy, State(Question("?", answers=("B", "E")), reader=(3, 1)))  # the lines D and B
    >>> found.by, found.found, found.lines
    ('graph reader', 1, 2)
    """
    if state.answer is not None:
        text, by = state.answer, OWN if state.own_answer else MODEL
    elif state.reader is not None:
        text, by = "\n".join(graph.names(state.reader)), READER
    elif state.excerpt is not None:
        text, by = state.excerpt.text, EXCERPT
    else:
        return None
    question, lines = state.question, sum(bool(line.strip()) for line in text.splitlines())
    named, option = (
        [question.names(answer) for answer in dict.fromkeys(question.answers)],
        chosen_right(text, question),
    )
    has = lambda names: any(says(text, name) for name in names)
    found = sum(map(has, named))
    if not named:
        return Answered(text, by, found, lines, option=option)
    gold = " ".join(_nearest(text, names) for names in named)
    words, own, whole = (
        shared_words(text, gold),
        shared_words(gold, text),
        exact(text, [name for names in named for name in names]),
    )
    return Answered(
        text,
        by,
        found,
        lines,
        words,
        match(text, gold),
        option,
        own,
        whole,
        fmean(map(has, question.parts)),
        shared_words(text, " ".join(name for names in named for name in names)),
    )


def _nearest(text: str, names: Sequence[str]) -> str:
    """Of an answer's names the one that shares the most words with a text, the first of equal ones."""
    return max(names, key=lambda name: (shared_words(text, name), shared_words(name, text)))


def exact(text: str, answers: Sequence[str]) -> bool:
    """Return whether a text is one of the known answers, both normalised (SQuAD's exact match).

    >>> from core.evaluation.metrics.answering import exact
    >>> exact("The Ann.", ["Ann", "Bob"]), exact("It was Ann", ["Ann"]), exact("", [""])
    (True, False, False)
    """
    said = normalize(text)
    return bool(said) and any(said == normalize(answer) for answer in answers)


def shared_words(text: str, gold: str) -> float:
    """The share of the words of the known answer that a text has, each as often as it has it (SQuAD's token recall; in-depth analysis).
    With the two in each other's place it is SQuAD's token precision.

    Both are normalised, and of a script without blanks each letter is a word, as in the scorers of DRCD
    and CMRC. Where one of them is yes, no or noanswer and the other is not the same, it is 0.

    >>> from core.evaluation.metrics.answering import shared_words
    >>> shared_words("The poor clerk Bob", "Bob Cratchit"), shared_words("No, he was not.", "no"), shared_words("no", "No!")
    (0.5, 0.0, 1.0)
    >>> shared_words("答案是北京大学。", "北京大学")
    1.0
    """
    said, wanted = normalize(text), normalize(gold)
    if said != wanted and {said, wanted} & WHOLE:
        return 0.0
    words = Counter(answer_words(gold))
    return sum((words & Counter(answer_words(text))).values()) / words.total() if words else 0.0
