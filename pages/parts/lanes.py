"""The lanes' choosers: an instance each, or a neighbour's line with one operator changed."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.errors import HopscopeError
from core.instances.catalogue import Instance, find
from core.instances.needs import missing
from core.operators import OPERATORS
from core.operators.base import Line, unfit
from pages.parts.advice import asked, show_advice
from pages.parts.choosing import is_heading, label, options
from pages.parts.forms import operator_form
from pages.parts.permalink import MOST_LANES
from pages.parts.session import engine
from pages.parts.text import plain


def chosen(known: Mapping[str, Instance]) -> list[Instance]:
    """Draw a chooser for every lane; the instances chosen. A lane that cannot be read says why and is left out."""
    state = st.session_state
    found = []
    with st.container(key="lanes"):
        columns = st.columns(len(state.lanes))
    for i, column in enumerate(columns):
        with column:
            instance = _lane(i, known)
            if instance is not None:
                found.append(instance)
    return found


def _lane(i: int, known: Mapping[str, Instance]) -> Instance | None:
    state = st.session_state
    spec = state.lanes[i]
    try:
        instance = find(spec, known)
    except HopscopeError as error:
        instance = None
        st.error(str(error))
    names = options(known)
    if spec not in names:
        names = {spec: label(instance) if instance is not None else spec} | names
    with st.container(horizontal=True, wrap=False, vertical_alignment="bottom", gap="small"):
        st.selectbox(
            f"Lane {i + 1}",
            list(names),
            index=list(names).index(spec),
            key=f"lane-{i}-{spec}",
            width="stretch",
            format_func=names.__getitem__,
            label_visibility="collapsed",
            on_change=_choose,
            args=(i, f"lane-{i}-{spec}"),
        )
        with st.popover("", icon=":material/tune:", help="Change one operator, add or remove a lane"):
            if instance is not None:
                _about(instance)
                _apart(i, instance)
            _add_or_remove(i)
    return instance


def _choose(i: int, key: str) -> None:
    state = st.session_state
    if is_heading(state[key]):
        state[key] = state.lanes[i]
        return
    state.lanes = [*state.lanes[:i], state[key], *state.lanes[i + 1 :]]
    state.submitted = True


def _about(instance: Instance) -> None:
    """Where the instance comes from, how it was read where its source leaves something open, and which models are not here."""
    for told in (instance.paper, instance.notes):
        if told:
            st.caption(plain(told))
    for told in missing(instance.line, engine().models, st.session_state.model):
        st.caption(f":material/cloud_off: {plain(told)}")


def _add_or_remove(i: int) -> None:
    state = st.session_state
    with st.container(horizontal=True):
        st.button(
            "Copy to a new lane",
            key=f"copy-{i}",
            icon=":material/add:",
            disabled=len(state.lanes) >= MOST_LANES,
            on_click=_insert,
            args=(i, state.lanes[i]),
        )
        st.button("Remove", key=f"remove-{i}", icon=":material/close:", disabled=len(state.lanes) <= 1, on_click=_remove, args=(i,))


def _insert(i: int, spec: str) -> None:
    lanes = st.session_state.lanes
    st.session_state.lanes = [*lanes[: i + 1], spec, *lanes[i + 1 :]]


def _remove(i: int) -> None:
    lanes = st.session_state.lanes
    st.session_state.lanes = lanes[:i] + lanes[i + 1 :]
    st.session_state.submitted = True


def _apart(i: int, instance: Instance) -> None:
    """A form that changes one operator of the lane's line, in this lane or in a new one beside it."""
    st.markdown("**One operator apart**")
    operators = instance.line.operators
    position = st.selectbox(
        "Operator", range(len(operators)), key=f"apart-{i}-{instance.id}", format_func=lambda p: f"{p + 1}. {operators[p].words()}"
    )
    swaps, this = _swaps(instance.line, position), type(operators[position])
    swaps = swaps if this.__name__ in swaps else [this.__name__, *swaps]  # a branch is no operator that could be added
    name = st.selectbox(
        "Becomes",
        swaps,
        index=swaps.index(this.__name__),
        key=f"becomes-{i}-{position}-{instance.id}",
        format_func=lambda n: OPERATORS.get(n, this).title,
    )
    current = operators[position] if name == this.__name__ else OPERATORS[name]()
    try:
        operator = operator_form(current, key=f"form-{i}-{position}-{name}-{instance.id}")
        if operator is None:
            return
        use = lambda better: _replace(i, repr(instance.line.replaced(position, better)))
        show_advice(operator, asked(), f"form-{i}-{position}-{name}-{instance.id}", use)
        spec = repr(instance.line.replaced(position, operator))
    except HopscopeError as error:
        st.error(plain(str(error)))
        return
    unchanged = spec == repr(instance.line)
    full = len(st.session_state.lanes) >= MOST_LANES
    with st.container(horizontal=True):
        st.button("Change this lane", key=f"apply-{i}", type="primary", disabled=unchanged, on_click=_replace, args=(i, spec))
        st.button("In a new lane", key=f"beside-{i}", disabled=unchanged or full, on_click=_beside, args=(i, spec))


def _swaps(line: Line, position: int) -> list[str]:
    """The operators that could stand at that position of the line."""
    before, after = line.operators[:position], line.operators[position + 1 :]

    def fits(name: str) -> bool:
        candidate = OPERATORS[name]()
        rest = (*before, candidate)
        return unfit(before, candidate) is None and all(unfit((*rest, *after[:n]), o) is None for n, o in enumerate(after))

    return [name for name in OPERATORS if fits(name)]


def _replace(i: int, spec: str) -> None:
    lanes = st.session_state.lanes
    st.session_state.lanes = [*lanes[:i], spec, *lanes[i + 1 :]]
    st.session_state.submitted = True


def _beside(i: int, spec: str) -> None:
    _insert(i, spec)
    st.session_state.submitted = True
