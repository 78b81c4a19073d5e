"""Notes compared by their figures and names, so that their wording is free."""

from __future__ import annotations

import re

FIGURE = re.compile(r"(?<!\w)\.\d+|\d+(?:[.,]\d+)*")


class NoteWith:
    """Equal to a text that holds these parts in this order, and no other figures.

    >>> from tests.notes import NoteWith
    >>> "a.csv: 2 rows are left out." == NoteWith("a.csv", 2, "left out")
    True
    >>> "a.csv: 12 rows are left out." == NoteWith("a.csv", 2, "left out")
    False
    """

    def __init__(self, *parts: str | int):
        self.parts = tuple(f"{part:,}" if isinstance(part, int) else part for part in parts)

    def __eq__(self, text: object) -> bool:
        if not isinstance(text, str):
            return NotImplemented
        figures = [figure for part in self.parts for figure in FIGURE.findall(part)]
        at = 0
        for part in self.parts:
            found = re.compile(rf"(?<!\w){re.escape(part)}(?!\w)").search(text, at)
            if found is None:
                return False
            at = found.end()
        return FIGURE.findall(text) == figures

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"NoteWith{self.parts!r}"
