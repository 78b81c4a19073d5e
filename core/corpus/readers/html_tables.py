"""Cells of HTML tables that reach over several rows."""

from __future__ import annotations

from collections.abc import Mapping

MAX_COLUMNS = 1_000  # over which one cell may reach
MAX_ROWS = 65_534  # over which one cell may reach, as browsers have it
MAX_REPEATED = 100  # cells of a table that are repeated in its next row
MAX_REPEATED_LETTERS = 200  # of a cell that is repeated; a longer one is no label


class SpannedRows:
    """The cells of the rows above that reach down into the row at hand, by their column."""

    def __init__(self) -> None:
        self._above: dict[int, tuple[str, int, int]] = {}  # text, rows left, columns
        self._next: dict[int, tuple[str, int, int]] = {}
        self._column = 0
        self._cell: tuple[int, int] = (1, 1)  # rows and columns of the cell at hand
        self._has_own = False  # whether the row at hand has a cell of its own

    def begin_group(self) -> None:
        """Begin a head, body or foot of the table; no cell reaches beyond one."""
        self._above, self._next, self._column = {}, {}, 0

    def begin_row(self) -> None:
        """Begin a row."""
        self._above = {column: held for column, held in self._next.items() if held[1] > 0}
        self._next, self._column, self._has_own = {}, 0, False

    def repeated(self) -> list[str]:
        """Return the texts of the cells that stand at the place of the next cell, and go behind them."""
        texts = []
        while self._column in self._above:
            text, rows, columns = self._above.pop(self._column)
            self._next[self._column] = (text, rows - 1, columns)
            self._column += columns
            texts.append(text)
        return texts

    def remaining(self) -> list[str]:
        """Return the texts of the cells behind the last one of the row; none for a row without any of its own."""
        texts = self.repeated()
        for column in sorted(self._above):
            text, rows, columns = self._above[column]
            self._next[column] = (text, rows - 1, columns)
            texts.append(text)
        self._above = {}
        return texts if self._has_own else []

    def begin_cell(self, attributes: Mapping[str, str]) -> None:
        """Begin a cell of the row."""
        self._has_own = True
        rows = _number(attributes.get("rowspan", ""), MAX_ROWS, MAX_ROWS)
        self._cell = (rows, max(1, _number(attributes.get("colspan", ""), MAX_COLUMNS, 1)))

    def end_cell(self, text: str) -> None:
        """End the cell at hand, whose text is known now."""
        rows, columns = self._cell
        text = " ".join(text.split())
        fits = text and len(text) <= MAX_REPEATED_LETTERS and len(self._next) < MAX_REPEATED
        if rows > 1 and fits:
            self._next[self._column] = (text, rows - 1, columns)
        self._column += columns


def _number(text: str, most: int, none: int) -> int:
    """Read a span; 0 means to the end, where `none` is given."""
    text = text.strip()
    if not text.isdecimal() or not text.isascii() or len(text) > 6:
        return 1
    return min(int(text), most) or none
