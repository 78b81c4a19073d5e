"""Conversion of dataclasses to plain data, which JSON can hold, and back.

Questions, states, descriptions of runs and other values are saved this way. A new field needs no
further code. A field is saved under its name, or under `metadata={"saved": "another name"}`; with
`{"saved": False}` it is not saved. Fields at their default are left out, so data that was saved
before a field existed can still be read.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

DataclassT = TypeVar("DataclassT")
Maker = Callable[[Any], Any]  # makes a value from plain data


class PlainWriter:
    """Converter of dataclasses to plain data.

    A subclass overrides `value` for types that are written in a form of their own.
    """

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the fields of a dataclass that are not at their default."""
        data = {}
        for key, field in _saved_fields(instance.__class__).items():
            value = getattr(instance, field.name)
            # The types are compared too, as 1 == 1.0 == True in Python.
            is_default = type(value) is type(field.default) and value == field.default
            if value is not field.default and not is_default:
                data[key] = self.value(value)
        return data

    def value(self, value: Any) -> Any:
        """Return a value as plain data.

        Takes texts, numbers, None, mappings, tuples, lists and dataclasses. Raises TypeError for
        any other type.
        """
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)  # JSON has no infinities; the text is read back as a float
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if dataclasses.is_dataclass(value):
            return self.fields(value)
        if isinstance(value, Mapping):
            return {str(key): self.value(item) for key, item in value.items()}
        if isinstance(value, tuple | list):
            return [self.value(item) for item in value]
        raise TypeError(f"A {type(value).__name__} cannot be saved as plain data.")


class PlainReader:
    """Converter of plain data to dataclasses.

    The data is checked by the types of the fields. Methods raise ValueError, TypeError or KeyError
    for data that does not fit the types.

    Parameters
    ----------
    special : functions that make values of types that are saved in a form of their own, by type.
    old_names : present field names by their earlier names.
    strict : True to raise ValueError for keys that are no fields, False to ignore them.
    """

    def __init__(
        self,
        special: Mapping[Any, Maker] | None = None,
        old_names: Mapping[str, str] | None = None,
        strict: bool = False,
    ):
        self._special = special or {}
        self._old_names = old_names or {}
        self._strict = strict
        self._makers: dict[Any, Maker] = {}

    def fields(self, cls: Any, data: Mapping[str, Any], **overrides: Any) -> Any:
        """Return a dataclass made from its saved fields.

        `overrides` are the values of fields that are not read from the data.
        """
        saved_fields = _saved_fields(cls)
        arguments = dict(overrides)
        for key, value in data.items():
            field = saved_fields.get(self._old_names.get(key, key))
            if field is None and self._strict:
                raise ValueError(f"{cls.__name__} has no field {key!r}")
            if field is not None and field.name not in overrides:
                arguments[field.name] = self.value(_hints(cls)[field.name], value)
        return cls(**arguments)

    def value(self, hint: Any, data: Any) -> Any:
        """Return a value of the type `hint`."""
        maker = self._makers.get(hint)
        if maker is None:
            maker = self._makers[hint] = self._special.get(hint) or self._make_maker(hint)
        return maker(data)

    def _make_maker(self, hint: Any) -> Maker:
        """Return a function that makes values of a type from plain data."""
        origin, parts = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            # Only unions of one type and None are supported.
            (item_type,) = (part for part in parts if part is not type(None))
            return lambda data: None if data is None else self.value(item_type, data)
        if hint is Any:
            return _with_tuples
        if origin is tuple:
            return lambda data: self._tuple(parts, data)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return lambda data: {
                self.value(parts[0], key): self.value(parts[1], item) for key, item in data.items()
            }
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            return lambda data: self.fields(hint, data)
        if origin is typing.Literal:
            return lambda data: _require(data, data in parts)
        if hint is float:
            # `float` also converts the text "inf", as which `PlainWriter` saves an infinity.
            return lambda data: float(_require(data, type(data) is not bool))
        return lambda data: _require(data, type(data) is hint)

    def _tuple(self, parts: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
        _require(data, isinstance(data, list | tuple))
        hints = [parts[0]] * len(data) if len(parts) == 2 and parts[1] is ... else parts
        return tuple(self.value(hint, item) for hint, item in zip(hints, data, strict=True))


def to_plain(instance: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults.

    >>> from core.io.plain_data import from_plain, to_plain
    >>> from core.types import Question
    >>> to_plain(Question("who", answers=("Ann",)))
    {'text': 'who', 'answers': ['Ann']}
    >>> from_plain(Question, {"text": "who", "answers": ["Ann"]}).answers
    ('Ann',)
    """
    return PlainWriter().fields(instance)


def from_plain(cls: type[DataclassT], data: Mapping[str, Any], **overrides: Any) -> DataclassT:
    """Return the dataclass saved by `to_plain` or `dataclasses.asdict`; see `PlainReader`."""
    return _PLAIN_READER.fields(cls, data, **overrides)


_PLAIN_READER = PlainReader()


def _with_tuples(data: Any) -> Any:
    """Return plain data with tuples in place of lists, also of lists in lists."""
    return tuple(map(_with_tuples, data)) if isinstance(data, list) else data


def _require(value: Any, is_valid: bool) -> Any:
    if not is_valid:
        raise ValueError(f"{value!r:.40} was not expected")
    return value


@cache
def _saved_fields(cls: type) -> dict[str, dataclasses.Field]:
    """Return the fields of a dataclass by the names under which they are saved."""
    pairs = ((field.metadata.get("saved", field.name), field) for field in dataclasses.fields(cls))
    return {key: field for key, field in pairs if key}


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)
