"""Pieces of text of a PDF page with positions, and raised, lowered or stacked numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.corpus.readers.raised_text import (
    FORMULA_EDGE,
    LOWERED_START,
    RAISED_START,
    SCRIPT_END,
    on_one_line,
    write_fraction,
)


@dataclass(frozen=True)
class RaisedTextGeometry:
    """Geometry by which raised and lowered text and fractions are recognised.

    Shares and sizes are relative to the font size before the text.
    """

    max_raised_size: float = 0.93  # of a raised or lowered text
    min_rise: float = 0.1
    max_rise: float = 0.8
    max_bar_width_points: float = 1.6  # of the bar of a fraction
    max_bars: int = 10_000  # of a page
    max_drop: float = 3.0  # font sizes from the numerator of a fraction to the denominator
    max_letter_width: float = 0.9  # font sizes; mean width of a letter under a bar
    near_bar: float = 0.8  # font sizes by which a term may begin away from its bar's end


GEOMETRY = RaisedTextGeometry()
TEXT_OPERATORS = (b"Tj", b"TJ", b"'", b'"')


@dataclass(frozen=True)
class TextPiece:
    """A piece of text as drawn, with its beginning in points from the lower left corner."""

    text: str
    x: float
    y: float
    size: float  # of the font, in points
    is_level: bool = True  # True if its line is horizontal


@dataclass(frozen=True)
class FractionBar:
    """A thin horizontal line, such as that of a fraction."""

    left: float
    right: float
    y: float


class PagePieces:
    """Collector of the texts and lines of a page, which pypdf passes to its methods."""

    def __init__(self) -> None:
        self.pieces: list[TextPiece] = []
        self.bars: list[FractionBar] = []
        self._rise = 0.0
        self._rises: list[float] = []  # of the pieces shown since the last call of `see_text`
        self._pen: tuple[float, float] | None = None

    def see_text(
        self, text: str, current: list[float], matrix: list[float], _: Any, size: float
    ) -> None:
        if not text:
            return
        transform = _product(matrix, current)
        scale = math.hypot(transform[2], transform[3])
        rise = self._rises[0] if self._rises else 0.0
        if text.strip():
            self._rises = []
        self.pieces.append(
            TextPiece(
                text,
                transform[4] + rise * transform[2],
                transform[5] + rise * transform[3],
                abs(size) * scale,
                is_level=abs(transform[1]) <= 0.01 * abs(transform[0]),
            )
        )

    def see_operator(
        self, operator: bytes, operands: Any, current: list[float], _: list[float]
    ) -> None:
        if operator in TEXT_OPERATORS:
            self._rises.append(self._rise)
        elif operator == b"Ts" and operands:
            self._rise = _number(operands[0])
        elif operator == b"re" and len(operands) >= 4:
            x, y, width, height = map(_number, operands[:4])
            self._add_bar(_transform(current, x, y), _transform(current, x + width, y + height))
        elif operator == b"m" and len(operands) >= 2:
            self._pen = _transform(current, _number(operands[0]), _number(operands[1]))
        elif operator == b"l" and len(operands) >= 2 and self._pen:
            end = _transform(current, _number(operands[0]), _number(operands[1]))
            self._add_bar(self._pen, end)
            self._pen = end

    def _add_bar(self, one: tuple[float, float], other: tuple[float, float]) -> None:
        width = abs(one[1] - other[1])
        if width > GEOMETRY.max_bar_width_points or len(self.bars) >= GEOMETRY.max_bars:
            return
        left, right = sorted((one[0], other[0]))
        if right - left > GEOMETRY.max_bar_width_points:
            self.bars.append(FractionBar(left, right, (one[1] + other[1]) / 2))


def text_with_scripts(pieces: Sequence[TextPiece], bars: Sequence[FractionBar]) -> str:
    """Return the text of a page, with raised and lowered numbers and fractions on the line.

    Parameters
    ----------
    pieces : pieces of text in the order of reading.
    bars : bars of fractions.

    Returns
    -------
    The text.

    Examples
    --------
    >>> from core.corpus.readers.pdf_pieces import TextPiece, text_with_scripts
    >>> line = [TextPiece("holds 10", 50, 700, 10), TextPiece("6", 90, 704, 7)]
    >>> line += [TextPiece(" litres", 94, 700, 10)]
    >>> text_with_scripts(line, [])
    'holds 10^6 litres'
    """
    out: list[str] = []
    # the last piece of the line that is neither raised nor lowered
    base: TextPiece | None = None
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        fraction = _fraction_at(pieces, index, bars) if bars else None
        if fraction is not None:
            end, text = fraction
            out.append(f"{FORMULA_EDGE}{text}{FORMULA_EDGE}")
            index = end
            continue
        mark = _mark(piece, base, pieces, index)
        out.append(_add_mark(piece.text, mark) if mark else piece.text)
        if "\n" in piece.text:
            base = None
        elif piece.text.strip() and not mark:
            base = piece
        index += 1
    return on_one_line("".join(out))


def _mark(piece: TextPiece, base: TextPiece | None, pieces: Sequence[TextPiece], index: int) -> str:
    """Return the mark of a piece that is raised or lowered; empty for any other.

    It is compared with the piece before it.
    """
    if not piece.is_level or not any(sign.isdigit() for sign in piece.text):
        return "" if base is None or not _is_sign(piece) else _mark_beside(piece, base)
    if base is not None:
        return _mark_beside(piece, base)
    following = _next_piece(pieces, index)  # for example a note at the foot of the page
    if following is None or _mark_beside(piece, following) != RAISED_START:
        return ""
    return RAISED_START


def _is_sign(piece: TextPiece) -> bool:
    """Return whether a piece is a sign, such as one before a raised number."""
    return piece.is_level and piece.text.strip() in ("-", "−", "–", "+")


def _mark_beside(piece: TextPiece, base: TextPiece) -> str:
    rise = piece.y - base.y
    if not base.is_level or piece.size > GEOMETRY.max_raised_size * base.size:
        return ""
    if not GEOMETRY.min_rise * base.size <= abs(rise) <= GEOMETRY.max_rise * base.size:
        return ""
    return RAISED_START if rise > 0 else LOWERED_START


def _next_piece(pieces: Sequence[TextPiece], index: int) -> TextPiece | None:
    """Return the next piece of the same line that is not blank."""
    if "\n" in pieces[index].text:
        return None
    for piece in pieces[index + 1 : index + 4]:
        if piece.text.strip():
            return piece
        if "\n" in piece.text:
            return None
    return None


def _add_mark(text: str, mark: str) -> str:
    """Return a piece with marks around its text, inside its blanks."""
    inner = text.strip()
    start = text.index(inner)
    return f"{text[:start]}{mark}{inner}{SCRIPT_END}{text[start + len(inner) :]}"


def _fraction_at(
    pieces: Sequence[TextPiece], index: int, bars: Sequence[FractionBar]
) -> tuple[int, str] | None:
    """Return the end and the text of a fraction whose numerator begins at a piece.

    Returns None if there is none. The end is the index after its last piece.
    """
    middle = _term_end(pieces, index)
    end = _term_end(pieces, middle)
    upper, lower = pieces[index:middle], pieces[middle:end]
    if not upper or not lower or any("\n" in piece.text for piece in upper):
        return None
    if not any(_is_bar_of(bar, upper, lower) for bar in bars):
        return None
    above, below = ("".join(piece.text for piece in term) for term in (upper, lower))
    behind = below[len(below.rstrip()) :]
    return end, write_fraction(" ".join(above.split()), " ".join(below.split())) + behind


def _is_bar_of(bar: FractionBar, upper: Sequence[TextPiece], lower: Sequence[TextPiece]) -> bool:
    """Return whether a line lies between two terms and is as long as the longer one."""
    size = max(upper[0].size, lower[0].size)
    drop = upper[0].y - lower[0].y
    if not 0 < drop <= GEOMETRY.max_drop * size:
        return False
    if not lower[0].y < bar.y < upper[0].y + GEOMETRY.min_rise * size:
        return False
    letters = max(sum(len(piece.text) for piece in term) for term in (upper, lower))
    if bar.right - bar.left > size * (1 + letters * GEOMETRY.max_letter_width):
        return False
    begin = [piece.x for piece in (*upper, *lower) if piece.text.strip()]
    is_near = abs(min(begin) - bar.left) <= GEOMETRY.near_bar * size
    return is_near and max(begin) <= bar.right


def _term_end(pieces: Sequence[TextPiece], index: int) -> int:
    """Return the index after the last piece at the same height on the line."""
    end = index
    while end < len(pieces):
        piece = pieces[end]
        if not piece.is_level or (piece.text.strip() and abs(piece.y - pieces[index].y) > 0.1):
            break
        if end == index and not piece.text.strip():
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


def _transform(current: list[float], x: float, y: float) -> tuple[float, float]:
    return (
        current[0] * x + current[2] * y + current[4],
        current[1] * x + current[3] * y + current[5],
    )


def _number(operand: Any) -> float:
    try:
        return float(operand)
    except (TypeError, ValueError):
        return 0.0
