"""The form of a brick as plain data: a field for each parameter, as the operator declares it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.diagnosis.curves import Curve
from core.drafts import Brick
from core.operators.branch import Branch
from core.parameters import Parameter, parameters
from pages.parts.build.bench import Trouble
from pages.parts.methods.forms import EXPRESSION_HELP, chats, choosers


def fields(brick: Brick, trouble: Trouble | None, curves: Mapping[str, Curve]) -> dict[str, Any]:
    """The fields of a brick; `arms` of a branch are those that can be taken out. `curves` are what values of a parameter, by its name, do
    to the question that was run."""
    here = trouble if trouble is not None and trouble.key == brick.key else None
    arms = [name for name in brick.arms if name.isdecimal()] if brick.cls is Branch else None
    found = [_field(one, brick.given.get(one.name, one.default), here) for one in parameters(brick.cls)]
    return {"fields": [{**one, "curve": _curve(curves.get(one["name"]), one["value"])} for one in found], "arms": arms}


def _curve(curve: Curve | None, value: Any) -> dict[str, Any] | None:
    """A curve as it is drawn beside its field; None where there is none, or the value is another one by now."""
    if curve is None or curve.value != value:
        return None
    points = [{"value": at, "alive": alive, "now": at == value, "next": at == curve.next} for at, alive in zip(curve.values, curve.alive)]
    return {"of": curve.of, "points": points}


def _field(parameter: Parameter, value: Any, trouble: Trouble | None) -> dict[str, Any]:
    """One parameter: its kind, value, default and limits; what cannot be used stays as it was typed, with the reason."""
    wrong = trouble if trouble is not None and trouble.name == parameter.name else None
    return {
        "name": parameter.name,
        "label": parameter.label,
        "help": parameter.help,
        "value": value,
        "default": parameter.default,
        "low": parameter.low,
        "high": parameter.high,
        "error": wrong.sentence if wrong is not None else "",
        "typed": wrong.typed if wrong is not None else None,
        **_kind(parameter, value),
    }


def _kind(parameter: Parameter, value: Any) -> dict[str, Any]:
    if parameter.model:
        known = {**choosers(), **{word: word for word in parameter.also}}
        return {"kind": "model", "options": _options(known), "help": f"{parameter.help} {EXPRESSION_HELP}"}
    if parameter.chat:
        known = {**{word: word for word in parameter.also}, **chats()}
        return {"kind": "choice", "options": _options({**known, value: known.get(value, value)})}
    if parameter.choices:
        return {"kind": "choice", "options": _options({word: word for word in parameter.choices})}
    if parameter.known is not None:
        names = dict.fromkeys([*filter(None, [value]), *parameter.known()])
        return {"kind": "choice", "options": _options({name: name for name in names})}
    return {"kind": {bool: "switch", int: "whole", float: "real"}.get(parameter.type, "text")}


def _options(known: dict[str, str]) -> list[dict[str, str]]:
    return [{"value": value, "words": words} for value, words in known.items()]
