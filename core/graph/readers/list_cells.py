"""Cells that hold several names, as a list written as text.

The module also makes the triples of such cells.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from itertools import product

from core.graph.readers.source import Triple, TripleSource

MAX_LIST_LETTERS = 1 << 20  # largest number of characters of a cell that is parsed as a list
QUOTE_MARKS = ("'", '"')


def cell_names(cell: str) -> list[str]:
    """Return the names of a list that JSON or Python wrote as text.

    Of any other cell, the cell itself is the only name.

    >>> from core.graph.readers.list_cells import cell_names
    >>> cell_names('["Ann", "Bo"]'), cell_names("['Ann','Bo']"), cell_names("[REC]")
    (['Ann', 'Bo'], ['Ann', 'Bo'], ['[REC]'])
    """
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > MAX_LIST_LETTERS:
        return [cell]
    values = _values(text)
    if values is None or not all(type(value) in (str, int, float) for value in values):
        return [cell]
    return [name for value in values if (name := " ".join(str(value).split()))]


def _values(text: str) -> list[object] | None:
    """Return the values of a list written as text, or None."""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        try:
            values = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return None
        # Rejected if it does not look the same again: NumPy writes arrays of texts without commas,
        # which Python would read as one joined text.
        if "".join(repr(values).split()) != "".join(text.split()).replace(",]", "]"):
            return None
    return values if isinstance(values, list) else None


def name_combinations(source: TripleSource, names: Sequence[Sequence[str]]) -> Iterator[Triple]:
    """Yield a triple for each combination of the names of head, relation and tail.

    `names` holds the names in each of these three cells. The tally notes cells with lists.
    """
    if max(map(len, names)) > 1:
        source.tally.note("Cells that hold lists: each of the names is a triple.")
    for cell in names:
        if len(cell) == 1 and _looks_like_list(cell[0]):
            source.tally.note("Cells that look like lists and cannot be read: each is one name.")
    yield from product(*names)


def _looks_like_list(name: str) -> bool:
    """Return whether a name begins and ends like a list of quoted names."""
    text = name.strip()
    return (
        text[:1] == "["
        and text[-1:] == "]"
        and text[1:2] in QUOTE_MARKS
        and text[-2:-1] in QUOTE_MARKS
    )
