"""Base class of operators that hold rows of operators. It has their text and TOML forms."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

from core.errors import BadParameter
from core.lines.text import literal_values
from core.parameters import (
    OperatorBase,
    check_names,
    locate_errors,
    make_operator,
    parameter_values,
    settings_text,
)

Row = tuple[Any, ...]
LIST_COUNT_WORDS = {1: "a list", 2: "two lists"}


class Holder(OperatorBase):
    """An operator with rows of operators as fields, such as a loop.

    A row is a tuple of operators. In a TOML file the key of a holder is the name of its class, as
    in `{ loop = [...], budget = 100 }`.
    """

    kind: ClassVar[str]  # noun for the operator in messages
    lines: ClassVar[tuple[str, ...]] = ()  # names of the fields that are rows

    @classmethod
    def entry_key(cls) -> str:
        """Return the key by which a TOML entry names this class."""
        return cls.__name__.lower()

    def rows(self) -> dict[str, Row]:
        """Return the rows by name, in order."""
        return {name: getattr(self, name) for name in self.lines}

    def settings(self) -> dict[str, Any]:
        """Return the values of all fields except the rows."""
        return dict(parameter_values(self))

    @classmethod
    def from_rows(
        cls, rows: Mapping[str, Row], settings: Mapping[str, Any], where: str = ""
    ) -> Self:
        """Return an operator with these rows and settings.

        Raises BadParameter, which begins with `where`.
        """
        check_names(cls, settings, cls.kind.capitalize(), where)
        with locate_errors(where):
            return replace(make_operator(cls, settings), **rows)

    @classmethod
    def text(cls, rows: Mapping[str, str], settings: Mapping[str, Any]) -> str:
        """Return the canonical text of an operator, from the texts of its rows."""
        parts = [f"{name}={row}" for name, row in rows.items()]
        return f"{cls.__name__}({', '.join([*parts, *settings_text(cls, settings)])})"

    @classmethod
    def parse_arguments(
        cls, arguments: Mapping[str, ast.expr]
    ) -> tuple[dict[str, ast.expr | None], dict[str, Any]]:
        """Return the rows and the settings from the named arguments of a text.

        A row that the text does not have is None and means the default row. Raises BadParameter.
        """
        others = {name: value for name, value in arguments.items() if name not in cls.lines}
        settings = literal_values(cls.__name__, others)
        check_names(cls, settings, cls.kind.capitalize())
        rows = {name: arguments.get(name) for name in cls.lines}
        return rows, dict(parameter_values(make_operator(cls, settings)))

    def to_entry(self, rows: Mapping[str, list[Any]]) -> dict[str, Any]:
        """Return the TOML entry of this operator, from the entries of its rows."""
        entries = list(rows.values())
        return {self.entry_key(): entries if len(entries) > 1 else entries[0], **self.settings()}

    @classmethod
    def parse_entry(
        cls, entry: Mapping[str, Any], where: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the rows, still as entries, and the settings of a TOML entry.

        Raises BadParameter, which begins with `where`.
        """
        key, count = cls.entry_key(), len(cls.lines)
        rows = [entry[key]] if count == 1 else entry[key]
        if not isinstance(rows, list) or [isinstance(row, list) for row in rows] != [True] * count:
            raise BadParameter(f"{where}: “{key}” must be {LIST_COUNT_WORDS[count]} of operators.")
        settings = {name: value for name, value in entry.items() if name != key}
        return dict(zip(cls.lines, rows)), settings

    @classmethod
    def row_title(cls, name: str) -> str:
        """Return the name of a row in messages."""
        key = cls.entry_key()
        return key if len(cls.lines) == 1 else f"{key}, line {cls.lines.index(name) + 1}"

    def __repr__(self) -> str:
        texts = {name: row_text(row) for name, row in self.rows().items()}
        return self.text(texts, self.settings())


def row_text(row: Row) -> str:
    """Return the canonical text of a row of operators."""
    return " >> ".join(map(repr, row))
