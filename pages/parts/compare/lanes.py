"""The lanes: which methods they run, and the dialog that changes one of them."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.errors import HopscopeError
from core.instances.catalogue import Instance, find, one_for
from core.instances.needs import missing
from core.operators import OPERATORS
from core.operators.base import Line, unfit
from pages.parts.compare.permalink import MOST_LANES, USUAL_LANES
from pages.parts.methods.advice import asked, show_advice
from pages.parts.methods.chooser import chooser
from pages.parts.methods.forms import operator_form
from pages.parts.shared.session import engine, instances, source
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain

NEW = "new"


def fitting(known: Mapping[str, Instance]) -> dict[str, Instance]:
    """The instances that can be run on what is chosen: lines on documents for a corpus, and those that need no graph for both."""
    return {key: one for key, one in known.items() if one.documents == source().documents or _graphless(one)}


def _graphless(one: Instance) -> bool:
    return not one.documents and not any(operator.stage in ("extract", "retrieve", "refine") for operator in one.line.parts())


def settle_lanes() -> None:
    """The lanes of graphs and those of corpora are kept apart: another kind chosen brings its own back."""
    kind, before = source().kind, session.lanes_for
    if before != kind:
        session.lanes_of_kind = {**session.lanes_of_kind, before: session.lanes}
        session.lanes = session.lanes_of_kind.get(kind, list(USUAL_LANES[kind]))
        session.lanes_for = kind


def chosen(known: Mapping[str, Instance]) -> list[Instance]:
    """The instances of the lanes. A lane that cannot be read says why and is left out."""
    found = []
    for spec in session.lanes:
        try:
            one = find(spec, known, session.lanes)
            found.append(one_for(one, source(), known))
        except HopscopeError as error:
            st.error(plain(str(error)))
    return found


def act(lane: int, do: str) -> None:
    """What a person pressed on a lane's head: `change`, `step`, `add` open the dialog, `remove` takes the lane away."""
    lanes = session.lanes
    if do == "remove" and len(lanes) > 1 and 0 <= lane < len(lanes):
        changed(lanes[:lane] + lanes[lane + 1 :])
    elif do == "add" and len(lanes) < MOST_LANES:
        session.choosing = (len(lanes), "change")
    elif do in ("change", "step") and 0 <= lane < len(lanes):
        session.choosing = (lane, do)


def dialog(known: Mapping[str, Instance]) -> None:
    """Draw the dialog of the lane that is being changed, if any; it stays open while the screen behind it is drawn anew."""
    if session.choosing is None:
        return
    lane, do = session.choosing
    adding = lane >= len(session.lanes)
    title = "Add a lane" if adding else f"Lane {lane + 1}: {'change one step' if do == 'step' else 'choose a method'}"
    draw = _step if do == "step" and not adding else _method
    st.dialog(title, width="large", on_dismiss=_close)(draw)(lane, known)


def _close() -> None:
    del session.choosing


def _method(lane: int, known: Mapping[str, Instance]) -> None:
    lanes = session.lanes
    current = lanes[lane] if lane < len(lanes) else ""
    picked = chooser(known, engine().models, current, key=f"chooser-{lane}", answering=session.model)
    if picked in known:
        changed([*lanes[:lane], picked, *lanes[lane + 1 :]])
        _close()
        st.rerun()


def _step(lane: int, known: Mapping[str, Instance]) -> None:
    try:
        instance = find(session.lanes[lane], known)
    except HopscopeError as error:
        st.error(plain(str(error)))
        return
    _about(instance)
    _different(lane, instance)


def _about(instance: Instance) -> None:
    """Where the method comes from, how it was read where its source leaves something open, and which models are not installed."""
    heading = " · ".join(filter(None, (instance.label, instance.number_in_heading)))
    st.markdown(f"**{plain(heading)}**")
    for text in (instance.paper, instance.notes):
        if text:
            st.caption(plain(text))
    for text in missing(instance.line, engine().models, session.model):
        st.caption(f":material/cloud_off: {plain(text)}")


def _different(i: int, instance: Instance) -> None:
    """A form that changes one operator of the lane's line, in this lane or in a new one beside it."""
    operators = instance.line.operators
    position = st.selectbox(
        "Step", range(len(operators)), key=f"apart-{i}-{instance.id}", format_func=lambda p: f"{p + 1}. {operators[p].words()}"
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
        use = lambda better: (_replace(i, repr(instance.line.replaced(position, better))), _close())
        show_advice(operator, asked(), f"form-{i}-{position}-{name}-{instance.id}", use)
        if session.choosing is None:  # the advice was taken
            st.rerun()
        spec = repr(instance.line.replaced(position, operator))
    except HopscopeError as error:
        st.error(plain(str(error)))
        return
    unchanged = spec == repr(instance.line)
    full = len(session.lanes) >= MOST_LANES
    with st.container(horizontal=True):
        if st.button("Try it in a lane beside", key=f"beside-{i}", type="primary", disabled=unchanged or full):
            _use(i, spec, beside=True)
        if st.button("Change this lane", key=f"apply-{i}", disabled=unchanged):
            _use(i, spec)
    if full:
        st.caption(f"There is room for {MOST_LANES} lanes; remove one to try a change beside.")


def _swaps(line: Line, position: int) -> list[str]:
    """The operators that could stand at that position of the line."""
    before, after = line.operators[:position], line.operators[position + 1 :]

    def fits(name: str) -> bool:
        candidate = OPERATORS[name]()
        rest = (*before, candidate)
        return unfit(before, candidate) is None and all(unfit((*rest, *after[:n]), o) is None for n, o in enumerate(after))

    return [name for name in OPERATORS if fits(name)]


def _use(lane: int, spec: str, beside: bool = False) -> None:
    """Put a line in the lane, or in a new one behind it, and ask."""
    insert(lane, spec) if beside else _replace(lane, spec)
    _close()
    st.rerun()


def changed(lanes: list[str]) -> None:
    """Take other lanes and ask; what is on the screen is taken over (`edited`), so that only those run that are new."""
    session.lanes, session.edited = lanes, True
    session.submit()


def insert(lane: int, spec: str) -> None:
    """Put a line in a new lane behind this one and ask; where a lane runs it already, or there is no room, that is said instead."""
    lanes, there = session.lanes, running(spec)
    if there is not None:
        st.toast(plain(f"Lane {there + 1} does this already."), duration="long")
    elif len(lanes) >= MOST_LANES:
        st.toast(plain(f"There is room for {MOST_LANES} lanes: remove one, then this runs in its place."), duration="long")
    else:
        changed([*lanes[: lane + 1], spec, *lanes[lane + 1 :]])


def running(spec: str) -> int | None:
    """The place of the lane that runs this line, given by its canonical text; None where none does."""
    known = instances()
    for place, lane in enumerate(session.lanes):
        try:
            one = find(lane, known)
        except HopscopeError:
            continue
        if repr(one_for(one, source(), known).line) == spec:
            return place
    return None


def try_beside(spec: str, changed_line: str, or_in_place: bool = False) -> None:
    """Put a changed line beside the lane that runs `spec`; with `or_in_place` into that lane where there is no room for another."""
    lanes = session.lanes
    lane = lanes.index(spec) if spec in lanes else len(lanes) - 1
    if or_in_place and len(lanes) >= MOST_LANES and running(changed_line) is None:
        _replace(lane, changed_line)
    else:
        insert(lane, changed_line)


def _replace(lane: int, spec: str) -> None:
    lanes = session.lanes
    changed([*lanes[:lane], spec, *lanes[lane + 1 :]])
