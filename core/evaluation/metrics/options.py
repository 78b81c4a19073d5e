"""Options of multiple-choice questions in QuALITY's format: the chosen one and the correct one.

Options have the letters A, B, C and so on, in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from string import ascii_uppercase

from core.languages.spelling import normalize
from core.types import Question

# A letter alone, a letter in or before brackets or punctuation, a letter after “the answer is”.
LONE_LETTER = re.compile(r"^\W*([A-Z])\W*$")
BRACKETED_LETTER = re.compile(r"^\W*([A-Z])\s*[).:\]]|\(([A-Z])\)")
NAMED_LETTER = re.compile(
    r"\b(?:answer|option|choice)(?:\s+is)?\W{0,4}([A-Z])\b(?!['’])", re.IGNORECASE
)


def chosen_option(reply: str, options: Sequence[str]) -> int | None:
    """Return the index of the option that a reply chooses.

    The rules are tried in this order: a letter alone; the last letter in a phrase like “the answer
    is B”; letters in brackets or before a bracket, if they are all the same; the only option whose
    words occur in the reply. If one option's words contain another's, the longer one counts.

    Parameters
    ----------
    reply : the text of a language model.
    options : the options, in the order of their letters.

    Returns
    -------
    The index from 0. None if no option, or more than one, can be read from the reply.

    Examples
    --------
    >>> from core.evaluation.metrics.options import chosen_option
    >>> options = ["a boy", "a turkey", "a big turkey"]
    >>> [chosen_option(reply, options) for reply in ("B", "(B) a turkey", "I think the answer is C.",
    ...                                       "A big turkey!", "A or B")]
    [1, 1, 2, 2, None]
    """
    letter_match = LONE_LETTER.match(reply)
    if letter_match:
        return _option_index(letter_match[1], options)
    capital_letters = filter(str.isupper, NAMED_LETTER.findall(reply))
    named_options = _option_indices(capital_letters, options)
    if named_options:
        return named_options[-1]
    # Of the two groups of a match, one is empty: `B)` fills the first, `(B)` the second.
    marked_letters = (before or inside for before, inside in BRACKETED_LETTER.findall(reply))
    marked_options = set(_option_indices(marked_letters, options))
    if marked_options:
        return marked_options.pop() if len(marked_options) == 1 else None
    return _option_by_words(reply, options)


def _option_indices(letters: Iterable[str], options: Sequence[str]) -> list[int]:
    """Return the index of the option of each letter.

    Letters that stand for no option are left out.
    """
    indices = (_option_index(letter, options) for letter in letters)
    return [index for index in indices if index is not None]


def _option_by_words(reply: str, options: Sequence[str]) -> int | None:
    """Return the index of the only option whose words occur in a reply.

    Options whose words occur in those of another such option do not count.
    """
    padded_reply = f" {normalize(reply)} "
    words = [normalize(option) for option in options]
    matching = [index for index, text in enumerate(words) if text and f" {text} " in padded_reply]
    longest = [
        index
        for index in matching
        if not any(
            other != index and f" {words[index]} " in f" {words[other]} " for other in matching
        )
    ]
    return longest[0] if len(longest) == 1 else None


def right_option(question: Question) -> int | None:
    """Return the index of the correct option, or None if it is unknown.

    A known answer of the question is either the text of the option or its letter.

    >>> from core.evaluation.metrics.options import right_option
    >>> from core.types import Question
    >>> options = ("a boy", "a turkey")
    >>> (
    ...     right_option(Question("?", answers=("A turkey",), options=options)),
    ...     right_option(Question("?", answers=("B",), options=options)),
    ... )
    (1, 1)
    """
    options = [normalize(option) for option in question.options]
    for answer in question.answers:
        if normalize(answer) in options:
            return options.index(normalize(answer))
        letter_match = LONE_LETTER.match(answer)
        index = _option_index(letter_match[1], options) if letter_match else None
        if index is not None:
            return index
    return None


def is_choice_right(reply: str, question: Question) -> bool | None:
    """Return whether a reply chooses the correct option.

    Parameters
    ----------
    reply : the text of a language model.
    question : a question with options.

    Returns
    -------
    True or False; None if the question has no options or its correct one is unknown.
    """
    right = right_option(question)
    return None if right is None else chosen_option(reply, question.options) == right


def _option_index(letter: str, options: Sequence[str]) -> int | None:
    """Return the index of a letter's option; None if there are fewer options."""
    index = ascii_uppercase.find(letter.upper())
    return index if 0 <= index < len(options) else None
