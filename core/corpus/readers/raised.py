"""Raised and lowered numbers written on one line: `10^6`, `1984[3]`, `3/4`.

In print, only its height tells an exponent or a footnote mark from the number before it. Without a
sign between them another number is read: 10 to the 6th becomes 106.
"""

from __future__ import annotations

import re

# Noncharacters, which no text holds. A reader that meets raised or lowered text within a line puts
# them around it, and `on_one_line` replaces them once the line is complete.
RAISED, LOWERED, END = "\ufdd0", "\ufdd1", "\ufdd2"
SPLIT = "\ufdd3"  # at the beginning and end of a formula, to keep two adjacent numbers apart
MARKED = re.compile(f"([{RAISED}{LOWERED}])([^{RAISED}{LOWERED}{END}]*){END}")
JOINED = re.compile(f"{END}([{RAISED}{LOWERED}])")
ANY_MARK = re.compile(f"[{RAISED}{LOWERED}{END}{SPLIT}]")
MEETING = re.compile(rf"(?<=\d){SPLIT}(?=\d)")
NUMBER = re.compile(r"[+\-−–]?\d+(?:\.\d+)?[+\-−–]?|[+\-−–]\w{0,2}")
NOTE_MARKS = re.compile(r"\d+(?: ?[,;–-] ?\d+)*")
LAST_NUMBER = re.compile(r"(?<![^\W\d_])\d[\d.,\u00a0\u202f]{0,30}\Z")
LAST_WORD = re.compile(r"[^\W\d_]{1,40}\Z")
LAST_BRACKET = re.compile(r"\(([^()]{0,200})\)\Z")
WORD = re.compile(r"[^\W\d_]{3}")
SIMPLE = re.compile(r"[+\-−–]?(?:\w|[.,′'](?=\w))*")
SLASHES = ("/", "⁄", "∕")
MAX_BASE_DIGITS = 2  # digits of a number that is raised to a power; a year has more
MAX_UNIT_LETTERS = 3  # letters of a unit or variable with an exponent; a word has more
BEFORE = 240  # characters before a raised text that are examined


def raised(before: str, text: str, is_note: bool = False) -> str:
    """Write a raised text after the text before it.

    Letters stay as they are (`1st`). A number is an exponent after a short number, unit or
    variable, else a note mark. At the beginning of a line it is the number of a note.

    Parameters
    ----------
    before : the line up to the raised text.
    is_note : True if the file says that the text refers to a note.

    >>> from core.corpus.readers.raised import raised
    >>> raised("holds 10", "6"), raised("built in 1984", "3")
    ('^6', '[3]')
    >>> raised("12 m", "2"), raised("the 1", "st")
    ('^2', 'st')
    """
    mark = text.strip()
    if is_note and mark.isalnum():
        return f"[{mark}]"
    if not NUMBER.fullmatch(mark) and not NOTE_MARKS.fullmatch(mark):
        return text
    base = before[-BEFORE:].rstrip()
    if not base or before.endswith("\n"):
        return f"[{mark}] " if mark.isdecimal() else text
    if base[-1] in SLASHES:  # the denominator of a fraction set with a slash
        return text
    if before[-1].isspace() and not base[-1].isdigit():
        return text  # it belongs to the text after it, as in an isotope
    return f"^{mark}" if _is_power(base, mark) else f"[{mark}]"


def lowered(before: str, text: str) -> str:
    """Write a lowered text after the text before it: `1010_2`, but `H2O`."""
    mark = text.strip()
    return f"_{mark}" if before[-1:].isdigit() and mark[:1].isdigit() else text


def numerator(before: str, text: str) -> str:
    """Write the raised numerator of a fraction whose slash follows: `5 3/4`."""
    return f" {text.strip()}" if before[-1:].isdigit() else text.strip()


def fraction(above: str, below: str) -> str:
    """Write a fraction on one line.

    >>> from core.corpus.readers.raised import fraction
    >>> fraction("3", "4"), fraction("a+b", "c")
    ('3/4', '(a+b)/c')
    """
    return f"{bracketed(above)}/{bracketed(below)}"


def bracketed(term: str) -> str:
    """Put brackets around a term of several parts."""
    term = term.strip()
    return term if SIMPLE.fullmatch(term) or LAST_BRACKET.fullmatch(term) else f"({term})"


def on_one_line(text: str) -> str:
    """Replace the marks around raised and lowered texts by readable signs.

    >>> from core.corpus.readers.raised import END, LOWERED, RAISED, on_one_line
    >>> on_one_line(f"holds 10{RAISED}6{END} litres, {RAISED}3{END}/{LOWERED}4{END} full")
    'holds 10^6 litres, 3/4 full'
    """
    if not ANY_MARK.search(text):
        return text
    whole = MEETING.sub(" ", text)
    text = JOINED.sub(lambda found: _continued(whole, found), whole)
    out: list[str] = []
    at = 0
    for found in MARKED.finditer(text):
        out.append(ANY_MARK.sub("", text[at : found.start()]))
        at = found.end()
        kind, inner = found.groups()
        line = _last_line(out)
        if kind == LOWERED:
            out.append(lowered(line, inner))
        elif text[at : at + 1] in SLASHES or text[at : at + 2] in SLASHES:
            out.append(numerator(line, inner) if inner.strip().isdecimal() else inner)
        else:
            out.append(raised(line, inner))
    out.append(ANY_MARK.sub("", text[at:]))
    return "".join(out)


def _continued(text: str, found: re.Match[str]) -> str:
    """Join two adjacent texts of the same height; keep those of different heights apart."""
    opened = max(text.rfind(RAISED, 0, found.start()), text.rfind(LOWERED, 0, found.start()))
    return "" if opened >= 0 and text[opened] == found[1] else found[0]


def _is_power(base: str, mark: str) -> bool:
    """Return whether a raised number is an exponent or a charge rather than a note mark."""
    if not NUMBER.fullmatch(mark):
        return False
    if number := LAST_NUMBER.search(base):
        digits = sum(sign.isdigit() for sign in number[0])
        return digits <= MAX_BASE_DIGITS or not mark.isdecimal()
    if word := LAST_WORD.search(base):
        return len(word[0]) <= MAX_UNIT_LETTERS
    if bracket := LAST_BRACKET.search(base):
        return not WORD.search(bracket[1])
    return False


def _last_line(parts: list[str]) -> str:
    """Return the last `BEFORE` characters of the line written so far."""
    held, length = [], 0
    for part in reversed(parts):
        held.append(part[-BEFORE:])
        length += len(part)
        if length >= BEFORE:
            break
    return "".join(reversed(held)).rpartition("\n")[2][-BEFORE:]
