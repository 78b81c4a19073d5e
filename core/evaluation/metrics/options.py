"""Multiple-choice questions in QuALITY's format.

This module reads the chosen option from a reply and checks whether it is the correct one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import ascii_uppercase

from core.languages.spelling import normalize
from core.types import Question

ALONE = re.compile(r"^\W*([A-Z])\W*$")
MARKED = re.compile(r"^\W*([A-Z])\s*[).:\]]|\(([A-Z])\)")
NAMED = re.compile(r"\b(?:answer|option|choice)(?:\s+is)?\W{0,4}([A-Z])\b(?!['’])", re.IGNORECASE)


def chosen(reply: str, options: Sequence[str]) -> int | None:
    """Return the index of the option that a reply chooses, or None.

    It is None if no option, or more than one, can be read from the reply. The rules are tried in
    this order: a letter alone; the last letter in a phrase like “the answer is B”; letters in
    brackets or before a bracket, if they are all the same; the only option whose words occur in the
    reply. If one option's words contain another's, the longer one counts.

    >>> from core.evaluation.metrics.options import chosen
    >>> options = ["a boy", "a turkey", "a big turkey"]
    >>> [chosen(reply, options) for reply in ("B", "(B) a turkey", "I think the answer is C.",
    ...                                       "A big turkey!", "A or B")]
    [1, 1, 2, 2, None]
    """
    alone = ALONE.match(reply)
    if alone:
        return _place(alone[1], options)
    named = [
        found
        for letter in NAMED.findall(reply)
        if letter.isupper() and (found := _place(letter, options)) is not None
    ]
    if named:
        return named[-1]
    marked = {
        found
        for pair in MARKED.findall(reply)
        if (found := _place(pair[0] or pair[1], options)) is not None
    }
    if marked:
        return marked.pop() if len(marked) == 1 else None
    said, words = f" {normalize(reply)} ", [normalize(option) for option in options]
    held = [place for place, text in enumerate(words) if text and f" {text} " in said]
    longest = [
        place
        for place in held
        if not any(other != place and f" {words[place]} " in f" {words[other]} " for other in held)
    ]
    return longest[0] if len(longest) == 1 else None


def right_option(question: Question) -> int | None:
    """Return the index of the correct option, or None if there is none.

    The known answer is either the text of an option or its letter.

    >>> from core.evaluation.metrics.options import right_option
    >>> from core.types import Question
    >>> options = ("a boy", "a turkey")
    >>> (
    ...     right_option(Question("?", answers=("A turkey",), options=options)),
    ...     right_option(Question("?", answers=("B",), options=options)),
    ... )
    (1, 1)
    """
    for answer in question.answers:
        same = [
            place
            for place, option in enumerate(question.options)
            if normalize(option) == normalize(answer)
        ]
        if same:
            return same[0]
        alone = ALONE.match(answer)
        if alone and (place := _place(alone[1], question.options)) is not None:
            return place
    return None


def chosen_right(reply: str, question: Question) -> bool | None:
    """Return whether a reply chooses the correct option.

    It is None if the question has no options or its correct one is unknown.
    """
    right = right_option(question)
    return None if right is None else chosen(reply, question.options) == right


def _place(letter: str, options: Sequence[str]) -> int | None:
    place = ascii_uppercase.find(letter.upper())
    return place if 0 <= place < len(options) else None
