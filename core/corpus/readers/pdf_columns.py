"""The reading order of a PDF page with two columns of text.

The page was drawn line by line. Such a page draws the first line of both columns, then the second
line of both, and so on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from core.corpus.readers.pdf_pieces import TextPiece


@dataclass(frozen=True)
class ColumnLayout:
    """Layout by which columns of a PDF page are recognised."""

    min_lines: int = 4  # lines with text in both columns
    min_gap_blanks: int = 3  # blanks between columns in a line of the page's layout
    min_words: float = 2.5  # mean number in a line of a column; cells of tables have fewer
    max_page_lines: int = 400  # lines that are examined
    near_points: float = 3.0  # distance within which pieces are on one line or at one left edge


COLUMN_LAYOUT = ColumnLayout()
Point = tuple[float, float]  # x and y of the beginning of a piece of text


def text_in_columns(page: Any, text: str, pieces: Sequence[TextPiece]) -> str:
    """Return the text of a page, column by column.

    Parameters
    ----------
    page : the page of pypdf.
    text : its text in the order in which it was drawn.
    pieces : pieces of this text with their positions.

    Returns
    -------
    The text; empty for a page without columns that were drawn line by line.
    """
    if not _has_columns([(piece.x, piece.y) for piece in pieces if piece.text.strip()]):
        return ""
    lines = (page.extract_text(extraction_mode="layout") or "").split("\n")
    ordered = _order_lines([line for line in lines if line.strip()])
    # The order is only used if no character was lost or added.
    is_same = Counter("".join(ordered.split())) == Counter("".join(text.split()))
    return ordered if is_same else ""


def _has_columns(pieces: Sequence[Point]) -> bool:
    """Return whether many pieces follow one to their left on the same line, left-aligned."""
    counts = Counter(
        round(piece[0] / COLUMN_LAYOUT.near_points)
        for previous, piece in zip(pieces, pieces[1:])
        if abs(piece[1] - previous[1]) < COLUMN_LAYOUT.near_points
        and piece[0] > previous[0] + COLUMN_LAYOUT.near_points
    )
    return any(counts[x] + counts[x + 1] >= COLUMN_LAYOUT.min_lines for x in counts)


def _order_lines(rows: list[str]) -> str:
    """Return the lines of a page column by column; empty without columns.

    Lines across both columns separate the columns above from those below.
    """
    gutter = _gutter(rows[: COLUMN_LAYOUT.max_page_lines])
    if gutter is None:
        return ""
    out: list[str] = []
    left: list[str] = []
    right: list[str] = []
    for row in rows:
        if _spans_columns(row, gutter):
            out += [*left, *right, row.strip()]
            left, right = [], []
            continue
        left_half, right_half = _halves(row, gutter)
        left.append(left_half)
        right.append(right_half)
    return "\n".join(filter(None, [*out, *left, *right]))


def _gutter(rows: list[str]) -> int | None:
    """Return the offset in lines at which the second column begins.

    Returns None if the lines have no two columns of prose.
    """
    starts = Counter(chain.from_iterable(map(_text_starts, rows)))
    if not starts:
        return None
    gutter = max(starts, key=lambda start: (starts[start], -start))
    halves = [_halves(row, gutter) for row in rows if _is_in_both_columns(row, gutter)]
    if len(halves) < COLUMN_LAYOUT.min_lines or len(halves) * 2 < len(rows):
        return None
    left_lines, right_lines = zip(*halves)
    return gutter if _are_prose(left_lines) and _are_prose(right_lines) else None


def _spans_columns(row: str, gutter: int) -> bool:
    """Return whether a line has text in the gap before the second column."""
    return bool(row[max(0, gutter - COLUMN_LAYOUT.min_gap_blanks) : gutter].strip())


def _is_in_both_columns(row: str, gutter: int) -> bool:
    """Return whether a line has text in each column, and none between them."""
    return all(_halves(row, gutter)) and not _spans_columns(row, gutter)


def _halves(row: str, gutter: int) -> tuple[str, str]:
    return row[:gutter].strip(), row[gutter:].strip()


def _are_prose(lines: Sequence[str]) -> bool:
    """Return whether lines of a column are prose.

    They must have as many words as prose has, and no gaps.
    """
    if sum(len(line.split()) for line in lines) / len(lines) < COLUMN_LAYOUT.min_words:
        return False
    return not any(" " * COLUMN_LAYOUT.min_gap_blanks in line for line in lines)


def _text_starts(row: str) -> list[int]:
    """Return the offsets in a line at which text begins after a gap."""
    start = len(row) - len(row.lstrip())
    return [
        index
        for index in range(start + COLUMN_LAYOUT.min_gap_blanks, len(row))
        if row[index] != " " and not row[index - COLUMN_LAYOUT.min_gap_blanks : index].strip()
    ]
