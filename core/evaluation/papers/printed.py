"""Values as a paper prints them: upper bounds, and tables that no experiment here measures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class UpperBound(float):
    """A printed bound, such as “<0.01”. As a number it is the largest one below the bound.

    >>> from core.evaluation.papers.printed import UpperBound
    >>> str(UpperBound.parse("<0.01")), UpperBound.parse("<0.01") < 0.01
    ('<0.01', True)
    """

    @classmethod
    def parse(cls, text: str) -> UpperBound:
        """Read a bound. Raises ValueError where the text is none."""
        if not text.startswith("<"):
            raise ValueError(f"“{text}” is no upper bound.")
        return cls(math.nextafter(float(text[1:]), 0.0))

    def __str__(self) -> str:
        return f"<{float(self):.6g}"


@dataclass(frozen=True)
class PrintedTable:
    """A table whose values are shown as the paper prints them.

    `made_by` says what makes such values here, `missing` why nothing does; one of both is given.
    """

    id: str
    paper: str
    place: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    made_by: str = ""
    missing: str = ""

    @property
    def source(self) -> str:
        """The sentence on where values of this computer come from."""
        return f"Made here by: {self.made_by}" if self.made_by else f"Not made here: {self.missing}"


def read_table(id: str, paper: str, values: Mapping[str, Any]) -> PrintedTable:
    """Read a table of a paper's file.

    Parameters
    ----------
    id : the name in `reproduce`.
    paper : the paper's title.
    values : the fields of `PrintedTable` as the file has them.

    Raises
    ------
    ValueError
        Where a row has not a cell for each column.
    """
    head = tuple(values["head"])
    rows = tuple(tuple(row) for row in values["rows"])
    if any(len(row) != len(head) for row in rows):
        raise ValueError(f"A row of {id} has not {len(head)} cells.")
    return PrintedTable(id, paper, **{**values, "head": head, "rows": rows})
