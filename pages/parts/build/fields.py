"""Form of a block as plain data: a field for each parameter that the operator declares."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any

from core.diagnosis.curves import Curve
from core.drafts import Brick
from core.errors import BadParameter
from core.models.combine import uses_chat
from core.models.declarations import ROLE_KINDS
from core.operators.branch import Branch
from core.parameters import OperatorBase, Parameter, parameter_values, parameters
from pages.parts.build.bench import RejectedChange
from pages.parts.shared.session import engine
from pages.parts.shared.wording import tr

MAX_HELP_WORDS = 12  # most words of a help text that are shown at once
_BACKTICK_NAME = re.compile(r"`(\w+)`")
EXPRESSION_ROLES = {
    "encoder": tr("the encoder"),
    "reranker": tr("the re-ranker"),
    "cross-encoder": tr("the cross-encoder"),
    "choose": tr("the language model that chooses"),
    "answer": tr("the language model that answers"),
    "judge": tr("the language model that judges"),
}
EXPRESSION_HELP = tr(
    "prefilter(fast model, accurate model, how many): the fast one keeps that many "
    "candidates, the accurate one picks among them. supplement(chooser, scorer): the scorer "
    "fills what the chooser left open. rescore(chooser, scorer): the scorer orders what the "
    "chooser picked. rounds(chooser, how many): the chooser sees so many candidates at a "
    "time, then its picks once more. above(scorer, least): drops all with a lower score. "
    "prompted(model, prompt): asks the language model with a prompt that a paper prints, "
    "lego-graphrag or lego-graphrag-v1."
)


def operator_sentence(operator: OperatorBase) -> str:
    """Return the first sentence of an operator's docstring.

    Names of parameters in back-ticks are replaced by the parameters' values.
    """
    paragraph = " ".join((inspect.getdoc(type(operator)) or "").split("\n\n")[0].split())
    sentence = paragraph.split(". ")[0].rstrip(".") + "."
    values = parameter_values(operator)

    def value_text(match: re.Match[str]) -> str:
        value = values.get(match[1], match[1])
        return f"{value:,}" if isinstance(value, int) else str(value)

    return _BACKTICK_NAME.sub(value_text, sentence).replace("`", "")


def block_fields(
    brick: Brick, rejected: RejectedChange | None, curves: Mapping[str, Curve]
) -> dict[str, Any]:
    """Return the form of a block: a field for each parameter.

    Parameters
    ----------
    rejected : the last change, if it was rejected.
    curves : by parameter name, the known answers that remain with each of some values.

    Returns
    -------
    `fields`, and `arms`: the names of the rows of a branch that can be removed (those for a number
    of hops); None for other operators.
    """
    if rejected is not None and rejected.key != brick.key:
        rejected = None
    rows = []
    for parameter in parameters(brick.cls):
        value = brick.given.get(parameter.name, parameter.default)
        curve = _curve(curves.get(parameter.name), value)
        rows.append({**_field(parameter, value, rejected), "curve": curve})
    arms = [name for name in brick.arms if name.isdecimal()] if brick.cls is Branch else None
    return {"fields": rows, "arms": arms}


def _curve(curve: Curve | None, value: Any) -> dict[str, Any] | None:
    """Return the points of a curve as plain data.

    None without a curve, or if the parameter's value has changed since it was computed.
    """
    if curve is None or curve.value != value:
        return None
    points = [
        {
            "value": option,
            "alive": n_alive,
            "now": option == value,
            "next": option == curve.next_value,
        }
        for option, n_alive in zip(curve.values, curve.alive)
    ]
    return {"of": curve.n_targets, "points": points}


def _field(parameter: Parameter, value: Any, rejected: RejectedChange | None) -> dict[str, Any]:
    """Return the data of one parameter: kind, value, default and limits.

    A rejected value is added as `typed`, with the error.
    """
    field_error = rejected if rejected is not None and rejected.name == parameter.name else None
    return {
        "name": parameter.name,
        "label": tr(parameter.label),
        **_help(parameter),
        "value": value,
        "default": parameter.default,
        "low": parameter.low,
        "high": parameter.high,
        "error": field_error.sentence if field_error is not None else "",
        "typed": field_error.typed if field_error is not None else None,
        **_kind(parameter, value),
    }


def _help(parameter: Parameter) -> dict[str, str]:
    """Return the beginning of a help text as `help`, and the rest as `more`."""
    text = tr(parameter.help)
    if parameter.model:
        text = f"{text} {EXPRESSION_HELP}"
    words = text.split()
    if len(words) <= MAX_HELP_WORDS:
        return {"help": text, "more": ""}
    beginning = " ".join(words[:MAX_HELP_WORDS])
    sentence = f"{beginning} ".rpartition(". ")[0]
    if sentence:
        return {"help": f"{sentence}.", "more": text.removeprefix(f"{sentence}. ")}
    return {"help": f"{beginning} …", "more": f"… {' '.join(words[MAX_HELP_WORDS:])}"}


def _kind(parameter: Parameter, value: Any) -> dict[str, Any]:
    """Return the kind of input for a parameter, and its options.

    `also` of a parameter has words that are accepted besides the names of models.
    """
    if parameter.model:
        model_names = {**chooser_titles(), **{word: word for word in parameter.also}}
        return {"kind": "model", "options": _options(model_names)}
    if parameter.chat:
        model_names = {**{word: word for word in parameter.also}, **chat_titles()}
        return {
            "kind": "choice",
            "options": _options({**model_names, value: model_names.get(value, value)}),
        }
    if parameter.choices:
        return {"kind": "choice", "options": _options({word: word for word in parameter.choices})}
    if parameter.known is not None:
        names = dict.fromkeys([*filter(None, [value]), *parameter.known()])
        return {"kind": "choice", "options": _options({name: name for name in names})}
    if parameter.lines:
        return {"kind": "lines"}
    return {"kind": {bool: "switch", int: "whole", float: "real"}.get(parameter.type, "text")}


def _options(choices: dict[str, str]) -> list[dict[str, str]]:
    return [{"value": value, "words": words} for value, words in choices.items()]


def check_expression(expression: str, parameter: Parameter) -> None:
    """Raise BadParameter unless the text names or combines models."""
    if not expression.strip():
        raise BadParameter(
            tr(
                "{label}: type an expression such as prefilter(encoder, choose, 32).",
                label=tr(parameter.label),
            )
        )
    if expression not in parameter.also:
        uses_chat(expression, engine().models.is_chat)


def chooser_titles() -> dict[str, str]:
    """Return the titles of all roles and models that can rank or select, by name."""
    infos = engine().models.list_models()
    roles = {role: _role_words(role) for role in ("encoder", "reranker", "cross-encoder", "choose")}
    return roles | {info.name: tr(info.title) for info in infos}


def chat_titles() -> dict[str, str]:
    """Return the titles of the roles of language models, and of these models, by name."""
    roles = {
        role: _role_words(role) for role, model_kind in ROLE_KINDS.items() if model_kind == "chat"
    }
    return roles | {
        info.name: tr(info.title) for info in engine().models.list_models() if info.kind == "chat"
    }


def _role_words(role: str) -> str:
    """Return a role in words, with the model that fills it."""
    titles = [tr(info.title) for info in engine().models.list_models() if role in info.roles]
    words = EXPRESSION_ROLES[role]
    return f"{words}: {titles[0].split(',')[0]}" if titles else words
