"""Methods of the lanes, and the dialog that changes a lane's method or its steps."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.diagnosis.step_outcomes import step_outcomes
from core.engine import Comparison
from core.errors import HopscopeError
from core.instances.catalogue import Instance, find, one_for
from core.instances.needs import missing
from core.lines.difference import change_words
from core.operators.base import Line
from core.runtime.jobs import DONE
from pages.parts.build.bench import Bench
from pages.parts.build.component import bricks
from pages.parts.build.drawn import drawn
from pages.parts.build.outcomes import outcomes
from pages.parts.methods.advice import advice_data, asked
from pages.parts.methods.chooser import chooser
from pages.parts.question.permalink import MOST_LANES
from pages.parts.shared.actions import button, result_of, shown_errors
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, instances, source
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

VIEWS = {"change": tr("Another method"), "step": tr("Its steps")}
# Labels in the dialog of a new lane.
NEW_VIEWS = {"change": tr("A method"), "step": tr("A line of your own")}


def fitting(known: Mapping[str, Instance]) -> dict[str, Instance]:
    """Return the methods that can be run on the chosen graph or corpus.

    Methods that need no graph fit both.
    """
    on = source()
    return {key: one for key, one in known.items() if one.is_for(on) or _graphless(one)}


def _graphless(one: Instance) -> bool:
    stages = {operator.stage for operator in one.line.parts()}
    return not one.only_on and stages.isdisjoint(("graph", "extract", "retrieve", "refine"))


def settle_lanes() -> None:
    """Restore the lanes of the chosen kind of source when the kind has changed.

    Graphs and corpora have their own lanes.
    """
    on, before = source(), session.lanes_for
    kind = on.kind
    if before != kind:
        session.lanes_of_kind = {**session.lanes_of_kind, before: session.lanes}
        session.lanes = session.lanes_of_kind.get(kind, list(on.usual_lanes))
        session.lanes_for = kind


def chosen(known: Mapping[str, Instance]) -> list[Instance]:
    """Return the methods of the lanes.

    A lane that cannot be read shows its error and is left out.
    """
    found = []
    for spec in session.lanes:
        with shown_errors():
            one = find(spec, known, session.lanes)
            found.append(one_for(one, source(), known))
    return found


def act(lane: int, do: str) -> None:
    """Handle a click on a lane's head.

    `change`, `step` and `add` open the dialog; `remove` removes the lane.
    """
    lanes = session.lanes
    if do == "remove" and len(lanes) > 1 and 0 <= lane < len(lanes):
        changed(lanes[:lane] + lanes[lane + 1 :])
    elif do == "add" and len(lanes) < MOST_LANES:
        session.choosing = (len(lanes), "change")
    elif do in ("change", "step") and 0 <= lane < len(lanes):
        session.choosing = (lane, do)


def dialog(known: Mapping[str, Instance], comparison: Comparison | None = None) -> None:
    """Draw the dialog of the lane that is being changed, if there is one.

    It stays open while the page behind it is drawn again. `comparison` is what is on the screen.
    """
    if session.choosing is None:
        return
    lane, do = session.choosing
    title = (
        tr("Add a lane") if lane >= len(session.lanes) else tr("Change lane {lane}", lane=lane + 1)
    )
    st.dialog(title, width="large", on_dismiss=_close)(_change)(lane, do, known, comparison)


def _close() -> None:
    del session.choosing


def _change(
    lane: int, do: str, known: Mapping[str, Instance], comparison: Comparison | None
) -> None:
    words = VIEWS if lane < len(session.lanes) else NEW_VIEWS
    view = st.segmented_control(
        tr("What is changed"),
        list(words),
        default=do,
        key=f"lane-view-{lane}-{do}",
        required=True,
        format_func=words.__getitem__,
        label_visibility="collapsed",
    )
    if view == "step":
        _steps(lane, comparison)
    else:
        _method(lane, known)


def _method(lane: int, known: Mapping[str, Instance]) -> None:
    lanes = session.lanes
    current = lanes[lane] if lane < len(lanes) else ""
    picked = chooser(
        known, engine().models, current, key=f"chooser-{lane}", answering=session.model
    )
    if picked is not None and picked in known:
        changed([*lanes[:lane], picked, *lanes[lane + 1 :]])
        _close()
        st.rerun()


def _steps(lane: int, comparison: Comparison | None) -> None:
    """Draw the operators of the lane's line with their results.

    Buttons run the changed line.
    """
    instance, before = None, Line()
    if lane < len(session.lanes):
        known = instances()
        instance = result_of(lambda: one_for(find(session.lanes[lane], known), source(), known))
        if instance is None:
            return
        _about(instance)
        before = instance.line
    bench = Session.lane_bench.of((lane, repr(before)), lambda: Bench.of(before))
    found, extra = _outcomes(comparison, bench, instance)
    data = drawn(
        bench,
        found,
        extra,
        lambda operator: advice_data(operator, asked()),
        documents=source().is_corpus,
    )
    bricks(bench, {**data, "compact": True}, Session.lane_bricks)
    _take(lane, bench.line, before)


def _about(instance: Instance) -> None:
    """Draw the source of the method.

    It names the choices that the source leaves open.
    """
    heading = " · ".join(filter(None, (tr(instance.label), instance.number)))
    st.markdown(f"**{plain(heading)}**")
    for text in (instance.paper, instance.notes):
        if text:
            st.caption(plain(text))


def _outcomes(
    comparison: Comparison | None, bench: Bench, instance: Instance | None
) -> tuple[dict, list]:
    """Return the results of the lane's steps.

    There are some only if its line was run on the question on the screen.
    """
    line = None if instance is None else repr(instance.line)
    lanes = comparison.lanes if comparison is not None else ()
    ran = next(
        (one for one in lanes if repr(one.instance.line) == line and one.status == DONE), None
    )
    if comparison is None or ran is None:
        return {}, []
    return outcomes(comparison, ran, bench.draft, step_outcomes(comparison, ran))


def _take(lane: int, line: Line | None, before: Line) -> None:
    """Draw the difference of the changed line, and buttons to run it.

    What the line lacks is shown too. It runs in this lane or in a new one.
    """
    adding, full = lane >= len(session.lanes), len(session.lanes) >= MOST_LANES
    words = "" if line is None else change_words(before, line)
    idle = line is None or not words
    if line is None:
        if adding:
            caption("The line cannot be run yet.")
        else:
            caption("The line cannot be run like this: the brick with the red border says why.")
    else:
        st.caption(
            plain(words)
            or tr(
                "Nothing is changed yet. Choose a brick to set it, or to put another step in its "
                "place."
            )
        )
        for text in missing(line, engine().models, session.model):
            st.caption(f":material/cloud_off: {plain(text)}")
    with st.container(horizontal=True):
        if adding:
            if button(tr("Add this lane"), key="lane-add", type="primary", disabled=idle or full):
                _use(lane - 1, repr(line), beside=True)
            return
        if button(
            tr("Try it in a lane beside"),
            key=f"beside-{lane}",
            type="primary",
            disabled=idle or full,
        ):
            _use(lane, repr(line), beside=True)
        if button(tr("Change this lane"), key=f"apply-{lane}", disabled=idle):
            _use(lane, repr(line))
    if full:
        caption(
            "There is room for {lanes} lanes; remove one to try a change beside.", lanes=MOST_LANES
        )


def _use(lane: int, spec: str, beside: bool = False) -> None:
    """Put a line into the lane, and ask the question.

    With `beside` it gets a new lane after this one.
    """
    insert(lane, spec) if beside else _replace(lane, spec)
    del session.lane_bench
    _close()
    st.rerun()


def changed(lanes: list[str]) -> None:
    """Set other lanes and ask.

    Finished lanes are reused, so that only new ones run.
    """
    session.lanes, session.edited = lanes, True
    session.submit()


def insert(lane: int, spec: str) -> None:
    """Put a line into a new lane after this one and ask.

    If a lane runs it already, or there is no room, a message says so instead.
    """
    lanes, there = session.lanes, running(spec)
    if there is not None:
        st.toast(plain(tr("Lane {there} does this already.", there=there + 1)), duration="long")
    elif len(lanes) >= MOST_LANES:
        st.toast(
            plain(
                tr(
                    "There is room for {lanes} lanes: remove one, then this runs in its place.",
                    lanes=MOST_LANES,
                )
            ),
            duration="long",
        )
    else:
        changed([*lanes[: lane + 1], spec, *lanes[lane + 1 :]])


def running(spec: str) -> int | None:
    """Return the index of the lane that runs this line; None if none does.

    `spec` is the canonical text of the line.
    """
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
    """Put a changed line into a new lane after the lane that runs `spec`.

    With `or_in_place` it replaces that lane if there is no room for another one.
    """
    lanes = session.lanes
    lane = lanes.index(spec) if spec in lanes else len(lanes) - 1
    if or_in_place and len(lanes) >= MOST_LANES and running(changed_line) is None:
        _replace(lane, changed_line)
    else:
        insert(lane, changed_line)


def _replace(lane: int, spec: str) -> None:
    lanes = session.lanes
    changed([*lanes[:lane], spec, *lanes[lane + 1 :]])
