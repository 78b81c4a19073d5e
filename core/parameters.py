"""What an operator declares: its parameters, each with a label, a sentence of help and its range; checked when one is made."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

from core.errors import BadParameter, nearest, shorten
from core.models.combine import parse

VALUE_LETTERS = 60  # of a value in words

D = TypeVar("D", bound="Declared")


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
    """A dataclass field that is a parameter: with a label, a sentence of help, and its range or choices.

    `model` marks a text that names a model or a combination of models, `chat` the name or role of a language model; either
    may be one of the words in `also` instead. `known` lists the texts to choose from as they are at the moment, for forms; `lines` marks
    a text of several lines.
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
    """One parameter of an operator, as forms, checks and documentation need it."""

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


class Declared:
    """A value with declared parameters. Subclasses are frozen dataclasses whose fields are made by `param`; each is checked when a
    value is made, which raises BadParameter, and `repr` is the call that makes it, with what differs from the defaults."""

    # as subclasses are dataclasses
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __post_init__(self) -> None:
        for parameter in parameters(type(self)):
            object.__setattr__(
                self, parameter.name, _fit(self, parameter, getattr(self, parameter.name))
            )

    def __repr__(self) -> str:
        cls = type(self)
        return f"{cls.__name__}({', '.join(settings_text(cls, values(self)))})"


def parameters(cls: type[Declared]) -> tuple[Parameter, ...]:
    """The parameters of an operator class, in order."""
    if cls not in _read:
        _read[cls] = tuple(
            Parameter(f.name, type(f.default), f.default, **f.metadata)
            for f in dataclasses.fields(cls)
            if f.metadata
        )
    return _read[cls]


# a page asks hundreds of times
_read: WeakKeyDictionary[type[Declared], tuple[Parameter, ...]] = WeakKeyDictionary()


def values(operator: Declared) -> Mapping[str, Any]:
    """The parameters of an operator with their values."""
    return {p.name: getattr(operator, p.name) for p in parameters(type(operator))}


def value_words(value: Any) -> str:
    """A parameter's value as a person reads it, on one line; of a long text its beginning.

    >>> from core.parameters import value_words
    >>> value_words(True), value_words(1000), value_words(0.80), value_words("bm25")
    ('yes', '1,000', '0.8', 'bm25')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else shorten(value, VALUE_LETTERS)


def settings_text(cls: type[Declared], given: Mapping[str, Any]) -> list[str]:
    """The values that differ from the defaults, each as `name=value`."""
    named = ((p.name, given.get(p.name, p.default), p.default) for p in parameters(cls))
    return [f"{name}={value!r}" for name, value, usual in named if value != usual]


@contextmanager
def located(where: str) -> Iterator[None]:
    """Say `where` the parameter is that is bad, in what is raised within."""
    try:
        yield
    except BadParameter as error:
        raise BadParameter(f"{where}: {error}" if where else str(error)) from None


def check_names(
    cls: type[Declared], given: Mapping[str, Any], called: str, where: str = ""
) -> None:
    """Raise BadParameter for a value of no parameter; it names the nearest one."""
    known = [p.name for p in parameters(cls)]
    for key in given:
        if key not in known:
            with located(where):
                raise BadParameter(f"{called} has no parameter “{key}”.{nearest(key, known)}")


def make(cls: type[D], given: Mapping[str, Any], where: str = "") -> D:
    """An operator from named values. Raises BadParameter that says `where`, what is unknown and the nearest valid name."""
    check_names(cls, given, cls.__name__, where)
    with located(where):
        return cls(**given)


def _fit(operator: Declared, parameter: Parameter, value: Any) -> Any:
    """`value` as the parameter's type. Raises BadParameter where it is of another type or out of range."""
    name = f"{parameter.name} of {type(operator).__name__}"
    if parameter.type is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not parameter.type:
        raise BadParameter(f"{name} must be a {_TYPES[parameter.type]}, not {value!r}.")
    if parameter.choices and value not in parameter.choices:
        raise BadParameter(f"{name} must be one of {', '.join(parameter.choices)}, not {value!r}.")
    if parameter.model:
        parse(value)
    if parameter.low is not None and not value >= parameter.low:
        raise BadParameter(f"{name} must be at least {parameter.low:g}, not {value!r}.")
    if parameter.high is not None and not value <= parameter.high:
        raise BadParameter(f"{name} must be at most {parameter.high:g}, not {value!r}.")
    return value


_TYPES = {int: "whole number", float: "number", str: "text", bool: "true or false"}
