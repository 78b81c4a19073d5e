"""Forms made from the fields of operators: one widget a parameter, labelled and limited as the operator says."""

from __future__ import annotations

import inspect
import re
from typing import Any

import streamlit as st

from core.errors import BadParameter, HopscopeError
from core.models.combine import uses_chat
from core.models.declared import ROLES
from core.operators.base import Operator
from core.operators.branch import Branch
from core.operators.loop import Loop
from core.operators.union import Union
from core.parameters import Parameter, make, parameters, values
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session
from pages.parts.shared.text import plain

BRANCH_HELP = "Its rows are changed on Build, in the address or in a TOML file."
REPEATED = ":material/repeat: Repeated, in this order"
FIRST, SECOND = ":material/looks_one: One search", ":material/looks_two: Another, from the same start"
FIRST_PARAMETERS = 4  # parameters shown at once; the rest wait behind "More settings"
_NAMED = re.compile(r"`(\w+)`")
OTHER = "…"  # stands for an expression that is typed
ROLE_WORDS = {
    "encoder": "the encoder",
    "reranker": "the re-ranker",
    "cross-encoder": "the cross-encoder",
    "choose": "the language model that chooses",
    "answer": "the language model that answers",
    "judge": "the language model that judges",
}


def sentence_of(operator: Operator) -> str:
    """What an operator does: the first sentence of its description, with the values of the parameters it names."""
    text = " ".join(inspect.getdoc(type(operator)).split("\n\n")[0].split()).split(". ")[0].rstrip(".") + "."
    current = values(operator)
    return _NAMED.sub(lambda m: f"{v:,}" if isinstance(v := current.get(m[1], m[1]), int) else str(v), text).replace("`", "")


def operator_form(operator: Operator, key: str) -> Operator | None:
    """Draw the form of an operator; the operator as the form now describes it, or None where its error is shown.

    `key` tells this form from others; while it stays the same, what was typed stays.
    """
    if isinstance(operator, Branch):
        st.caption(f"{plain(operator.words())}. {BRANCH_HELP}")
        return operator
    if isinstance(operator, Loop | Union):
        return _combined_form(operator, key)
    given, current = {}, values(operator)
    asked = parameters(type(operator))
    try:
        with _row():
            for parameter in asked[:FIRST_PARAMETERS]:
                given[parameter.name] = _field(parameter, current[parameter.name], key)
        if len(asked) > FIRST_PARAMETERS:
            with st.expander(f"More settings ({len(asked) - FIRST_PARAMETERS})"), _row():
                for parameter in asked[FIRST_PARAMETERS:]:
                    given[parameter.name] = _field(parameter, current[parameter.name], key)
        for parameter in asked:
            if parameter.model:
                check_expression(given[parameter.name], parameter)
        return make(type(operator), given)
    except HopscopeError as error:
        st.error(plain(str(error)))
        return None


def _combined_form(whole: Loop | Union, key: str) -> Operator | None:
    """A loop as a frame around what it repeats, a union as its two searches side by side, with the forms of what they hold."""
    st.caption(plain(whole.words()) + ".")
    given = {one.name: _field(one, values(whole)[one.name], key) for one in parameters(type(whole))}
    if isinstance(whole, Loop):
        frames, lines = [st.container(border=True)], {"body": (REPEATED, whole.body)}
    else:
        frames, lines = st.columns(2, border=True), {"first": (FIRST, whole.first), "second": (SECOND, whole.second)}
    made = {}
    for frame, (name, (heading, operators)) in zip(frames, lines.items()):
        with frame:
            st.markdown(heading)
            made[name] = _line_form(operators, f"{key}-{name}")
    try:
        return None if None in made.values() else type(whole)(**made, **given)
    except HopscopeError as error:
        st.error(plain(str(error)))
        return None


def _line_form(operators: tuple[Operator, ...], key: str) -> tuple[Operator, ...] | None:
    """The operators of a line as their forms describe them; None where one shows an error."""
    found = []
    for place, operator in enumerate(operators):
        st.markdown(f"{place + 1}. **{plain(operator.title)}**")
        found.append(operator_form(operator, f"{key}-{place}"))
    return None if None in found else tuple(one for one in found if one is not None)


def check_expression(expression: str, parameter: Parameter) -> None:
    """Raises BadParameter unless the text names models that are known, or combines such."""
    if not expression.strip():
        raise BadParameter(f"{parameter.label}: type an expression such as prefilter(encoder, choose, 32).")
    if expression not in parameter.also:
        uses_chat(expression, engine().models.is_chat)


def _row() -> Any:
    return st.container(horizontal=True, vertical_alignment="top", gap="medium")


