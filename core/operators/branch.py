"""A branch: the operators that run depend on the predicted hops, or on a learned rule."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from core.errors import BadParameter
from core.operators.base import Context
from core.operators.combinator import (
    Arm,
    Combinator,
    arm_plain_words,
    arm_words,
    written_fields,
)
from core.parameters import locate_errors
from core.types import State

BRANCH_FIELDS = ("hops", "arm")  # fields of State that a branch can depend on
OTHERWISE_ARM = "otherwise"  # the arm for all other numbers
OTHERWISE_KEY = "else"  # its key in a TOML row
BRANCH_SYNTAX = "A branch is written Branch(on='hops', arms={1: ..., 2: ...}, otherwise=...)."


@dataclass(frozen=True, repr=False)
class Branch(Combinator):
    """Operators chosen by a number: the hops that the question needs, or a learned rule's choice.

    The state's field `on` holds the number (`PredictHops` writes `hops`, and `PredictArm` writes
    `arm`), and `arms` the operators for each number. `otherwise` runs if no arm has that number.

    `reads` holds the fields that any arm reads before writing them, and `writes` the fields that
    every arm writes. The operators of the selected arm appear in the trace like all others. The
    branch itself has no step.

    >>> line = (
    ...     "PredictHops(source='own') >> "
    ...     "Branch(on='hops', arms={1: EgoNetwork(hops=0)}, otherwise=EgoNetwork(direction='out'))"
    ... )
    >>> for text in ("the r2 of B", "the r4 of the r2 of B"):
    ...     len(retrieve(line, "B", question=text, models=scores({})).subgraph.nodes)
    1
    4
    """

    title = "branch"
    kind = "an arm of a branch"
    is_nestable = False

    on: str
    arms: tuple[tuple[int, Arm], ...]
    otherwise: Arm

    def __post_init__(self) -> None:
        if self.on not in BRANCH_FIELDS:
            raise BadParameter(
                f"A branch looks at {' or '.join(BRANCH_FIELDS)}, not at {self.on!r}."
            )
        keys = [key for key, _ in self.arms]
        if not keys or not _are_arm_numbers(keys):
            raise BadParameter(
                "A branch needs arms, each for a whole number of its own, and “else”."
            )
        if not all(self.every_arm()):
            raise BadParameter("An arm of a branch has no operator.")
        super().__post_init__()

    def rows(self) -> dict[str, Arm]:
        return {str(key): arm for key, arm in self.arms} | {OTHERWISE_ARM: self.otherwise}

    def settings(self) -> dict[str, Any]:
        return {"on": self.on}

    @classmethod
    def from_rows(
        cls, rows: Mapping[str, Arm], settings: Mapping[str, Any], where: str = ""
    ) -> Self:
        arms = tuple((int(name), arm) for name, arm in rows.items() if name != OTHERWISE_ARM)
        with locate_errors(where):
            return cls(settings["on"], arms, rows.get(OTHERWISE_ARM, ()))

    @classmethod
    def text(cls, rows: Mapping[str, str], settings: Mapping[str, Any]) -> str:
        arms = ", ".join(f"{name}: {row}" for name, row in rows.items() if name != OTHERWISE_ARM)
        return f"Branch(on={settings['on']!r}, arms={{{arms}}}, otherwise={rows[OTHERWISE_ARM]})"

    @classmethod
    def parse_arguments(
        cls, arguments: Mapping[str, ast.expr]
    ) -> tuple[dict[str, ast.expr | None], dict[str, Any]]:
        if arguments.keys() != {"on", "arms", OTHERWISE_ARM}:
            raise BadParameter(BRANCH_SYNTAX)
        field_name, arms = arguments["on"], arguments["arms"]
        if not isinstance(field_name, ast.Constant) or field_name.value not in BRANCH_FIELDS:
            raise BadParameter(BRANCH_SYNTAX)
        if not isinstance(arms, ast.Dict):
            raise BadParameter(BRANCH_SYNTAX)
        numbers = [key.value if isinstance(key, ast.Constant) else None for key in arms.keys]
        if not _are_arm_numbers(numbers):
            raise BadParameter(BRANCH_SYNTAX)
        rows = {str(number): row for number, row in zip(numbers, arms.values)}
        return {**rows, OTHERWISE_ARM: arguments[OTHERWISE_ARM]}, {"on": field_name.value}

    def to_entry(self, rows: Mapping[str, list[Any]]) -> dict[str, Any]:
        arms = {OTHERWISE_KEY if name == OTHERWISE_ARM else name: row for name, row in rows.items()}
        return {self.entry_key(): self.on, **arms}

    @classmethod
    def parse_entry(
        cls, entry: Mapping[str, Any], where: str
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        rows = {}
        for name, row in entry.items():
            if name == cls.entry_key():
                continue
            if name != OTHERWISE_KEY and not name.isdecimal():
                raise BadParameter(
                    f"{where}: an arm of a branch is named by a whole number or “{OTHERWISE_KEY}”, "
                    f"not “{name}”."
                )
            if not isinstance(row, list):
                raise BadParameter(f"{where}: the arm “{name}” must be a list of operators.")
            rows[OTHERWISE_ARM if name == OTHERWISE_KEY else name] = row
        return rows, {"on": entry[cls.entry_key()]}

    @classmethod
    def row_title(cls, name: str) -> str:
        return f"arm {OTHERWISE_KEY if name == OTHERWISE_ARM else name}"

    @property
    def stage(self) -> str:  # type: ignore[override]
        return self.otherwise[-1].stage

    @property
    def reads(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys([self.on, *self.fields_read_by_arms()]))

    @property
    def writes(self) -> tuple[str, ...]:  # type: ignore[override]
        first_arm, *other_arms = map(written_fields, self.every_arm())
        return tuple(name for name in first_arm if all(name in arm for arm in other_arms))

    def choose_arm(self, state: State) -> Arm:
        """Return the operators of the arm that the state selects."""
        return dict(self.arms).get(getattr(state, self.on), self.otherwise)

    def __call__(self, state: State, ctx: Context) -> State:
        for operator in self.choose_arm(state):
            state = operator(state, ctx)
        return state

    def words(self) -> str:
        arms = [f"{key} → {arm_words(arm)}" for key, arm in self.arms]
        return f"by {self.on}: {', '.join(arms)}, else {arm_words(self.otherwise)}"

    def plain_words(self) -> str:
        reason = "number of hops" if self.on == "hops" else "learned rule"
        return f"by the {reason} {' or '.join(map(arm_plain_words, self.every_arm()))}"


def _are_arm_numbers(keys: list[Any]) -> bool:
    """Return whether the keys of arms are different whole numbers from 0 on."""
    are_numbers = all(type(key) is int and key >= 0 for key in keys)
    return are_numbers and len(set(keys)) == len(keys)
