"""Cells of HTML tables that span several rows, whose texts are repeated in each."""

from __future__ import annotations

from collections.abc import Mapping

MAX_SPANNED_COLUMNS = 1_000  # columns that one cell may span
MAX_SPANNED_ROWS = 65_534  # rows that one cell may span, as in browsers
MAX_REPEATED_CELLS = 100  # cells of a row that are repeated in the next one
MAX_REPEATED_LETTERS = 200  # letters of a repeated cell; a longer one is no label


class SpannedRows:
    """The cells of rows above that span into the current row, by column.

    The reader of a page calls the methods in the order of rows and cells.
    """

    def __init__(self) -> None:
        # cells that span into the current and the next row: text, number of rows left, columns
        self._above: dict[int, tuple[str, int, int]] = {}
        self._below: dict[int, tuple[str, int, int]] = {}
        self._column = 0
        self._cell: tuple[int, int] = (1, 1)  # rows and columns of the current cell
        self._has_own_cell = False  # True if the current row has a cell of its own

    def begin_group(self) -> None:
        """Begin a head, body or foot of the table. No cell spans from one into the next."""
        self._above = {}
        self._below = {}
        self._column = 0

    def begin_row(self) -> None:
        """Begin a row."""
        self._above = {column: cell for column, cell in self._below.items() if cell[1] > 0}
        self._below = {}
        self._column = 0
        self._has_own_cell = False

    def take_repeated(self) -> list[str]:
        """Return the texts of spanning cells at the current column, and move past them."""
        texts = []
        while self._column in self._above:
            text, rows, columns = self._above.pop(self._column)
            self._below[self._column] = (text, rows - 1, columns)
            self._column += columns
            texts.append(text)
        return texts

    def take_remaining(self) -> list[str]:
        """Return the texts of spanning cells after the row's last cell.

        A row without a cell of its own gets none.
        """
        texts = self.take_repeated()
        for column in sorted(self._above):
            text, rows, columns = self._above[column]
            self._below[column] = (text, rows - 1, columns)
            texts.append(text)
        self._above = {}
        return texts if self._has_own_cell else []

    def begin_cell(self, attributes: Mapping[str, str]) -> None:
        """Begin a cell of the row."""
        self._has_own_cell = True
        rows = _number(attributes.get("rowspan", ""), MAX_SPANNED_ROWS, MAX_SPANNED_ROWS)
        self._cell = (rows, max(1, _number(attributes.get("colspan", ""), MAX_SPANNED_COLUMNS, 1)))

    def end_cell(self, text: str) -> None:
        """End the current cell, given its text."""
        rows, columns = self._cell
        text = " ".join(text.split())
        fits = text and len(text) <= MAX_REPEATED_LETTERS and len(self._below) < MAX_REPEATED_CELLS
        if rows > 1 and fits:
            self._below[self._column] = (text, rows - 1, columns)
        self._column += columns


def _number(text: str, limit: int, for_zero: int) -> int:
    """Return a span of at most `limit`; 1 if it is no number.

    `for_zero` is returned for 0, which means a span up to the end.
    """
    text = text.strip()
    if not text.isdecimal() or not text.isascii() or len(text) > 6:
        return 1
    return min(int(text), limit) or for_zero
