"""Raised and lowered numbers written on one line: “10^6”, “1984[3]”, “3/4”.

In print, an exponent or a footnote mark differs from the number before it only in its height.
Without a sign between them, plain text would hold another number: 10 to the 6th becomes 106.
"""

from __future__ import annotations

import re

# Noncharacters, which no text holds. Readers put them around raised or lowered text within a line,
# and `on_one_line` replaces them once the line is complete.
RAISED_START, LOWERED_START, SCRIPT_END = "\ufdd0", "\ufdd1", "\ufdd2"
FORMULA_EDGE = "\ufdd3"  # at the beginning and end of a formula, to keep two adjacent numbers apart
MARKED_TEXT = re.compile(
    f"([{RAISED_START}{LOWERED_START}])([^{RAISED_START}{LOWERED_START}{SCRIPT_END}]*){SCRIPT_END}"
)
ADJACENT_MARKS = re.compile(f"{SCRIPT_END}([{RAISED_START}{LOWERED_START}])")
ANY_MARK = re.compile(f"[{RAISED_START}{LOWERED_START}{SCRIPT_END}{FORMULA_EDGE}]")
MEETING_NUMBERS = re.compile(rf"(?<=\d){FORMULA_EDGE}(?=\d)")
SIGNED_NUMBER = re.compile(r"[+\-−–]?\d+(?:\.\d+)?[+\-−–]?|[+\-−–]\w{0,2}")
NOTE_MARKS = re.compile(r"\d+(?: ?[,;–-] ?\d+)*")
LAST_NUMBER = re.compile(r"(?<![^\W\d_])\d[\d.,\u00a0\u202f]{0,30}\Z")
LAST_WORD = re.compile(r"[^\W\d_]{1,40}\Z")
LAST_BRACKET = re.compile(r"\(([^()]{0,200})\)\Z")
THREE_LETTERS = re.compile(r"[^\W\d_]{3}")
SIMPLE_TERM = re.compile(r"[+\-−–]?(?:\w|[.,′'](?=\w))*")
SLASHES = ("/", "⁄", "∕")
MAX_BASE_DIGITS = 2  # digits of a number that is raised to a power; a year has more
MAX_UNIT_LETTERS = 3  # letters of a unit or variable with an exponent; a word has more
MAX_BASE_CHARACTERS = 240  # characters before a raised text that are examined


def write_raised(prefix: str, text: str, is_note: bool = False) -> str:
    """Write a raised text after the text before it.

    Letters are unchanged (`1st`). A number is an exponent after a short number, unit or variable,
    else a note mark. At the beginning of a line it is the number of a note.

    Parameters
    ----------
    prefix : the line up to the raised text.
    text : the raised text.
    is_note : True if the file says that the text refers to a note.

    Returns
    -------
    The text to append to `prefix`.

    Examples
    --------
    >>> from core.corpus.readers.raised_text import write_raised
    >>> write_raised("holds 10", "6"), write_raised("built in 1984", "3")
    ('^6', '[3]')
    >>> write_raised("12 m", "2"), write_raised("the 1", "st")
    ('^2', 'st')
    """
    mark = text.strip()
    if is_note and mark.isalnum():
        return f"[{mark}]"
    if not SIGNED_NUMBER.fullmatch(mark) and not NOTE_MARKS.fullmatch(mark):
        return text
    base = prefix[-MAX_BASE_CHARACTERS:].rstrip()
    if not base or prefix.endswith("\n"):
        return f"[{mark}] " if mark.isdecimal() else text
    if base[-1] in SLASHES:  # the denominator of a fraction set with a slash
        return text
    if prefix[-1].isspace() and not base[-1].isdigit():
        return text  # the number belongs to the text after it, as in an isotope
    return f"^{mark}" if _is_power(base, mark) else f"[{mark}]"


def write_lowered(prefix: str, text: str) -> str:
    """Write a lowered text after the text before it: `1010_2`, but “H2O”.

    Parameters
    ----------
    prefix : the text before it.
    text : the lowered text.

    Returns
    -------
    The text to append to `prefix`.
    """
    mark = text.strip()
    return f"_{mark}" if prefix[-1:].isdigit() and mark[:1].isdigit() else text


