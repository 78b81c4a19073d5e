"""Dataclasses as plain data that JSON can hold, and back, by the types of their fields.

A new field needs no further code. A field is saved under its name, or under `metadata={"saved":
"another name"}`; with `{"saved": False}` it is not saved. Fields at their default are left out, so
data that was saved before a field existed can still be read.
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
Make = Callable[[Any], Any]


class PlainWriter:
    """Converts values to plain data. Subclasses define how their own types are written."""

    def fields(self, made: Any) -> dict[str, Any]:
        """Return the fields of a dataclass that are not at their default."""
        plain = {}
        for key, field in _saved_fields(made.__class__).items():
            value = getattr(made, field.name)
            if value is not field.default and (
                type(value) is not type(field.default) or value != field.default
            ):
                plain[key] = self.value(value)
        return plain

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
    """Converts plain data to values, checked by their types.

    A key that is no field is ignored, or refused by a `strict` reader. Raises ValueError, TypeError
    or KeyError.

    Parameters
    ----------
    special : readers of types that are saved in a form of their own.
    earlier : present field names by their earlier names.
    strict : refuse keys that are no fields.
    """

    def __init__(
        self,
        special: Mapping[Any, Make] | None = None,
        earlier: Mapping[str, str] | None = None,
        strict: bool = False,
    ):
        self._special, self._earlier, self._strict = special or {}, earlier or {}, strict
        self._makers: dict[Any, Make] = {}

    def fields(self, cls: Any, saved: Mapping[str, Any], **given: Any) -> Any:
        """Return a dataclass made from its saved fields. Those that are `given` are not read."""
        saved_fields = _saved_fields(cls)
        arguments = dict(given)
        for key, value in saved.items():
            field = saved_fields.get(self._earlier.get(key, key))
            if field is None and self._strict:
                raise ValueError(f"{cls.__name__} has no field {key!r}")
            if field is not None and field.name not in given:
                arguments[field.name] = self.value(_hints(cls)[field.name], value)
        return cls(**arguments)

    def value(self, hint: Any, saved: Any) -> Any:
        """Return a value of the type `hint`."""
        maker = self._makers.get(hint)
        if maker is None:
            maker = self._makers[hint] = self._special.get(hint) or self._maker(hint)
        return maker(saved)

    def _maker(self, hint: Any) -> Make:
        """Return a function that makes values of a type from plain data."""
        origin, parts = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            (other,) = (part for part in parts if part is not type(None))
            return lambda saved: None if saved is None else self.value(other, saved)
        if hint is Any:
            return _tuples
        if origin is tuple:
            return lambda saved: self._tuple(parts, saved)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return lambda saved: {
                self.value(parts[0], key): self.value(parts[1], item) for key, item in saved.items()
            }
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            return lambda saved: self.fields(hint, saved)
        if origin is typing.Literal:
            return lambda saved: _checked(saved, saved in parts)
        if hint is float:
            # Also takes the text "inf"
            return lambda saved: float(_checked(saved, type(saved) is not bool))
        return lambda saved: _checked(saved, type(saved) is hint)

    def _tuple(self, parts: tuple[Any, ...], saved: Any) -> tuple[Any, ...]:
        _checked(saved, isinstance(saved, list | tuple))
        hints = [parts[0]] * len(saved) if len(parts) == 2 and parts[1] is ... else parts
        return tuple(self.value(hint, item) for hint, item in zip(hints, saved, strict=True))


def to_plain(made: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that are not at their default, as JSON can hold them.

    >>> from core.io.plain_data import from_plain, to_plain
    >>> from core.types import Question
    >>> to_plain(Question("who", answers=("Ann",)))
    {'text': 'who', 'answers': ['Ann']}
    >>> from_plain(Question, {"text": "who", "answers": ["Ann"]}).answers
    ('Ann',)
    """
    return PlainWriter().fields(made)


def from_plain(cls: type[DataclassT], saved: Mapping[str, Any], **given: Any) -> DataclassT:
    """Return the dataclass saved by `to_plain` or `dataclasses.asdict`; see `PlainReader`."""
    return _PLAIN_READER.fields(cls, saved, **given)


_PLAIN_READER = PlainReader()


def _tuples(saved: Any) -> Any:
    """Return plain data with tuples in place of lists."""
    return tuple(map(_tuples, saved)) if isinstance(saved, list) else saved


def _checked(saved: Any, right: bool) -> Any:
    if not right:
        raise ValueError(f"{saved!r:.40} was not expected")
    return saved


@cache
def _saved_fields(cls: type) -> dict[str, dataclasses.Field]:
    """Return the fields of a dataclass by the names under which they are saved."""
    saved = ((field.metadata.get("saved", field.name), field) for field in dataclasses.fields(cls))
    return {key: field for key, field in saved if key}


@cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)
