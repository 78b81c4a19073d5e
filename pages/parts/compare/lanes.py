"""Methods of the lanes, and the dialog that changes a lane's method or its steps."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.diagnosis.step_outcomes import step_outcomes
from core.engine import MethodComparison
from core.errors import HopscopeError
from core.lines.difference import change_words
from core.methods.catalogue import Method, find_method, method_for_source
from core.methods.model_needs import missing_models
from core.operators.base import Line
from core.runtime.jobs import JOB_DONE
from pages.parts.build.bench import Bench
from pages.parts.build.component import bricks
from pages.parts.build.line_drawing import line_data
from pages.parts.build.outcomes import outcomes
from pages.parts.methods.advice import advice_data, compare_question
from pages.parts.methods.chooser import chooser
from pages.parts.question.permalink import MAX_COMPARE_LANES
from pages.parts.shared.actions import button, result_of, shown_errors
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, methods, page_source
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

LANE_VIEWS = {"change": tr("Another method"), "step": tr("Its steps")}
# Labels in the dialog of a new lane.
NEW_LANE_VIEWS = {"change": tr("A method"), "step": tr("Steps of your own")}


def runnable_methods(catalogue: Mapping[str, Method]) -> dict[str, Method]:
    """Return the methods that can be run on the chosen graph or corpus.

    Methods that need no graph fit both.
    """
    on = page_source()
    return {key: one for key, one in catalogue.items() if one.is_for(on) or _needs_no_graph(one)}


def _needs_no_graph(one: Method) -> bool:
    stages = {operator.stage for operator in one.line.parts()}
    return not one.only_on and stages.isdisjoint(("graph", "extract", "retrieve", "refine"))


def settle_lanes() -> None:
    """Restore the lanes of the chosen kind of source when the kind has changed.

    Graphs and corpora have their own lanes.
    """
    shown_source, old_kind = page_source(), session.lanes_for
    kind = shown_source.kind
    if old_kind != kind:
        session.lanes_of_kind = {**session.lanes_of_kind, old_kind: session.lanes}
        session.lanes = session.lanes_of_kind.get(kind, list(shown_source.usual_lanes))
        session.lanes_for = kind


def lane_methods(catalogue: Mapping[str, Method]) -> list[Method]:
    """Return the methods of the lanes.

    A lane that cannot be read shows its error and is left out.
    """
    result = []
    for spec in session.lanes:
        with shown_errors():
            one = find_method(spec, catalogue, session.lanes)
            result.append(method_for_source(one, page_source(), catalogue))
    return result


def handle_lane_click(lane: int, action: str) -> None:
    """Handle a click on a lane's head.

    `change`, `step` and `add` open the dialog; `remove` removes the lane.
    """
    lanes = session.lanes
    if action == "remove" and len(lanes) > 1 and 0 <= lane < len(lanes):
        set_lanes(lanes[:lane] + lanes[lane + 1 :])
    elif action == "add" and len(lanes) < MAX_COMPARE_LANES:
        session.choosing = (len(lanes), "change")
    elif action in ("change", "step") and 0 <= lane < len(lanes):
        session.choosing = (lane, action)


def dialog(catalogue: Mapping[str, Method], comparison: MethodComparison | None = None) -> None:
    """Draw the dialog of the lane that is being changed, if there is one.

    It stays open while the page behind it is drawn again. `comparison` is what is on the screen.
    """
    if session.choosing is None:
        return
    lane, action = session.choosing
    title = (
        tr("Add a method")
        if lane >= len(session.lanes)
        else tr("Change method {lane}", lane=lane + 1)
    )
    st.dialog(title, width="large", on_dismiss=_close)(_change)(lane, action, catalogue, comparison)


def _close() -> None:
    del session.choosing


def _change(
    lane: int, action: str, catalogue: Mapping[str, Method], comparison: MethodComparison | None
) -> None:
    words = LANE_VIEWS if lane < len(session.lanes) else NEW_LANE_VIEWS
    view = st.segmented_control(
        tr("What is changed"),
        list(words),
        default=action,
        key=f"lane-view-{lane}-{action}",
        required=True,
        format_func=words.__getitem__,
        label_visibility="collapsed",
    )
    if view == "step":
        _steps(lane, comparison)
    else:
        _method(lane, catalogue)


def _method(lane: int, catalogue: Mapping[str, Method]) -> None:
    lanes = session.lanes
    current = lanes[lane] if lane < len(lanes) else ""
    choice = chooser(
        catalogue, engine().models, current, key=f"chooser-{lane}", answering=session.model
    )
    if choice is not None and choice in catalogue:
        set_lanes([*lanes[:lane], choice, *lanes[lane + 1 :]])
        _close()
        st.rerun()


def _steps(lane: int, comparison: MethodComparison | None) -> None:
    """Draw the operators of the lane's line with their results.

    Buttons run the changed line.
    """
    method, old_line = None, Line()
    if lane < len(session.lanes):
        catalogue = methods()
        method = result_of(
            lambda: method_for_source(
                find_method(session.lanes[lane], catalogue), page_source(), catalogue
            )
        )
        if method is None:
            return
        _draw_source(method)
        old_line = method.line
    bench = Session.lane_bench.of((lane, repr(old_line)), lambda: Bench.of(old_line))
    outcomes_by_key, extra = _outcomes(comparison, bench, method)
    data = line_data(
        bench,
        outcomes_by_key,
        extra,
        lambda operator: advice_data(operator, compare_question()),
        documents=page_source().is_corpus,
    )
    bricks(bench, {**data, "compact": True}, Session.lane_bricks)
    _draw_changed_line(lane, bench.line, old_line)


def _draw_source(method: Method) -> None:
    """Draw the source of the method.

    It names the choices that the source leaves open.
    """
    heading = " · ".join(filter(None, (tr(method.label), method.number)))
    st.markdown(f"**{plain(heading)}**")
    for text in (method.paper, method.notes):
        if text:
            st.caption(plain(text))


def _outcomes(
    comparison: MethodComparison | None, bench: Bench, method: Method | None
) -> tuple[dict, list]:
    """Return the results of the lane's steps.

    There are some only if its line was run on the question on the screen.
    """
    line = None if method is None else repr(method.line)
    lanes = comparison.lanes if comparison is not None else ()
    ran = next(
        (one for one in lanes if repr(one.method.line) == line and one.status == JOB_DONE), None
    )
    if comparison is None or ran is None:
        return {}, []
    return outcomes(comparison, ran, bench.draft, step_outcomes(comparison, ran))


def _draw_changed_line(lane: int, line: Line | None, old_line: Line) -> None:
    """Draw the difference of the changed line, and buttons to run it.

    What the line lacks is shown too. It runs in this lane or in a new one.
    """
    adding, full = lane >= len(session.lanes), len(session.lanes) >= MAX_COMPARE_LANES
    words = "" if line is None else change_words(old_line, line)
    idle = line is None or not words
    if line is None:
        if adding:
            caption("These steps cannot run yet.")
        else:
            caption("These steps cannot run. The step with the red border says why.")
    else:
        st.caption(
            plain(words) or tr("Nothing is changed yet. Choose a step to set or replace it.")
        )
        for text in missing_models(line, engine().models, session.model):
            st.caption(f":material/cloud_off: {plain(text)}")
    with st.container(horizontal=True):
        if adding:
            if button(tr("Add this method"), key="lane-add", type="primary", disabled=idle or full):
                _use_line(lane - 1, repr(line), in_new_lane=True)
            return
        if button(
            tr("Add as a new method"),
            key=f"beside-{lane}",
            type="primary",
            disabled=idle or full,
        ):
            _use_line(lane, repr(line), in_new_lane=True)
        if button(tr("Change this method"), key=f"apply-{lane}", disabled=idle):
            _use_line(lane, repr(line))
    if full:
        caption(
            "At most {lanes} methods. Remove one first.",
            lanes=MAX_COMPARE_LANES,
        )


def _use_line(lane: int, spec: str, in_new_lane: bool = False) -> None:
    """Put a line into the lane, and ask the question.

    With `in_new_lane` it gets a new lane after this one.
    """
    insert(lane, spec) if in_new_lane else _replace(lane, spec)
    del session.lane_bench
    _close()
    st.rerun()


def set_lanes(lanes: list[str]) -> None:
    """Set other lanes and ask.

    Finished lanes are reused, so that only new ones run.
    """
    session.lanes, session.edited = lanes, True
    session.submit()


def insert(lane: int, spec: str) -> None:
    """Put a line into a new lane after this one and ask.

    If a lane runs it already, or there is no room, a message says so instead.
    """
    lanes, index = session.lanes, lane_of_line(spec)
    if index is not None:
        st.toast(plain(tr("Method {there} does this already.", there=index + 1)), duration="long")
    elif len(lanes) >= MAX_COMPARE_LANES:
        st.toast(
            plain(
                tr(
                    "At most {lanes} methods. Remove one first.",
                    lanes=MAX_COMPARE_LANES,
                )
            ),
            duration="long",
        )
    else:
        set_lanes([*lanes[: lane + 1], spec, *lanes[lane + 1 :]])


def lane_of_line(spec: str) -> int | None:
    """Return the index of the lane that runs this line; None if none does.

    `spec` is the canonical text of the line.
    """
    methods_by_id = methods()
    for lane_index, lane in enumerate(session.lanes):
        try:
            lane_method = find_method(lane, methods_by_id)
        except HopscopeError:
            continue
        if repr(method_for_source(lane_method, page_source(), methods_by_id).line) == spec:
            return lane_index
    return None


def insert_changed_line(spec: str, changed_line: str, or_in_place: bool = False) -> None:
    """Put a changed line into a new lane after the lane that runs `spec`.

    With `or_in_place` it replaces that lane if there is no room for another one.
    """
    lanes = session.lanes
    lane = lanes.index(spec) if spec in lanes else len(lanes) - 1
    if or_in_place and len(lanes) >= MAX_COMPARE_LANES and lane_of_line(changed_line) is None:
        _replace(lane, changed_line)
    else:
        insert(lane, changed_line)


def _replace(lane: int, spec: str) -> None:
    lanes = session.lanes
    set_lanes([*lanes[:lane], spec, *lanes[lane + 1 :]])
