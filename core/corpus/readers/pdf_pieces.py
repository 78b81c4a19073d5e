"""Pieces of text of a PDF page with positions, and raised, lowered or stacked numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.corpus.readers.raised import END, LOWERED, RAISED, SPLIT, fraction, on_one_line

SMALLER = 0.93  # largest size of a raised or lowered text, as a share of the font before it
LEAST_RISE, MOST_RISE = 0.1, 0.8  # as shares of the size of the font before it
BAR_WIDTH = 1.6  # points; the largest width of a fraction's bar
MAX_BARS = 10_000  # bars of a page that are kept
MOST_DROP = 3.0  # font sizes from the numerator of a fraction to the denominator
MOST_LETTER = 0.9  # font sizes; mean width of a letter under a bar
NEAR_BAR = 0.8  # font sizes by which a term may begin away from its bar's end
SHOWING = (b"Tj", b"TJ", b"'", b'"')


@dataclass(frozen=True)
class Piece:
    """A piece of text as drawn, with its beginning in points from the lower left corner."""

    text: str
    x: float
    y: float
    size: float  # of the font, in points
    is_level: bool = True  # True if its line is horizontal


@dataclass(frozen=True)
class Bar:
    """A thin horizontal line, such as that of a fraction."""

    left: float
    right: float
    y: float


class PagePieces:
    """Collects what pypdf draws of a page through `see_text` and `see_operator`."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.bars: list[Bar] = []
        self._rise = 0.0
        self._rises: list[float] = []  # of the pieces shown since the last call of `see_text`
        self._pen: tuple[float, float] | None = None

    def see_text(
        self, text: str, current: list[float], matrix: list[float], _: Any, size: float
    ) -> None:
        if not text:
            return
        whole = _product(matrix, current)
        scale = math.hypot(whole[2], whole[3])
        rise = self._rises[0] if self._rises else 0.0
        if text.strip():
            self._rises = []
        self.pieces.append(
            Piece(
                text,
                whole[4] + rise * whole[2],
                whole[5] + rise * whole[3],
                abs(size) * scale,
                is_level=abs(whole[1]) <= 0.01 * abs(whole[0]),
            )
        )

    def see_operator(
        self, operator: bytes, operands: Any, current: list[float], _: list[float]
    ) -> None:
        if operator in SHOWING:
            self._rises.append(self._rise)
        elif operator == b"Ts" and operands:
            self._rise = _number(operands[0])
        elif operator == b"re" and len(operands) >= 4:
            x, y, width, height = map(_number, operands[:4])
            self._add_bar(_at(current, x, y), _at(current, x + width, y + height))
        elif operator == b"m" and len(operands) >= 2:
            self._pen = _at(current, _number(operands[0]), _number(operands[1]))
        elif operator == b"l" and len(operands) >= 2 and self._pen:
            end = _at(current, _number(operands[0]), _number(operands[1]))
            self._add_bar(self._pen, end)
            self._pen = end

    def _add_bar(self, one: tuple[float, float], other: tuple[float, float]) -> None:
        if abs(one[1] - other[1]) > BAR_WIDTH or len(self.bars) >= MAX_BARS:
            return
        left, right = sorted((one[0], other[0]))
        if right - left > BAR_WIDTH:
            self.bars.append(Bar(left, right, (one[1] + other[1]) / 2))


def with_heights(pieces: Sequence[Piece], bars: Sequence[Bar]) -> str:
    """Return the text of the pieces in order, with raised, lowered and stacked numbers marked.

    >>> from core.corpus.readers.pdf_pieces import Piece, with_heights
    >>> line = [Piece("holds 10", 50, 700, 10), Piece("6", 90, 704, 7)]
    >>> line += [Piece(" litres", 94, 700, 10)]
    >>> with_heights(line, [])
    'holds 10^6 litres'
    """
    out: list[str] = []
    # the last piece of the line that is neither raised nor lowered
    base: Piece | None = None
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        stacked = _fraction_at(pieces, at, bars) if bars else None
        if stacked is not None:
            end, written = stacked
            out.append(f"{SPLIT}{written}{SPLIT}")
            at = end
            continue
        mark = _height(piece, base, pieces, at)
        out.append(_marked(piece.text, mark) if mark else piece.text)
        if "\n" in piece.text:
            base = None
        elif piece.text.strip() and not mark:
            base = piece
        at += 1
    return on_one_line("".join(out))


