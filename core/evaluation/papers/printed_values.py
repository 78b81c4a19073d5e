"""Values as a paper prints them: upper bounds, and tables that are only shown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class UpperBound(float):
    """Printed upper bound, such as “<0.01”, used in place of an exact value.

    As a number it is the largest float below the bound.

    >>> from core.evaluation.papers.printed_values import UpperBound
    >>> str(UpperBound.parse("<0.01")), UpperBound.parse("<0.01") < 0.01
    ('<0.01', True)
    """

    @classmethod
    def parse(cls, text: str) -> UpperBound:
        """Read a bound from its text.

        Raises ValueError if the text is no bound.
        """
        if not text.startswith("<"):
            raise ValueError(f"“{text}” is no upper bound.")
        return cls(math.nextafter(float(text[1:]), 0.0))

    def __str__(self) -> str:
        return f"<{float(self):.6g}"


@dataclass(frozen=True)
class PrintedTable:
    """Table of a paper that is only shown, not compared with measured values.

    Parameters
    ----------
    id : its name in the command `reproduce`.
    paper : title of the paper.
    place : its number in the paper, such as “Table 3”.
    title : title of the table.
    head : name of each column.
    rows : the cells of each row, as printed.
    made_by : command that computes such values here; empty if there is none.
    missing : if `made_by` is empty, the reason why nothing here computes them.
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
        """Sentence on the command that computes such values, or on why there is none."""
        return f"Made here by: {self.made_by}" if self.made_by else f"Not made here: {self.missing}"


def build_table(id: str, paper: str, values: Mapping[str, Any]) -> PrintedTable:
    """Return a printed table from its fields in a paper's TOML file.

    Parameters
    ----------
    id : its name in the command `reproduce`.
    paper : the paper's title.
    values : the other fields of `PrintedTable`, with lists for `head` and `rows`.

    Returns
    -------
    The table.

    Raises
    ------
    ValueError
        If a row does not have one cell per column.
    """
    head = tuple(values["head"])
    rows = tuple(tuple(row) for row in values["rows"])
    if any(len(row) != len(head) for row in rows):
        raise ValueError(f"A row of {id} has not {len(head)} cells.")
    return PrintedTable(id, paper, **{**values, "head": head, "rows": rows})