def write_numerator(prefix: str, text: str) -> str:
    """Write the raised numerator of a fraction whose slash follows: `5 3/4`.

    Parameters
    ----------
    prefix : the text before it.
    text : the raised numerator.

    Returns
    -------
    The text to append to `prefix`.
    """
    return f" {text.strip()}" if prefix[-1:].isdigit() else text.strip()


def write_fraction(above: str, below: str) -> str:
    """Write a fraction on one line.

    Parameters
    ----------
    above, below : numerator and denominator.

    Returns
    -------
    The fraction, with brackets around terms of several parts.

    Examples
    --------
    >>> from core.corpus.readers.raised_text import write_fraction
    >>> write_fraction("3", "4"), write_fraction("a+b", "c")
    ('3/4', '(a+b)/c')
    """
    return f"{bracketed(above)}/{bracketed(below)}"


def bracketed(term: str) -> str:
    """Put brackets around a term of several parts."""
    term = term.strip()
    return term if SIMPLE_TERM.fullmatch(term) or LAST_BRACKET.fullmatch(term) else f"({term})"


def on_one_line(text: str) -> str:
    """Replace the marks around raised and lowered texts by readable signs.

    >>> from core.corpus.readers.raised_text import SCRIPT_END, LOWERED_START, RAISED_START, on_one_line
    >>> on_one_line(f"holds 10{RAISED_START}6{SCRIPT_END} litres, {RAISED_START}3{SCRIPT_END}/{LOWERED_START}4{SCRIPT_END} full")
    'holds 10^6 litres, 3/4 full'
    """
    if not ANY_MARK.search(text):
        return text
    spaced_text = MEETING_NUMBERS.sub(" ", text)
    text = ADJACENT_MARKS.sub(lambda match: _join_heights(spaced_text, match), spaced_text)
    out: list[str] = []
    done_until = 0
    for match in MARKED_TEXT.finditer(text):
        out.append(ANY_MARK.sub("", text[done_until : match.start()]))
        done_until = match.end()
        kind, inner = match.groups()
        line = _last_line(out)
        if kind == LOWERED_START:
            out.append(write_lowered(line, inner))
        elif text.startswith(SLASHES, done_until):
            out.append(write_numerator(line, inner) if inner.strip().isdecimal() else inner)
        else:
            out.append(write_raised(line, inner))
    out.append(ANY_MARK.sub("", text[done_until:]))
    return "".join(out)


def _join_heights(text: str, match: re.Match[str]) -> str:
    """Return the replacement for the marks between two adjacent texts.

    It is empty if both are raised or both lowered, so that they become one text. Otherwise the
    marks stay.
    """
    end = match.start()
    start = max(text.rfind(RAISED_START, 0, end), text.rfind(LOWERED_START, 0, end))
    return "" if start >= 0 and text[start] == match[1] else match[0]


def _is_power(base: str, mark: str) -> bool:
    """Return whether a raised number is an exponent or a charge.

    Otherwise it is a note mark.
    """
    if not SIGNED_NUMBER.fullmatch(mark):
        return False
    number, word = LAST_NUMBER.search(base), LAST_WORD.search(base)
    if number:
        digits = sum(sign.isdigit() for sign in number[0])
        return digits <= MAX_BASE_DIGITS or not mark.isdecimal()
    if word:
        return len(word[0]) <= MAX_UNIT_LETTERS
    bracket = LAST_BRACKET.search(base)
    return bracket is not None and not THREE_LETTERS.search(bracket[1])


def _last_line(parts: list[str]) -> str:
    """Return the last `MAX_BASE_CHARACTERS` characters of the line written so far."""
    tail_parts: list[str] = []
    length = 0
    for part in reversed(parts):
        tail_parts.append(part[-MAX_BASE_CHARACTERS:])
        length += len(part)
        if length >= MAX_BASE_CHARACTERS:
            break
    return "".join(reversed(tail_parts)).rpartition("\n")[2][-MAX_BASE_CHARACTERS:]
