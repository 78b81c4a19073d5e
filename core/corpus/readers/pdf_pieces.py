"""Pieces of text of a PDF page with their positions.

Raised numbers are recognised by the positions. A PDF states positions and font sizes only.
Exponents, indices and fractions follow from these and from thin lines, and are marked as in
`core.corpus.readers.raised_text`.
"""

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

    The unit is the font size of the text before or around, unless points are named.
    """

    max_raised_size: float = 0.93  # font size of a raised or lowered text
    min_rise: float = 0.1  # least height of a raised text above the line
    max_rise: float = 0.8
    max_bar_width_points: float = 1.6  # thickness of the bar of a fraction
    max_bars: int = 10_000  # lines of a page that are collected
    max_drop: float = 3.0  # from the numerator of a fraction to the denominator
    max_letter_width: float = 0.9  # mean width of a letter at a bar
    near_bar: float = 0.8  # distance from the beginning of the bar to that of its terms


GEOMETRY = RaisedTextGeometry()
TEXT_OPERATORS = (b"Tj", b"TJ", b"'", b'"')  # operators of PDF that show text


@dataclass(frozen=True)
class TextPiece:
    """A piece of text as drawn, with its beginning.

    The beginning is in points from the lower left corner.
    """

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
    """Collector of the texts and lines of a page.

    pypdf passes them to the collector's methods.
    """

    def __init__(self) -> None:
        self.pieces: list[TextPiece] = []
        self.bars: list[FractionBar] = []
        self._rise = 0.0  # of the text, as the operator “Ts” sets it
        self._rises: list[float] = []  # of the pieces shown since the last call of `see_text`
        self._pen: tuple[float, float] | None = None  # end of the path that is drawn

    def see_text(
        self, text: str, current: list[float], matrix: list[float], _: Any, size: float
    ) -> None:
        """Add a text that pypdf extracts."""
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
        """Follow an operator of the page: the rise of texts, rectangles and lines."""
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

    def _add_bar(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Add a line between two points if it is thin and horizontal."""
        width = abs(start[1] - end[1])
        if width > GEOMETRY.max_bar_width_points or len(self.bars) >= GEOMETRY.max_bars:
            return
        left, right = sorted((start[0], end[0]))
        if right - left > GEOMETRY.max_bar_width_points:
            self.bars.append(FractionBar(left, right, (start[1] + end[1]) / 2))


def text_with_scripts(pieces: Sequence[TextPiece], bars: Sequence[FractionBar]) -> str:
    """Return the text of a page, with raised numbers on the line.

    Lowered numbers and fractions are put on the line, too.

    Parameters
    ----------
    pieces : pieces of text in reading order.
    bars : thin lines, which may be bars of fractions.

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
    """Return the mark of a piece that is raised or lowered.

    The mark is empty for any other piece. The piece is compared with `base`, the last one on the
    line. At the beginning of a line, where `base` is None, it is compared with the next piece.
    """
    if not piece.is_level or not any(sign.isdigit() for sign in piece.text):
        return "" if base is None or not _is_sign(piece) else _height_mark(piece, base)
    if base is not None:
        return _height_mark(piece, base)
    following = _next_piece(pieces, index)  # for example a note at the foot of the page
    if following is None or _height_mark(piece, following) != RAISED_START:
        return ""
    return RAISED_START


def _is_sign(piece: TextPiece) -> bool:
    """Return whether a piece is a sign, such as one before a raised number."""
    return piece.is_level and piece.text.strip() in ("-", "−", "–", "+")


def _height_mark(piece: TextPiece, base: TextPiece) -> str:
    """Return the mark of a smaller piece above or below `base`; else empty."""
    rise = piece.y - base.y
    if not base.is_level or piece.size > GEOMETRY.max_raised_size * base.size:
        return ""
    if not GEOMETRY.min_rise * base.size <= abs(rise) <= GEOMETRY.max_rise * base.size:
        return ""
    return RAISED_START if rise > 0 else LOWERED_START


def _next_piece(pieces: Sequence[TextPiece], index: int) -> TextPiece | None:
    """Return the next filled piece on the line, of the next three; else None."""
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
    """Return the end and the text of a fraction.

    The numerator of the fraction begins at a piece. Returns None if there is none. The end is the
    index after its last piece.
    """
    middle = _term_end(pieces, index)
    end = _term_end(pieces, middle)
    upper, lower = pieces[index:middle], pieces[middle:end]
    if not upper or not lower or any("\n" in piece.text for piece in upper):
        return None
    if not any(_is_bar_of(bar, upper, lower) for bar in bars):
        return None
    above, below = ("".join(piece.text for piece in term) for term in (upper, lower))
    blanks = below[len(below.rstrip()) :]  # after the fraction, perhaps the end of the line
    return end, write_fraction(" ".join(above.split()), " ".join(below.split())) + blanks


def _is_bar_of(bar: FractionBar, upper: Sequence[TextPiece], lower: Sequence[TextPiece]) -> bool:
    """Return whether a line is the bar of a fraction.

    It must lie between the two terms and be as long as the longer one.
    """
    size = max(upper[0].size, lower[0].size)
    drop = upper[0].y - lower[0].y
    if not 0 < drop <= GEOMETRY.max_drop * size:
        return False
    if not lower[0].y < bar.y < upper[0].y + GEOMETRY.min_rise * size:
        return False
    letters = max(sum(len(piece.text) for piece in term) for term in (upper, lower))
    if bar.right - bar.left > size * (1 + letters * GEOMETRY.max_letter_width):
        return False
    starts = [piece.x for piece in (*upper, *lower) if piece.text.strip()]
    is_near = abs(min(starts) - bar.left) <= GEOMETRY.near_bar * size
    return is_near and max(starts) <= bar.right


def _term_end(pieces: Sequence[TextPiece], index: int) -> int:
    """Return the index after the adjacent pieces at one height.

    It is `index` itself if that piece is blank or not level.
    """
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


def _product(first: list[float], second: list[float]) -> list[float]:
    """Return the matrix that applies `first` and then `second`."""
    a, b, c, d, e, f = first
    return [
        a * second[0] + b * second[2],
        a * second[1] + b * second[3],
        c * second[0] + d * second[2],
        c * second[1] + d * second[3],
        e * second[0] + f * second[2] + second[4],
        e * second[1] + f * second[3] + second[5],
    ]


def _transform(current: list[float], x: float, y: float) -> tuple[float, float]:
    """Return a point of the page in points, given the current matrix."""
    return (
        current[0] * x + current[2] * y + current[4],
        current[1] * x + current[3] * y + current[5],
    )


def _number(operand: Any) -> float:
    """Return an operand as a number; 0 if it is damaged."""
    try:
        return float(operand)
    except (TypeError, ValueError):
        return 0.0
