"""Methods of the lanes, and the dialog that changes a lane's method or its steps.

A lane shows the run of one method on the question. `session.lanes` has a text (`spec`) for each:
the id of a method in the catalogue, or a line (sequence of operators) in its canonical form.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from core.diagnosis.step_outcomes import step_outcomes
from core.engine import MethodComparison
from core.errors import HopscopeError, UnknownMethod
from core.lines.difference import change_words
from core.methods.catalogue import Method, find_method, method_for_source
from core.methods.facets import reads_no_source
from core.methods.model_needs import missing_models
from core.operators.base import Line
from core.runtime.jobs import JOB_DONE
from pages.parts.build.bench import Bench
from pages.parts.build.component import draw_bricks
from pages.parts.build.line_drawing import line_data
from pages.parts.build.outcomes import block_outcomes
from pages.parts.methods.advice import advice_data, compare_question
from pages.parts.methods.chooser import chooser, draw_alternatives
from pages.parts.question.permalink import MAX_COMPARE_LANES
from pages.parts.shared.actions import button, result_of, shown_errors
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import chosen_source, engine, methods
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

LANE_VIEWS = {"change": tr("Another method"), "step": tr("Its steps")}
# Labels in the dialog of a new lane.
NEW_LANE_VIEWS = {"change": tr("A method"), "step": tr("Steps of your own")}


def runnable_methods(catalogue: Mapping[str, Method]) -> dict[str, Method]:
    """Return the methods that can be run on the chosen graph or corpus.

    A method that neither searches a graph nor documents, such as a language model alone, fits both.
    """
    source = chosen_source()
    return {
        id: method
        for id, method in catalogue.items()
        if method.is_for(source) or reads_no_source(method)
    }


def restore_lanes() -> None:
    """Restore the lanes of the chosen kind of source when the kind has changed.

    Graphs and corpora have their own lanes.
    """
    source = chosen_source()
    kind = source.kind
    old_kind = session.lanes_source_kind
    if old_kind != kind:
        session.lanes_of_kind = {**session.lanes_of_kind, old_kind: session.lanes}
        session.lanes = session.lanes_of_kind.get(kind, list(source.default_lanes))
        session.lanes_source_kind = kind


def lane_methods(catalogue: Mapping[str, Method]) -> list[Method]:
    """Return the lanes' methods, for the chosen kind of source.

    For a lane that cannot be read, its error is drawn, and the lane is left out. Instead of an
    unknown method, the nearest ones are offered.
    """
    lanes = []
    for index, spec in enumerate(session.lanes):
        with shown_errors():
            try:
                method = find_method(spec, catalogue, session.lanes)
                lanes.append(method_for_source(method, chosen_source(), catalogue))
            except UnknownMethod as error:
                st.error(plain(str(error)))
                draw_alternatives(error, catalogue, partial(_replace_lane, index))
    return lanes


def handle_lane_click(lane: int, action: str) -> None:
    """Handle a click on the head of the lane with this index.

    The actions `change`, `step` and `add` open the dialog; `remove` removes the lane, unless it is
    the only one.
    """
    lanes = session.lanes
    if action == "remove" and len(lanes) > 1 and 0 <= lane < len(lanes):
        set_lanes(lanes[:lane] + lanes[lane + 1 :])
    elif action == "add" and len(lanes) < MAX_COMPARE_LANES:
        session.choosing = (len(lanes), "change")
    elif action in ("change", "step") and 0 <= lane < len(lanes):
        session.choosing = (lane, action)


def draw_lane_dialog(
    catalogue: Mapping[str, Method], comparison: MethodComparison | None = None
) -> None:
    """Draw the dialog of the lane that is being changed, if there is one.

    It stays open while the page behind it is drawn again. `comparison` is the one on the screen,
    whose results are drawn with the steps.
    """
    if session.choosing is None:
        return
    # A lane with an index behind the last one is new.
    lane, action = session.choosing
    title = tr("Add a method")
    if lane < len(session.lanes):
        title = tr("Change method {lane}", lane=lane + 1)
    st.dialog(title, width="large", on_dismiss=_close_dialog)(_draw_views)(
        lane, action, catalogue, comparison
    )


def _close_dialog() -> None:
    del session.choosing


def _draw_views(
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
        _draw_steps(lane, comparison)
    else:
        _draw_method_choice(lane, catalogue)


def _draw_method_choice(lane: int, catalogue: Mapping[str, Method]) -> None:
    lanes, source = session.lanes, chosen_source()
    choice = chooser(
        catalogue,
        engine().models,
        current=lanes[lane] if lane < len(lanes) else "",
        key=f"chooser-{lane}",
        answering=session.model,
        others={
            id: method
            for id, method in methods().items()
            if method.on_documents != source.is_corpus and id not in catalogue
        },
    )
    if choice is not None and choice in catalogue:
        set_lanes([*lanes[:lane], choice, *lanes[lane + 1 :]])
        _close_dialog()
        st.rerun()


def _draw_steps(lane: int, comparison: MethodComparison | None) -> None:
    """Draw an editor of the lane's line with its results.

    Buttons below it run the changed line.
    """
    method, old_line = None, Line()
    if lane < len(session.lanes):
        catalogue = methods()
        method = result_of(
            lambda: method_for_source(
                find_method(session.lanes[lane], catalogue), chosen_source(), catalogue
            )
        )
        if method is None:
            return
        _draw_source(method)
        old_line = method.line
    bench = Session.lane_bench.get_or_compute(
        (lane, repr(old_line)), lambda: Bench.of_line(old_line)
    )
    outcomes_by_key, extra_outcomes = _outcomes(comparison, bench, method)
    data = line_data(
        bench,
        outcomes_by_key,
        extra_outcomes,
        lambda operator: advice_data(operator, compare_question()),
        documents=chosen_source().is_corpus,
    )
    draw_bricks(bench, {**data, "compact": True}, Session.lane_bricks)
    _draw_changed_line(lane, bench.line, old_line)


def _draw_source(method: Method) -> None:
    """Draw the paper of the method, and notes on the choices that the paper leaves open."""
    heading = " · ".join(filter(None, (tr(method.label), method.secondary_name)))
    st.markdown(f"**{plain(heading)}**")
    for text in (method.paper, method.notes):
        if text:
            st.caption(plain(text))


def _outcomes(
    comparison: MethodComparison | None, bench: Bench, method: Method | None
) -> tuple[dict, list]:
    """Return the `block_outcomes` of the lane's line.

    Both parts are empty before it was run.
    """
    if comparison is not None and method is not None:
        for lane in comparison.lanes:
            if repr(lane.method.line) == repr(method.line) and lane.status == JOB_DONE:
                return block_outcomes(
                    comparison, lane, bench.draft, step_outcomes(comparison, lane)
                )
    return {}, []


def _draw_changed_line(lane: int, line: Line | None, old_line: Line) -> None:
    """Draw how the line was changed, and buttons to run it.

    Models that it lacks are named. One button runs it in this lane, and one in a new lane. `line`
    is None if it is incomplete.
    """
    is_new_lane = lane >= len(session.lanes)
    is_full = len(session.lanes) >= MAX_COMPARE_LANES
    words = "" if line is None else change_words(old_line, line)
    cannot_run = line is None or not words
    cannot_add = cannot_run or is_full
    if line is None:
        if is_new_lane:
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
        if is_new_lane:
            if button(tr("Add this method"), key="lane-add", type="primary", disabled=cannot_add):
                _use_line(lane - 1, repr(line), in_new_lane=True)
            return
        if button(
            tr("Add as a new method"), key=f"beside-{lane}", type="primary", disabled=cannot_add
        ):
            _use_line(lane, repr(line), in_new_lane=True)
        if button(tr("Change this method"), key=f"apply-{lane}", disabled=cannot_run):
            _use_line(lane, repr(line))
    if is_full:
        caption("At most {lanes} methods. Remove one first.", lanes=MAX_COMPARE_LANES)


def _use_line(lane: int, spec: str, in_new_lane: bool = False) -> None:
    """Put a line into the lane, or into a new one, and ask the question."""
    insert_line(lane, spec) if in_new_lane else _replace_lane(lane, spec)
    del session.lane_bench
    _close_dialog()
    st.rerun()


def set_lanes(lanes: list[str]) -> None:
    """Replace the lanes, and ask the question.

    Finished lanes are reused, so that only new ones run.
    """
    session.lanes, session.only_lanes_changed = lanes, True
    session.submit()


def insert_line(lane: int, spec: str) -> None:
    """Put a line into a new lane after the lane `lane`, and ask.

    If a lane runs it already, or there are `MAX_COMPARE_LANES`, a message says so instead.
    """
    lanes, index = session.lanes, lane_of_line(spec)
    if index is not None:
        st.toast(plain(tr("Method {there} does this already.", there=index + 1)), duration="long")
    elif len(lanes) >= MAX_COMPARE_LANES:
        message = tr("At most {lanes} methods. Remove one first.", lanes=MAX_COMPARE_LANES)
        st.toast(plain(message), duration="long")
    else:
        set_lanes([*lanes[: lane + 1], spec, *lanes[lane + 1 :]])


def lane_of_line(spec: str) -> int | None:
    """Return the index of the lane that runs a canonical line.

    None if no lane does.
    """
    catalogue = methods()
    for index, lane in enumerate(session.lanes):
        try:
            method = find_method(lane, catalogue)
        except HopscopeError:
            continue
        if repr(method_for_source(method, chosen_source(), catalogue).line) == spec:
            return index
    return None


def insert_changed_line(spec: str, changed_line: str, or_in_place: bool = False) -> None:
    """Put a changed line after the lane with the text `spec`.

    Without such a lane, it comes last. If there are `MAX_COMPARE_LANES` already, `or_in_place` lets
    it replace the lane; otherwise a message is shown.
    """
    lanes = session.lanes
    lane = lanes.index(spec) if spec in lanes else len(lanes) - 1
    if or_in_place and len(lanes) >= MAX_COMPARE_LANES and lane_of_line(changed_line) is None:
        _replace_lane(lane, changed_line)
    else:
        insert_line(lane, changed_line)


def _replace_lane(lane: int, spec: str) -> None:
    lanes = session.lanes
    set_lanes([*lanes[:lane], spec, *lanes[lane + 1 :]])
