"""Make texts after a regular expression on which a careless one is slow.

It takes the square of their length there, or worse.
"""

from __future__ import annotations

import gc
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from re import Pattern
from re import _constants as kinds  # type: ignore[attr-defined]  # the parser of the standard library, which is not public
from re import _parser as parser  # type: ignore[attr-defined]

LENGTHS = (250, 2_000, 16_000)  # characters of the texts
SOON, TOO_LATE = (
    0.0003,
    0.5,
)  # seconds of the processor: the square of the first are 0.02 for the longest text
SUSPICIOUS, OUT_OF_PROPORTION = (
    10,
    24,
)  # times the time of an eighth; in proportion are 8, the square is 64
AGAIN = 3  # times that it has to be so, as a busy machine is slow once in a while
OF_CATEGORY = {kinds.CATEGORY_DIGIT: "0", kinds.CATEGORY_SPACE: " ", kinds.CATEGORY_WORD: "a"}
ENDS = ("\0", "\n\0")


def slow_text(pattern: Pattern, anywhere: bool = True) -> str:
    """Return the beginning of a text on which a pattern is slow.

    The pattern takes longer there than in proportion to the length. The result is empty where no
    such text was found. The pattern is looked for `anywhere` in the text, else at its beginning
    only.
    """
    tried = set()
    for recipe in _recipes(pattern):
        text = _text(recipe, LENGTHS[0])
        if text not in tried and all(
            _out_of_proportion(pattern, recipe, anywhere) for _ in range(AGAIN)
        ):
            return text[:60]
        tried.add(text)
    return ""


def _text(recipe: tuple[str, str, str], length: int) -> str:
    beginning, again, end = recipe
    return beginning + again * (length // len(again)) + end


def _out_of_proportion(pattern: Pattern, recipe: tuple[str, str, str], anywhere: bool) -> bool:
    """Return whether eight times the length takes much more than eight times the time.

    The longest text is only looked through where the others are suspicious. Where the second takes
    so little that even its square would not be long, that is all that is looked at.
    """
    shortest, text, longest = (_text(recipe, length) for length in LENGTHS)
    spent = _seconds(pattern, text, anywhere, SOON)
    if spent < SOON or spent == TOO_LATE:
        return spent == TOO_LATE
    if spent < SUSPICIOUS * _seconds(pattern, shortest, anywhere, TOO_LATE):
        return False
    most = min(OUT_OF_PROPORTION * spent, TOO_LATE)
    return _seconds(pattern, longest, anywhere, most) >= most


def _recipes(pattern: Pattern) -> Iterator[tuple[str, str, str]]:
    """A beginning of what the pattern finds, what comes again and again, and an end that spoils it."""
    binary = isinstance(pattern.pattern, bytes)
    source = pattern.pattern.decode("latin-1") if binary else pattern.pattern
    tree = parser.parse(source, pattern.flags)
    samples = {sample for sample in _samples(tree)}
    letters = sorted({letter for sample in samples for letter in sample} | {" ", "a", "\n"})
    for sample in sorted(samples):
        beginnings = [sample[:length] for length in range(len(sample) + 1)]
        for beginning in beginnings:
            for again in dict.fromkeys(
                [*letters, beginning or "a", sample[len(beginning) :] or "a"]
            ):
                yield from ((beginning, again, end) for end in ENDS)


def _samples(tree: parser.SubPattern, most: int = 4) -> list[str]:
    """Some of the texts that a parsed expression finds: each choice once, what may be repeated twice."""
    found = [""]
    for kind, value in tree:
        found = [before + part for before in found for part in _parts(kind, value)][:most]
    return found


def _parts(kind, value) -> list[str]:
    if kind is kinds.LITERAL:
        return [chr(value)]
    if kind in (kinds.NOT_LITERAL, kinds.ANY):
        return ["a" if value != ord("a") else "b"]
    if kind is kinds.IN:
        return [_member(value)]
    if kind is kinds.BRANCH:
        return [sample for branch in value[1] for sample in _samples(branch, 2)]
    if kind is kinds.SUBPATTERN:
        return _samples(value[-1])
    if kind is kinds.ATOMIC_GROUP:
        return _samples(value)
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
        least, most, inner = value
        return [sample * min(max(least, 2), most) for sample in _samples(inner)]
    return [""]  # places, looks ahead and references


def _member(choices) -> str:
    """A character of a class."""
    negated = choices[0][0] is kinds.NEGATE
    members: set[str] = set()
    for kind, value in choices[negated:]:
        if kind is kinds.LITERAL:
            members.add(chr(value))
        elif kind is kinds.RANGE:
            members |= {chr(value[0]), chr(value[1])}
        elif kind is kinds.CATEGORY:
            members.add(OF_CATEGORY.get(value, "!"))
    if not negated:
        return min(members)
    return next(letter for letter in "a b!0" if letter not in members)


def _seconds(pattern: Pattern, text: str, anywhere: bool, soon: float) -> float:
    """Return the processor's time that looking through a text takes in this thread.

    It is the least of three or the first below `soon`, and no more than `TOO_LATE`.
    """
    subject = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
    spent: list[float] = []
    while len(spent) < 3 and (not spent or min(spent) > soon):
        try:
            with _alarm(time.thread_time() + TOO_LATE):
                begun = time.thread_time()
                deque(pattern.finditer(subject), maxlen=0) if anywhere else pattern.match(subject)
                spent.append(time.thread_time() - begun)
        except TimeoutError:
            return TOO_LATE
    return min(spent)


@contextmanager
def _alarm(late: float) -> Iterator[None]:
    def ring(*_):  # in the time of all threads, some of which may be at other work
        if time.thread_time() >= late:
            # it rings once, also where what is raised here ends the lines that stop it
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, ring)
    gc.disable()  # what other tests left in memory is looked through in nobody's time
    signal.setitimer(signal.ITIMER_VIRTUAL, TOO_LATE, 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        gc.enable()