def _height(piece: Piece, base: Piece | None, pieces: Sequence[Piece], at: int) -> str:
    """Return the mark of a piece that is raised or lowered; empty for any other.

    It is compared with the piece before it.
    """
    if not piece.is_level or not any(sign.isdigit() for sign in piece.text):
        return "" if base is None or not _is_sign(piece) else _beside(piece, base)
    if base is not None:
        return _beside(piece, base)
    following = _following(pieces, at)  # for example a note at the foot of the page
    if following is None or _beside(piece, following) != RAISED:
        return ""
    return RAISED


def _is_sign(piece: Piece) -> bool:
    """Return whether a piece is a sign before a raised number, in a font of its own."""
    return piece.is_level and piece.text.strip() in ("-", "−", "–", "+")


def _beside(piece: Piece, base: Piece) -> str:
    rise = piece.y - base.y
    if not base.is_level or piece.size > SMALLER * base.size:
        return ""
    if not LEAST_RISE * base.size <= abs(rise) <= MOST_RISE * base.size:
        return ""
    return RAISED if rise > 0 else LOWERED


def _following(pieces: Sequence[Piece], at: int) -> Piece | None:
    """Return the next piece of the same line that is not blank."""
    if "\n" in pieces[at].text:
        return None
    for piece in pieces[at + 1 : at + 4]:
        if piece.text.strip():
            return piece
        if "\n" in piece.text:
            return None
    return None


def _marked(text: str, mark: str) -> str:
    """Return a piece with marks around its text, inside its blanks."""
    inner = text.strip()
    start = text.index(inner)
    return f"{text[:start]}{mark}{inner}{END}{text[start + len(inner) :]}"


def _fraction_at(pieces: Sequence[Piece], at: int, bars: Sequence[Bar]) -> tuple[int, str] | None:
    """Return the end and the text of a fraction whose numerator begins at a piece.

    Returns None if there is none. The end is the index after its last piece.
    """
    middle = _term_end(pieces, at)
    end = _term_end(pieces, middle)
    upper, lower = pieces[at:middle], pieces[middle:end]
    if not upper or not lower or any("\n" in piece.text for piece in upper):
        return None
    if not any(_is_bar_of(bar, upper, lower) for bar in bars):
        return None
    above, below = ("".join(piece.text for piece in term) for term in (upper, lower))
    behind = below[len(below.rstrip()) :]
    return end, fraction(" ".join(above.split()), " ".join(below.split())) + behind


def _is_bar_of(bar: Bar, upper: Sequence[Piece], lower: Sequence[Piece]) -> bool:
    """Return whether a line lies between two terms and is as long as the longer one."""
    size = max(upper[0].size, lower[0].size)
    drop = upper[0].y - lower[0].y
    if not 0 < drop <= MOST_DROP * size or not lower[0].y < bar.y < upper[0].y + LEAST_RISE * size:
        return False
    letters = max(sum(len(piece.text) for piece in term) for term in (upper, lower))
    if bar.right - bar.left > size * (1 + letters * MOST_LETTER):
        return False
    begin = [piece.x for piece in (*upper, *lower) if piece.text.strip()]
    near = abs(min(begin) - bar.left) <= NEAR_BAR * size
    return near and max(begin) <= bar.right


def _term_end(pieces: Sequence[Piece], at: int) -> int:
    """Return the index after the last piece at the same height on the line."""
    end = at
    while end < len(pieces):
        piece = pieces[end]
        if not piece.is_level or (piece.text.strip() and abs(piece.y - pieces[at].y) > 0.1):
            break
        if end == at and not piece.text.strip():
            break
        end += 1
        if "\n" in piece.text:
            break
    return end


def _product(one: list[float], other: list[float]) -> list[float]:
    """Return the matrix that applies `one` and then `other`."""
    a, b, c, d, e, f = one
    return [
        a * other[0] + b * other[2],
        a * other[1] + b * other[3],
        c * other[0] + d * other[2],
        c * other[1] + d * other[3],
        e * other[0] + f * other[2] + other[4],
        e * other[1] + f * other[3] + other[5],
    ]


def _at(current: list[float], x: float, y: float) -> tuple[float, float]:
    return (
        current[0] * x + current[2] * y + current[4],
        current[1] * x + current[3] * y + current[5],
    )


def _number(operand: Any) -> float:
    try:
        return float(operand)
    except (TypeError, ValueError):
        return 0.0
