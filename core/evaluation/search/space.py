"""Design space of lines on triples, read from `space.toml`.

The file lists the operators of each stage and the values that their parameters may have. A search
draws lines from the space with the help of an Optuna trial. Every line drawn can run.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import BadParameter, suggest_name
from core.models.combine import model_names
from core.operators.base import Line, Operator, order_fault
from core.operators.text import operator_class
from core.parameters import Parameter, check_names, make_operator, parameters

if TYPE_CHECKING:
    from optuna.trial import BaseTrial

SPACE_FILE = Path(__file__).with_name("space.toml")
SPACE_STAGES = ("extract", "filter", "retrieve", "refine", "generate")
# Kinds of operators that a search may use, in the words of the screens.
OPERATOR_KINDS = {
    "published": "steps of the papers",
    "beyond": "steps beyond the papers",
    "solved": "steps that learn from solved questions",
    "llm": "language models that choose",
}
DEFAULT_KINDS = ("published", "beyond")
NO_OPERATOR = "none"  # suggested to leave out an optional stage


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, both included.

    With `log` they are drawn evenly on a logarithmic scale.
    """

    low: float
    high: float
    log: bool = False


AllowedValues = Range | tuple[Any, ...]  # of one parameter: a range, or the choices


@dataclass(frozen=True)
class Alternative:
    """An operator of a stage, and the values that its parameters may have.

    `name` is unique in the stage. `allowed_values` maps names of parameters to their values; the
    other parameters have their defaults.
    """

    cls: type[Operator]
    name: str
    allowed_values: Mapping[str, AllowedValues]

    def draw(self, trial: BaseTrial) -> Operator:
        """Return the operator with the values that a trial suggests."""
        types = {parameter.name: parameter.type for parameter in parameters(self.cls)}
        values = {
            key: _suggest(trial, f"{self.name}.{key}", types[key], allowed)
            for key, allowed in self.allowed_values.items()
        }
        return make_operator(self.cls, values)


@dataclass(frozen=True)
class Space:
    """Design space of lines on triples: the operators to choose from at each stage."""

    stages: Mapping[str, tuple[Alternative, ...]]

    def line(self, trial: BaseTrial) -> Line:
        """Return a line with the values that a trial suggests.

        The line retrieves, may refine the result, and answers. If its retrieval reads a subgraph,
        an extraction and perhaps a filter come first.
        """
        retrieve = self._draw(trial, "retrieve")
        assert retrieve is not None  # `load_space` refuses a space that cannot retrieve
        operators: list[Operator | None] = []
        if order_fault((), retrieve):  # it cannot be the first operator
            operators.append(self._draw(trial, "extract"))
            operators.append(self._draw(trial, "filter", optional=True))
        operators.append(retrieve)
        operators.append(self._draw(trial, "refine", optional=True))
        operators.append(self._draw(trial, "generate"))
        return Line(tuple(filter(None, operators)))

    @property
    def first_suggestions(self) -> tuple[dict[str, str], ...]:
        """First suggestions of the search: each operator that retrieves.

        Each maps the stage to the name of an operator. The trial suggests the rest of the line.
        """
        return tuple({"retrieve": choice.name} for choice in self.stages["retrieve"])

    def describe(self) -> dict[str, list[list[Any]]]:
        """Return the space as data for JSON.

        The data are part of the key of a search.
        """
        return describe_stages(self.stages)

    def models(self) -> tuple[str, ...]:
        """Return the models and roles that lines of the space may name."""
        return models_of(chain.from_iterable(self.stages.values()))

    def _draw(self, trial: BaseTrial, stage: str, optional: bool = False) -> Operator | None:
        choices = ([NO_OPERATOR] if optional else []) + [one.name for one in self.stages[stage]]
        if choices in ([], [NO_OPERATOR]):
            return None
        choice = trial.suggest_categorical(stage, choices)
        return next((one.draw(trial) for one in self.stages[stage] if one.name == choice), None)


def load_space(models, kinds: Iterable[str] = DEFAULT_KINDS, file: Path = SPACE_FILE) -> Space:
    """Return the space of a file.

    It is restricted to some kinds of operators and to available models.

    Parameters
    ----------
    models : the model registry.
    kinds : kinds of operators that retrieve (`OPERATOR_KINDS`). Other stages may name a language
        model only if `llm` is among them.
    file : the TOML file of the space.

    Returns
    -------
    The alternatives of each stage.

    Raises
    ------
    BadParameter : a kind, operator or parameter is unknown, or nothing is left to retrieve with.
    """
    kinds = tuple(kinds)
    for kind in kinds:
        if kind not in OPERATOR_KINDS:
            raise BadParameter(
                f"There is no kind of steps “{kind}”.{suggest_name(kind, OPERATOR_KINDS)}"
            )
    table = tomllib.loads(file.read_text("utf-8"))
    alternatives = {}
    for stage in SPACE_STAGES:
        rows = (read_alternative(row, stage, models, kinds) for row in table.get(stage, ()))
        alternatives[stage] = tuple(filter(None, rows))
    if not alternatives["extract"]:  # then nothing supplies a subgraph
        alternatives["retrieve"] = tuple(
            one for one in alternatives["retrieve"] if "subgraph" not in one.cls.reads
        )
    if not alternatives["retrieve"]:
        steps = ", ".join(OPERATOR_KINDS[kind] for kind in kinds) or "no steps"
        raise BadParameter(
            f"There is nothing to retrieve with: wished are {steps}, and models that are here."
        )
    return Space(alternatives)


