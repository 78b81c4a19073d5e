"""Rows of data frames, and of lists of dicts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow

from core.errors import BadInput, shorten

TableLike = Any  # a data frame that hands its data on as Arrow, or a list of dicts


def table_rows(table: TableLike, name: str, columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the rows of a data frame, or of a list of dicts.

    Parameters
    ----------
    table : DataFrame, pyarrow.Table or list of dict
        A data frame of pandas, Polars or any other library that hands its data on as Arrow.
    name : str
        Name of the table in messages.
    columns : sequence of str
        Columns that the table must have.

    Returns
    -------
    list of dict
        One row per question or document. A missing value is None.

    Raises
    ------
    BadInput
        If it is no table, has no rows, or lacks a column. The message names that column and those
        that are there.

    Examples
    --------
    >>> from hopscope.tables import table_rows
    >>> table_rows([{"qid": "1", "query": "Who?", "note": float("nan")}], "topics", ("qid",))
    [{'qid': '1', 'query': 'Who?', 'note': None}]
    """
    rows = table
    if not isinstance(table, list) or not all(isinstance(row, Mapping) for row in table):
        try:
            rows = pyarrow.table(table).to_pylist()
        except (TypeError, ValueError, pyarrow.ArrowException) as error:
            raise BadInput(
                f"The {name} are no data frame and no list of dicts: {shorten(error, 200)}"
            ) from None
    if not rows:
        raise BadInput(f"The {name} have no rows.")
    for column in columns:
        if column not in rows[0]:
            there = ", ".join(map(str, rows[0]))
            raise BadInput(f"The {name} have no column “{column}”; there are {there}.")
    return list(map(_plain_row, rows))


def _plain_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as JSON has it: without NaN."""
    plain = dict(row)
    for key, value in row.items():
        if isinstance(value, float) and math.isnan(value):
            plain[key] = None
    return plain
