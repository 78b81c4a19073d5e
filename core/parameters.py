"""Parameters that operators declare: a label, a help sentence and a range for each.

Values are checked when an operator is made.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

from core.errors import BadParameter, shorten, suggest_name
from core.models.combine import parse_chooser

MAX_VALUE_CHARACTERS = 60  # a longer value is shortened when it is shown to a person


def param(
    default: Any,
    label: str,
    help: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    model: bool = False,
    also: tuple[str, ...] = (),
    chat: bool = False,
    known: Callable[[], Iterable[str]] | None = None,
    lines: bool = False,
) -> Any:
    """Return a dataclass field that is a parameter of an operator.

    Parameters
    ----------
    default
        Value used if none is given. Its type is the type of the parameter.
    label
        A few words for forms.
    help
        One sentence for forms and documents.
    low, high
        Range of a number.
    choices
        All values that a text may have.
    model
        True if the text names a model or a combination of models.
    also
        Words that are allowed in place of a model's name.
    chat
        True if the text is the name or role of a language model.
    known
        Returns the texts that a form offers at the moment.
    lines
        True if the text may have several lines.

    Returns
    -------
    A field with all of them in its metadata.
    """
    return field(
        default=default,
        metadata=dict(
            label=label,
            help=help,
            low=low,
            high=high,
            choices=choices,
            model=model,
            also=also,
            chat=chat,
            known=known,
            lines=lines,
        ),
    )


@dataclass(frozen=True)
class Parameter:
    """One parameter of an operator, as forms, checks and documentation need it.

    The fields are those of `param`.
    """

    name: str
    type: type[Any]
    default: Any
    label: str
    help: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    model: bool
    also: tuple[str, ...]
    chat: bool
    known: Callable[[], Iterable[str]] | None = None
    lines: bool = False


class OperatorBase:
    """A value with declared parameters.

    Subclasses are frozen dataclasses with fields made by `param`. Values are checked when an
    object is made; a bad one raises BadParameter. `repr` gives the call that makes the object,
    with the parameters that differ from their defaults.
    """

    # declared for type checkers: subclasses are dataclasses
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __post_init__(self) -> None:
        for parameter in parameters(type(self)):
            object.__setattr__(
                self, parameter.name, _convert_value(self, parameter, getattr(self, parameter.name))
            )

    def __repr__(self) -> str:
        cls = type(self)
        return f"{cls.__name__}({', '.join(settings_text(cls, parameter_values(self)))})"


OperatorType = TypeVar("OperatorType", bound=OperatorBase)


def parameters(cls: type[OperatorBase]) -> tuple[Parameter, ...]:
    """Return the parameters of an operator class, in order."""
    if cls not in _parameters_by_class:
        _parameters_by_class[cls] = tuple(
            Parameter(f.name, type(f.default), f.default, **f.metadata)
            for f in dataclasses.fields(cls)
            if f.metadata
        )
    return _parameters_by_class[cls]


# cached, because drawing a page needs them hundreds of times
_parameters_by_class: WeakKeyDictionary[type[OperatorBase], tuple[Parameter, ...]] = (
    WeakKeyDictionary()
)


def parameter_values(operator: OperatorBase) -> Mapping[str, Any]:
    """Return the parameters of an operator with their values."""
    return {p.name: getattr(operator, p.name) for p in parameters(type(operator))}


def format_value(value: Any) -> str:
    """Return a parameter's value as a person reads it, on one line.

    A long text is cut.

    >>> from core.parameters import format_value
    >>> format_value(True), format_value(1000), format_value(0.80), format_value("bm25")
    ('yes', '1,000', '0.8', 'bm25')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else shorten(value, MAX_VALUE_CHARACTERS)


def settings_text(cls: type[OperatorBase], values: Mapping[str, Any]) -> list[str]:
    """Return the values that differ from the defaults, each as `name=value`."""
    values = {p.name: values.get(p.name, p.default) for p in parameters(cls)}
    return [f"{p.name}={values[p.name]!r}" for p in parameters(cls) if values[p.name] != p.default]


@contextmanager
def locate_errors(where: str) -> Iterator[None]:
    """Put `where` before the message of a BadParameter raised in this context."""
    try:
        yield
    except BadParameter as error:
        raise BadParameter(f"{where}: {error}" if where else str(error)) from None


def check_names(
    cls: type[OperatorBase], values: Mapping[str, Any], title: str, where: str = ""
) -> None:
    """Raise BadParameter for a name that is no parameter, and suggest a similar one."""
    names = [p.name for p in parameters(cls)]
    for key in values:
        if key not in names:
            with locate_errors(where):
                raise BadParameter(f"{title} has no parameter “{key}”.{suggest_name(key, names)}")


def make_operator(
    cls: type[OperatorType], values: Mapping[str, Any], where: str = ""
) -> OperatorType:
    """Return an operator made from named values.

    Raises
    ------
    BadParameter
        If a name is unknown or a value is bad. The message begins with `where` and suggests a
        similar name.
    """
    check_names(cls, values, cls.__name__, where)
    with locate_errors(where):
        return cls(**values)


def _convert_value(operator: OperatorBase, parameter: Parameter, value: Any) -> Any:
    """Return the value converted to the parameter's type.

    Raises BadParameter if it has another type or is out of range.
    """
    name = f"{parameter.name} of {type(operator).__name__}"
    if parameter.type is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not parameter.type:
        raise BadParameter(f"{name} must be a {_TYPE_WORDS[parameter.type]}, not {value!r}.")
    if parameter.choices and value not in parameter.choices:
        raise BadParameter(f"{name} must be one of {', '.join(parameter.choices)}, not {value!r}.")
    if parameter.model:
        parse_chooser(value)
    if parameter.low is not None and not value >= parameter.low:
        raise BadParameter(f"{name} must be at least {parameter.low:g}, not {value!r}.")
    if parameter.high is not None and not value <= parameter.high:
        raise BadParameter(f"{name} must be at most {parameter.high:g}, not {value!r}.")
    return value


_TYPE_WORDS = {int: "whole number", float: "number", str: "text", bool: "true or false"}