def describe_stages(stages: Mapping[str, Iterable[Alternative]]) -> dict[str, Any]:
    """Return the alternatives of stages as data for JSON."""
    return {stage: [_alternative_list(one) for one in group] for stage, group in stages.items()}


def models_of(alternatives: Iterable[Alternative]) -> tuple[str, ...]:
    """Return the models and roles that operators may name.

    Operators that answer are left out; the evaluation chooses their language model.
    """
    names: list[str] = []
    for alternative in alternatives:
        if alternative.cls.stage == "generate":
            continue
        for parameter in parameters(alternative.cls):
            if not parameter.model:
                continue
            for value in _model_values(alternative.allowed_values, parameter):
                if value not in parameter.also:
                    names += model_names(value)
    return tuple(dict.fromkeys(names))


def read_alternative(
    row: Mapping[str, Any], stage: str, models, kinds: tuple[str, ...], file: str = SPACE_FILE.name
) -> Alternative | None:
    """Return a row of the file as an alternative.

    Parameters
    ----------
    row : a row of the file: an operator, its kind, and the values of its parameters.
    stage : stage of the file's section with the row.
    models : the registry of models.
    kinds : kinds of operators to include, as in `load_space`.
    file : name of the file, for errors.

    Returns
    -------
    The alternative, with the available models only. None if it retrieves and its kind is not
    included, or if a parameter that names a model has no available one.

    Raises
    ------
    BadParameter : the operator, a parameter or a value is not valid.
    """
    cls = operator_class(row["operator"], file)
    kind = row.get("kind", "published")
    if cls.stage != stage or kind not in OPERATOR_KINDS:
        raise BadParameter(
            f"{file}: {cls.__name__} stands under {stage} as {kind}, which it is not."
        )
    if kind not in kinds and cls.stage == "retrieve":
        return None
    allowed_values = _read_values(row, cls, file)
    name = row.get("name", cls.__name__)
    if cls.stage == "generate":
        return Alternative(cls, name, allowed_values)
    for parameter in parameters(cls):
        if not parameter.model:
            continue
        available_models = tuple(
            value
            for value in _model_values(allowed_values, parameter)
            if value in parameter.also or _is_available(value, models, "llm" in kinds)
        )
        if not available_models:
            return None
        allowed_values[parameter.name] = available_models
    return Alternative(cls, name, allowed_values)


def _read_values(
    row: Mapping[str, Any], cls: type[Operator], file: str
) -> dict[str, AllowedValues]:
    """Return the allowed values in a row of the file, by parameter. Raises BadParameter."""
    parameter_values = {key: row[key] for key in row if key not in ("operator", "name", "kind")}
    check_names(cls, parameter_values, cls.__name__, file)
    return {
        key: Range(**values) if isinstance(values, Mapping) else tuple(values)
        for key, values in parameter_values.items()
    }


def _model_values(values: Mapping[str, AllowedValues], parameter: Parameter) -> tuple[str, ...]:
    """Return the allowed values of a parameter that names models, else its default."""
    expressions = values.get(parameter.name, (parameter.default,))
    assert not isinstance(expressions, Range)  # ranges are for numbers
    return expressions


def _is_available(expression: str, models, allow_chat: bool) -> bool:
    """Return whether all models of an expression are available.

    None of them may be a language model unless `allow_chat` is true.
    """
    return all(
        models.info(name).present and (allow_chat or models.info(name).kind != "chat")
        for name in model_names(expression)
    )


def _suggest(trial: BaseTrial, name: str, value_type: type, allowed: AllowedValues) -> Any:
    if not isinstance(allowed, Range):
        return trial.suggest_categorical(name, allowed)
    if value_type is int:
        return trial.suggest_int(name, int(allowed.low), int(allowed.high), log=allowed.log)
    return trial.suggest_float(name, allowed.low, allowed.high, log=allowed.log)


def _alternative_list(alternative: Alternative) -> list[Any]:
    values = {key: _plain_values(allowed) for key, allowed in alternative.allowed_values.items()}
    return [alternative.name, values]


def _plain_values(allowed: AllowedValues) -> list[Any]:
    if isinstance(allowed, Range):
        return ["range", allowed.low, allowed.high, allowed.log]
    return list(allowed)
