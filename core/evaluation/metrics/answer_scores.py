"""Comparison of an answer's text with the known (correct) answers of its question.

The result, a `ScoredAnswer`, is the part of an outcome from which the answer metrics are computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean

from core.diagnosis.answer_match import contains_answer, gives_answer
from core.evaluation.metrics.options import is_choice_right
from core.languages.spelling import answer_words, normalize
from core.types import State

# Sources of an answer's text, as `ScoredAnswer.by` names them.
ANSWER_BY_MODEL = "language model"
ANSWER_BY_READER = "graph reader"
ANSWER_BY_EXCERPT = "nearest sentence"
ANSWER_BY_METHOD = "the method itself"
WHOLE_TEXT_ANSWERS = {"yes", "no", "noanswer"}  # answers that count only if they are the whole text


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer's text and its agreement with the known answers.

    `by` names its source, one of the `ANSWER_BY_...` constants. `found` is the number of known
    answers that the text contains, and `lines` the number of its non-empty lines. The other fields
    are None if no answer is known. The field names are those of saved runs.
    """

    text: str
    by: str
    found: int
    lines: int
    tokens: float | None = None  # share of the known answers' words that the text contains
    joined: bool | None = None  # the text contains all known answers, in order, as one string
    option: bool | None = None  # the chosen option is correct; None without options
    own_tokens: float | None = None  # share of the text's words that occur in the known answers
    exact: bool | None = None  # the text is a known answer and nothing else
    parts: float | None = None  # share of the answer's parts that the text names
    # Share of the words of the known answers and all their aliases that the text contains.
    joined_tokens: float | None = None


def score_answer(graph, state: State) -> ScoredAnswer | None:
    """Compare the answer of a state with the known answers of its question.

    The text is the language model's, or the answer that an external method returned with its
    retrieval. Without either, the text lists the names that the graph reader found, one per line.
    Without a graph reader, it is the sentence nearest to the question.

    Parameters
    ----------
    graph : the graph that the state refers to; provides the names of the graph reader's nodes.
    state : the last state of a method.

    Returns
    -------
    The comparison; None if there is no text at all.

    Examples
    --------
    >>> from core.evaluation.metrics.answer_scores import score_answer
    >>> from core.types import Question, State
    >>> # the lines D and B
    >>> found = score_answer(toy, State(Question("?", answers=("B", "E")), reader=(3, 1)))
    >>> found.by, found.found, found.lines
    ('graph reader', 1, 2)
    """
    if state.answer is not None:
        text = state.answer
        by = ANSWER_BY_METHOD if state.own_answer else ANSWER_BY_MODEL
    elif state.reader is not None:
        text, by = "\n".join(graph.names(state.reader)), ANSWER_BY_READER
    elif state.excerpt is not None:
        text, by = state.excerpt.text, ANSWER_BY_EXCERPT
    else:
        return None
    question = state.question
    answer_names = [question.answer_names(answer) for answer in dict.fromkeys(question.answers)]
    scored = ScoredAnswer(
        text,
        by,
        found=sum(_gives_any(text, names) for names in answer_names),
        lines=sum(bool(line.strip()) for line in text.splitlines()),
        option=is_choice_right(text, question),
    )
    if not answer_names:
        return scored
    all_names = list(chain.from_iterable(answer_names))
    # Of each answer's aliases, the one nearest to the text counts.
    gold = " ".join(_nearest_name(text, names) for names in answer_names)
    return replace(
        scored,
        tokens=shared_words(text, gold),
        joined=contains_answer(text, gold),
        own_tokens=shared_words(gold, text),
        exact=is_exact_match(text, all_names),
        parts=fmean(_gives_any(text, names) for names in question.answer_parts),
        joined_tokens=shared_words(text, " ".join(all_names)),
    )


def _gives_any(text: str, names: Iterable[str]) -> bool:
    return any(gives_answer(text, name) for name in names)


def _nearest_name(text: str, names: Sequence[str]) -> str:
    """Return the first of the names that share the most words with a text."""
    return max(names, key=lambda name: (shared_words(text, name), shared_words(name, text)))


def is_exact_match(text: str, answers: Sequence[str]) -> bool:
    """Return whether a text is one of the known answers, both normalised.

    Parameters
    ----------
    text : the answer of a method.
    answers : all names of the known answers.

    Returns
    -------
    False for a text that is empty after normalising.

    Notes
    -----
    Exact match of SQuAD.

    Examples
    --------
    >>> from core.evaluation.metrics.answer_scores import is_exact_match
    >>> is_exact_match("The Ann.", ["Ann", "Bob"]), is_exact_match("It was Ann", ["Ann"]), is_exact_match("", [""])
    (True, False, False)
    """
    normalized = normalize(text)
    return bool(normalized) and any(normalized == normalize(answer) for answer in answers)


def shared_words(text: str, gold: str) -> float:
    """Return the share of the known answer's words that a text contains.

    A word counts as often as both texts have it. Both texts are normalised. In a script without
    spaces each letter is a word.

    Parameters
    ----------
    text : the answer of a method.
    gold : the known answer.

    Returns
    -------
    A share from 0 to 1. It is 0 if the known answer has no words, or if one of the two texts is
        yes, no or noanswer and the other one differs.

    Notes
    -----
    Token recall of SQuAD; with the arguments swapped it is its token precision. The in-depth
    analysis (of graph-based RAG) uses the same measure. Letters count as words as in the scorers of DRCD and CMRC.

    Examples
    --------
    >>> from core.evaluation.metrics.answer_scores import shared_words
    >>> (
    ...     shared_words("The poor clerk Bob", "Bob Cratchit"),
    ...     shared_words("No, he was not.", "no"),
    ...     shared_words("no", "No!"),
    ... )
    (0.5, 0.0, 1.0)
    >>> shared_words("答案是北京大学。", "北京大学")
    1.0
    """
    normal_text, normal_gold = normalize(text), normalize(gold)
    if normal_text != normal_gold and {normal_text, normal_gold} & WHOLE_TEXT_ANSWERS:
        return 0.0
    words = Counter(answer_words(gold))
    shared = words & Counter(answer_words(text))
    return shared.total() / words.total() if words else 0.0
