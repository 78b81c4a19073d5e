"""Parsers and writers of lines, as text and as rows of TOML files."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Generic, TypeVar

from core.errors import BadParameter, shorten, suggest_name
from core.io.toml_file import read_toml
from core.lines.brick import Brick, Bricks, brick_of, bricks_of, default_operator, operators_of
from core.lines.holder import Holder
from core.lines.line import OperatorLine
from core.lines.text import literal_values, parse_call, split_steps
from core.parameters import locate_errors, make_operator, parameter_values

L = TypeVar("L", bound=OperatorLine[Any])


@dataclass(frozen=True, eq=False)
class Grammar(Generic[L]):
    """Parser of one kind of lines.

    These lines either retrieve or build a graph.

    Parameters
    ----------
    operators : the classes of operators by name.
    stages : the names of the stages, in the order in which a line goes through them.
    line_class : the class of these lines.
    last_stage : the last stage, before which a new step is inserted.
    line_noun : noun for a line with a name in messages, such as "a build".
    operator_noun : noun for an operator in messages, such as "operator".
    """

    operators: Mapping[str, type[Any]]
    stages: tuple[str, ...]
    line_class: type[L]
    last_stage: str
    line_noun: str
    operator_noun: str

    def parse(self, text: str) -> L:
        """Return the line that a text describes, such as `EgoNetwork(hops=1) >> ShortestPaths()`.

        The values of parameters are literals, so no code of the text runs. Raises BadParameter.
        """
        bricks = self.bricks(text, count())
        if not bricks:
            raise BadParameter(self._no_line(text))
        return self.line_class(operators_of(bricks))

    def bricks(self, text: str, keys: Iterator[int]) -> Bricks:
        """Return the bricks that a text describes, which may be incomplete.

        Raises BadParameter.
        """
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise BadParameter(self._no_line(text)) from None
        return self._row(tree, keys)

    def _no_line(self, text: str) -> str:
        """Return the message on a text that is no line."""
        form = "Operator(parameter=value) >> Operator()"
        return f"“{shorten(text)}” is neither {self.line_noun} nor a line of {self.operator_noun}s, as {form} …"

    def _row(self, tree: ast.expr, keys: Iterator[int]) -> Bricks:
        """Return the bricks of the expression `a >> b`. There are none for `...`, an empty row."""
        if isinstance(tree, ast.Constant) and tree.value is Ellipsis:
            return ()
        return tuple(self._brick(call, keys) for call in split_steps(tree))

    def _brick(self, call: ast.expr, keys: Iterator[int]) -> Brick:
        if isinstance(call, ast.BinOp) and isinstance(call.op, ast.BitOr):  # a | b
            sides = [ast.keyword("first", call.left), ast.keyword("second", call.right)]
            call = ast.Call(ast.Name("Union"), [], sides)
        parsed_call = parse_call(call)
        if parsed_call is None:
            raise BadParameter(
                f"“{shorten(ast.unparse(call))}” is no {self.operator_noun} with named parameters."
            )
        name, arguments = parsed_call
        cls = self.find_class(name)
        if not issubclass(cls, Holder):
            return brick_of(make_operator(cls, literal_values(name, arguments)), keys)
        key = next(keys)
        rows, settings = cls.parse_arguments(arguments)
        arms = {}
        for arm, row in rows.items():
            if row is None:  # not in the text
                arms[arm] = bricks_of(default_operator(cls).rows()[arm], keys)
            else:
                arms[arm] = self._row(row, keys)
        return Brick(key, cls, settings, arms)

    def find_class(self, name: str) -> type[Any]:
        """Return the operator class of a name. Raises BadParameter."""
        return self.operators.get(name) or self.find_class_with_stage(name)

    def find_class_with_stage(self, name: object, where: str = "") -> type[Any]:
        """Return the operator class of a name.

        The class of a branch does not count, as it has no stage. The BadParameter of an unknown
        name begins with `where` and suggests the nearest name.
        """
        found_class = self.operators.get(name) if isinstance(name, str) else None
        if found_class is None or not isinstance(found_class.stage, str):
            classes = [key for key, cls in self.operators.items() if isinstance(cls.stage, str)]
            subject = f"{where}: there" if where else "There"
            raise BadParameter(
                f"{subject} is no {self.operator_noun} “{shorten(name)}”."
                f"{suggest_name(str(name), classes)}"
            )
        return found_class

    def read_file(self, file: Path, fields: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the key and the fields of each TOML row.

        The fields are those that `parse_row` returns. Raises BadParameter, which names file, row,
        key and the nearest valid name.
        """
        try:
            rows = read_toml(file)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadParameter(f"{file.name} is not valid TOML: {error}.") from None
        for key, row in rows.items():
            yield key, self.parse_row(row, fields, f"{file.name}, “{key}”")

    def parse_row(self, row: Any, fields: Sequence[str], where: str) -> dict[str, Any]:
        """Check a TOML row and return its fields.

        The field `line` is a line of operators. Raises BadParameter, which begins with `where`.
        """
        if not isinstance(row, Mapping):
            raise BadParameter(f"{where}: a table was expected.")
        for field in row:
            if field not in fields:
                raise BadParameter(f"{where}: unknown key “{field}”.{suggest_name(field, fields)}")
        for field in ("title", "line"):
            if field not in row:
                raise BadParameter(f"{where}: “{field}” is missing.")
        if not isinstance(row["line"], list):
            raise BadParameter(f"{where}: “line” must be a list of {self.operator_noun}s.")
        operators = self._entries(row["line"], where)
        with locate_errors(where):
            return {**row, "line": self.line_class(operators)}

    def _entries(self, entries: Sequence[Any], where: str) -> tuple[Any, ...]:
        holders = [cls for cls in self.operators.values() if issubclass(cls, Holder)]
        numbered = enumerate(entries, 1)
        return tuple(self._entry(entry, f"{where}, operator {i}", holders) for i, entry in numbered)

    def _entry(self, entry: Any, where: str, holders: Sequence[type[Holder]]) -> Any:
        """Return the operator of one entry of a TOML row. Raises BadParameter with `where`."""
        for cls in holders:
            if isinstance(entry, Mapping) and cls.entry_key() in entry:
                rows, settings = cls.parse_entry(entry, where)
                row_operators = {
                    name: self._entries(row, f"{where}, {cls.row_title(name)}")
                    for name, row in rows.items()
                }
                return cls.from_rows(row_operators, settings, where)
        stage = self._stage(entry, where)
        cls = self.find_class_with_stage(entry[stage], where)
        if cls.stage != stage:
            raise BadParameter(
                f"{where}: {cls.__name__} belongs to the stage “{cls.stage}”, not “{stage}”."
            )
        settings = {key: value for key, value in entry.items() if key != stage}
        return make_operator(cls, settings, where)

    def _stage(self, entry: Any, where: str) -> str:
        """Return the stage that is a key of an entry.

        An example is `{ retrieve = "PageRankNodes" }`. Raises BadParameter if the entry has no such
        key, or several.
        """
        stages = [stage for stage in self.stages if isinstance(entry, Mapping) and stage in entry]
        # A parameter may have the name of a stage, as `read` has. Its value is then no text.
        if len(stages) > 1:
            stages = [stage for stage in stages if isinstance(entry[stage], str)]
        if len(stages) != 1:
            raise BadParameter(
                f"{where}: name one stage ({', '.join(self.stages)}) and its operator."
            )
        return stages[0]


def entries_of(operators: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the TOML entries that read back as these operators."""
    entries = []
    for operator in operators:
        if isinstance(operator, Holder):
            rows = {name: entries_of(row) for name, row in operator.rows().items()}
            entries.append(operator.to_entry(rows))
        else:
            entries.append({operator.stage: type(operator).__name__, **parameter_values(operator)})
    return entries