def _field(parameter: Parameter, value: Any, key: str) -> Any:
    """The widget of one parameter, and its value now."""
    key = f"{key}-{parameter.name}"
    if parameter.model:
        return _model(parameter, value, key)
    if parameter.chat:
        return _chat(parameter, value, key)
    options: dict[str, Any] = {"key": key, "help": plain(parameter.help)}
    label = plain(parameter.label)
    if parameter.choices:
        return _choice(parameter, label, value, options)
    if parameter.known is not None:
        return _known(parameter, label, value, options)
    options["value"] = value  # not put into the session: what a closed popover holds would begin at its lowest value when it opens
    if parameter.type is bool:
        with st.container(width=150):
            st.space("small")
            return st.toggle(label, **options)
    if parameter.type is int:
        return int(st.number_input(label, min_value=_whole(parameter.low), max_value=_whole(parameter.high), step=1, width=150, **options))
    if parameter.type is float:
        wide = parameter.high is not None and parameter.high > 1
        return float(
            st.number_input(
                label,
                min_value=_real(parameter.low),
                max_value=_real(parameter.high),
                step=1.0 if wide else 0.05,
                format="%.1f" if wide else "%.3f",
                width=150,
                **options,
            )
        )
    return st.text_input(label, width=220, **options)


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)


def _real(limit: float | None) -> float | None:
    return None if limit is None else float(limit)


def _choice(parameter: Parameter, label: str, value: str, options: dict[str, Any]) -> str:
    if len(parameter.choices) <= 4:
        return st.segmented_control(label, parameter.choices, default=value, required=True, **options)
    return st.selectbox(label, parameter.choices, index=parameter.choices.index(value), width=220, **options)


def _known(parameter: Parameter, label: str, value: str, options: dict[str, Any]) -> str:
    """One of the texts that are known at the moment; the present one stays even where it is not among them."""
    names = list(dict.fromkeys([*filter(None, [value]), *parameter.known()]))
    if not names:
        raise BadParameter(f"{parameter.label}: none is declared yet. {parameter.help}")
    return st.selectbox(label, names, index=0, width=220, **options)


def _model(parameter: Parameter, value: str, key: str) -> str:
    """A scorer or chooser from the registry, or an expression that combines some."""
    options = dict(choosers())
    options |= {word: word for word in parameter.also}
    options[OTHER] = "another expression…"
    first, here = value if value in options else OTHER, Session.form_model[key]
    if here.value not in (None, *options):  # a model that is no longer declared
        here.drop()
    with st.container(width=320):
        at = list(options).index(first)
        chosen = st.selectbox(plain(parameter.label), list(options), at, options.__getitem__, key=here.name, help=plain(parameter.help))
        if chosen != OTHER:
            return chosen
        typed = f"{key}-typed"
        begun = "" if value in options else value
        return st.text_input("Expression", begun, key=typed, placeholder="prefilter(encoder, choose, 32)", help=EXPRESSION_HELP)


EXPRESSION_HELP = (
    "prefilter(cheap, dear, n): the cheap model keeps n candidates, the dear one chooses among them. "
    "supplement(chooser, scorer): what the chooser left open is filled by the scorer. "
    "rescore(chooser, scorer): the scorer orders what the chooser picked. "
    "rounds(chooser, n): the chooser is asked for every n candidates, then once more over its picks. "
    "above(scorer, least): what the scorer gives less than that number is left out."
)


def choosers() -> dict[str, str]:
    """Everything that can rank or pick, by name: the roles first, then each model."""
    declared = engine().models.declared()
    found = {role: _role_words(role) for role in ("encoder", "reranker", "cross-encoder", "choose")}
    return found | {info.name: info.title for info in declared}


def _chat(parameter: Parameter, value: str, key: str) -> str:
    """A role of a language model, or a language model by name."""
    options = {word: word for word in parameter.also} | chats()
    options.setdefault(value, value)
    at = list(options).index(value)
    return st.selectbox(plain(parameter.label), list(options), at, options.__getitem__, key=key, help=plain(parameter.help), width=320)


def chats() -> dict[str, str]:
    """Everything that can be asked in words, by name: the roles first, then each language model."""
    found = {role: _role_words(role) for role, model_kind in ROLES.items() if model_kind == "chat"}
    return found | {info.name: info.title for info in engine().models.declared() if info.kind == "chat"}


def _role_words(role: str) -> str:
    """A role with the model that fills it now."""
    titles = [info.title for info in engine().models.declared() if role in info.roles]
    return f"{ROLE_WORDS[role]}: {titles[0].split(',')[0]}" if titles else ROLE_WORDS[role]
