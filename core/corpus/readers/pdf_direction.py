"""Conversion of right-to-left text of a PDF from screen order to reading order.

Most programs draw each line from left to right, also in Hebrew or Arabic. This screen order results
from the Unicode bidirectional algorithm (UAX #9), which is undone here line by line. Within a
right-to-left line, numbers and Latin words keep their direction.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from core.corpus.readers.pdf_ligatures import FIRST_SIGN, LAST_SIGN

RIGHT_TO_LEFT = ("R", "AL")  # bidirectional classes of Hebrew and Arabic letters
MIRRORED = dict(zip("()[]{}<>«»‹›", ")(][}{><»«›‹"))
OPENING_BRACKETS = frozenset("([{<«‹")
EUROPEAN = r"[0-9\u06f0-\u06f9]"
NUMBER_SIGN = r"[#$%£€¥₪°‰]"
# Digits with the signs between them, and adjacent currency or percent signs. After Arabic letters,
# a hyphen and a percent sign belong to the line instead.
HEBREW_NUMBER = re.compile(
    rf"{NUMBER_SIGN}{{0,2}}{EUROPEAN}"
    rf"(?:[.,:/\u00a0]?{EUROPEAN}|[+\-−]{EUROPEAN})*{NUMBER_SIGN}{{0,2}}"
)
ARABIC_NUMBER = re.compile(
    r"[0-9\u0660-\u0669\u06f0-\u06f9](?:[.,:/\u066b\u066c]?[0-9\u0660-\u0669\u06f0-\u06f9])*"
)
SEVERAL_BLANKS = re.compile(r" {2,}")
# Blanks that the text does not have: the layout places letters in columns of equal width.
FALSE_BLANK = re.compile(r"(?<=[(\[«]) | (?=[)\]».,،;؛:!?؟])")


def is_right_to_left(text: str) -> bool:
    """Return whether a text has any right-to-left letter."""
    return not text.isascii() and any(_bidi_class(sign) in RIGHT_TO_LEFT for sign in text)


def in_reading_order(
    lines: Iterable[str], raw: str, ligatures: Mapping[int, str] | None = None
) -> str | None:
    """Return lines in reading order.

    Parameters
    ----------
    lines : the lines of a page, each from left to right as on the screen.
    raw : the same text in the order in which it was drawn, in which no word is divided.
    ligatures : the letters of each sign that stands for a ligature in the lines, by its code point.

    Returns
    -------
    The text; None if `lines` and `raw` do not hold the same characters.
    """
    letters = dict(ligatures or {})
    screen_lines = [line.strip() for line in lines if line.strip()]
    if _signs("".join(screen_lines).translate(letters)) != _signs(raw):
        return None
    kinds = Counter(_bidi_class(sign) for sign in raw)
    right_to_left = kinds["R"] + kinds["AL"] >= kinds["L"]
    arabic = kinds["AL"] > kinds["R"]
    mirrored = _are_mirrored(screen_lines, right_to_left, arabic)
    words = _DrawnWords(raw)
    ordered: list[str] = []
    for line in screen_lines:
        logical = _to_logical(line, right_to_left, arabic, mirrored).translate(letters)
        if is_right_to_left(logical):
            logical = words.join_divided(FALSE_BLANK.sub("", SEVERAL_BLANKS.sub(" ", logical)))
        ordered.append(logical)
    return "\n".join(ordered)


def _are_mirrored(lines: Sequence[str], right_to_left: bool, arabic: bool) -> bool:
    """Return whether right-to-left brackets are stored as they look on screen.

    Then they must be swapped in reading order. The assumption is chosen under which more match.
    """
    unbalanced = {}
    for mirrored in (True, False):
        ordered = (_to_logical(line, right_to_left, arabic, mirrored) for line in lines)
        unbalanced[mirrored] = sum(map(_count_unbalanced, ordered))
    return unbalanced[True] <= unbalanced[False]


def _count_unbalanced(line: str) -> int:
    """Return the number of closing brackets in a line without an opening one."""
    depth = wrong = 0
    for sign in line:
        if sign in MIRRORED:
            depth += 1 if sign in OPENING_BRACKETS else -1
            wrong += depth < 0
            depth = max(depth, 0)
    return wrong


def _to_logical(line: str, right_to_left: bool, arabic: bool, mirrored: bool) -> str:
    """Return a line of the screen in reading order.

    `right_to_left` is the direction of the page, `arabic` is True for Arabic and False for Hebrew,
    and `mirrored` is the result of `_are_mirrored`.
    """
    if not is_right_to_left(line):
        return line if mirrored else _balance(line)
    if right_to_left:
        return _reverse_line(line, arabic, mirrored)
    out, done_until = [], 0
    for start, end in _runs_within(line):
        out += [line[done_until:start], _reverse_line(line[start:end], arabic, mirrored)]
        done_until = end
    return "".join([*out, line[done_until:]])


def _balance(text: str) -> str:
    """Return a left-to-right text, with its brackets swapped if more of them match then."""
    other = "".join(MIRRORED.get(sign, sign) for sign in text)
    return other if _count_unbalanced(other) < _count_unbalanced(text) else text


def _runs_within(line: str) -> list[tuple[int, int]]:
    """Return the spans of right-to-left parts in a left-to-right line."""
    runs: list[tuple[int, int]] = []
    open_since, last_letter = -1, -1
    for index, sign in enumerate(line):
        kind = _bidi_class(sign)
        if kind in RIGHT_TO_LEFT:
            if open_since < 0:
                open_since = index
            last_letter = index
        elif kind == "L" and open_since >= 0:
            runs.append((open_since, last_letter + 1))
            open_since = -1
    if open_since >= 0:
        runs.append((open_since, last_letter + 1))
    return [(_marks_start(line, start), end) for start, end in runs]


def _marks_start(line: str, start: int) -> int:
    """Return the start of the combining marks that are drawn before a letter."""
    while start and unicodedata.combining(line[start - 1]):
        start -= 1
    return start


def _reverse_line(line: str, arabic: bool, mirrored: bool) -> str:
    """Return a right-to-left line in reading order.

    The line is reversed, and its left-to-right parts are reversed back.
    """
    reversed_line = line[::-1]
    out: list[str] = []
    done_until = 0
    for start, end in _parts_left_to_right(reversed_line):
        out.append(_turn_numbers(reversed_line[done_until:start], arabic, mirrored))
        part = reversed_line[start:end][::-1]
        out.append(part if mirrored else _balance(part))
        done_until = end
    out.append(_turn_numbers(reversed_line[done_until:], arabic, mirrored))
    return "".join(out)


def _parts_left_to_right(line: str) -> list[tuple[int, int]]:
    """Return the spans of left-to-right words in a reversed line, with numbers and brackets."""
    parts: list[tuple[int, int]] = []
    start, end, has_letters = -1, -1, False
    for index, sign in enumerate([*line, "\u05d0"]):  # a right-to-left letter ends the last part
        kind = _bidi_class(sign)
        if kind in RIGHT_TO_LEFT:
            if has_letters:
                parts.append(_with_brackets(line, start, end))
            start, has_letters = -1, False
        elif kind in ("L", "EN"):
            start = index if start < 0 else start
            end = index + 1
            has_letters = has_letters or kind == "L"
    return parts


def _with_brackets(line: str, start: int, end: int) -> tuple[int, int]:
    """Extend a part by adjacent brackets whose partner is within it."""
    excess = Counter(sign for sign in line[start:end] if sign in MIRRORED)

    def has_partner(sign: str) -> bool:
        return sign in MIRRORED and excess[MIRRORED[sign]] > excess[sign]

    while start and has_partner(line[start - 1]):
        start -= 1
        excess[line[start]] += 1
    while end < len(line) and has_partner(line[end]):
        excess[line[end]] += 1
        end += 1
    return start, end


def _turn_numbers(part: str, arabic: bool, mirrored: bool) -> str:
    """Return a reversed part with numbers from left to right, and brackets that match."""
    pattern = ARABIC_NUMBER if arabic else HEBREW_NUMBER
    text = pattern.sub(lambda match: match[0][::-1], part)
    return "".join(MIRRORED.get(sign, sign) for sign in text) if mirrored else text


class _DrawnWords:
    """The words of a page as drawn.

    They are used to join words that the page's lines divide.
    """

    def __init__(self, raw: str) -> None:
        self._words = {word for word in raw.split() if is_right_to_left(word)}

    def join_divided(self, line: str) -> str:
        """Return a line with divided words joined."""
        words: list[str] = []
        for word in line.split(" "):
            if words and self._is_divided(words[-1], word):
                words[-1] += word
            else:
                words.append(word)
        return " ".join(words)

    def _is_divided(self, first: str, second: str) -> bool:
        """Return whether two parts are one drawn word, divided at a combining mark."""
        marks = first[-1:] + second[:1]
        return first + second in self._words and any(map(unicodedata.combining, marks))


def _bidi_class(sign: str) -> str:
    """Return the bidirectional class of a character; signs for ligatures count as Arabic."""
    if FIRST_SIGN <= ord(sign) <= LAST_SIGN:
        return "AL"
    return unicodedata.bidirectional(sign)


def _signs(text: str) -> Counter[str]:
    """Count the characters of a text that are not blank."""
    return Counter("".join(text.split()))
