"""Page Build: compose a method from operators, try it on a question, and save it.

A line is the sequence of operators of a method. The page edits one line per session.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.drafts import History
from core.methods.catalogue import (
    METHOD_OWNED_KIND,
    OWN_GROUP,
    Method,
    delete_method,
    find_method,
    method_of_line,
    save_method,
)
from core.operators.base import Line
from pages.parts.build.bench import Bench
from pages.parts.build.trial_view import draw_compare_link, draw_question_row, draw_trial
from pages.parts.build.trials import can_start_now, run_if_changed, runs_without_click
from pages.parts.methods.chooser import chooser
from pages.parts.shared.actions import button, result_of, shown_errors
from pages.parts.shared.people import admit, owner_text, visitor_refusal
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine, methods, was_address_entered
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def draw_page() -> None:
    """Draw the page."""
    methods_by_id = methods()
    bench = restore_bench(methods_by_id)
    head_area = st.container(key="build-head")
    question_area = st.container(key="build-question")
    error_area = st.container()
    trial_area = st.container()
    # The areas are filled in another order than they are placed: the question first, because Run
    # decides what the other areas show.
    with question_area:
        is_run_clicked = draw_question_row(bench)
    with head_area, st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(tr("Build"), anchor=False, width="content")
        line = bench.line
        label = tr("Start from a method")
        if line is not None:
            name = method_of_line(line, methods_by_id).label
            label = tr("{name} · start from another method", name=name)
        with st.container(width="stretch"):
            if button(plain(label), icon="grid_view", key="build_gallery_open"):
                draw_gallery(methods_by_id, bench)
        draw_compare_link(line, methods_by_id)
        with st.popover(tr("Save"), icon=":material/save:", key="keep-open"):
            draw_save_form(line, methods_by_id)
    should_run = is_run_clicked or runs_without_click(bench)
    if should_run and can_start_now():  # before the line, which then shows the new results
        with error_area:
            run_if_changed(bench, methods_by_id, is_run_clicked)
        should_run = False
    with trial_area:
        draw_trial(bench)
    if should_run:
        with error_area:  # after the line, so that it is visible while a graph is opened
            has_started = run_if_changed(bench, methods_by_id, is_run_clicked)
        if has_started:
            st.rerun()


@st.dialog(tr("Start from a method"), width="large")
def draw_gallery(methods_by_id: dict[str, Method], bench: Bench) -> None:
    """Draw all methods, to choose one or no steps.

    The line of the chosen method replaces the present one; Undo restores that.
    """
    current = method_of_line(bench.line, methods_by_id).id if bench.line is not None else ""
    empty = partial(bench.load, Line())
    if bench.draft.bricks and button(tr("Start with no steps"), empty, key="build_empty"):
        st.rerun()
    method_id = chooser(
        methods_by_id, engine().models, current, key="build_gallery", answering=session.try_model
    )
    if method_id in methods_by_id:
        bench.load(methods_by_id[method_id].line)
        st.rerun()


def draw_save_form(line: Line | None, methods_by_id: dict[str, Method]) -> None:
    """Draw the form that saves the line, and the saved methods.

    `line` is None while it is incomplete and cannot be saved.
    """
    with st.container(key="keep-box"), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            tr("Name"),
            key="keep_name",
            persist_state="session",
            placeholder=tr("A name of your own"),
            max_chars=80,
        )
        pressed = button(tr("Save"), key="keep-go", type="primary", disabled=line is None)
    if pressed and line is not None:
        saved = result_of(lambda: save_method(name, line))
        if saved is not None:
            session.build_saved = saved.title
            st.rerun()  # The list of methods above was drawn without the new one.
    if title := Session.build_saved.take():
        st.toast(tr("Saved “{title}”.", title=plain(title)), icon=":material/check:")
    if line is None:
        caption("A method can be saved once it can be run.")
    own_methods = [method for method in methods_by_id.values() if method.group == OWN_GROUP]
    if not own_methods:
        caption("Nothing saved yet. Saved methods appear here and wherever a method is chosen.")
    for method in own_methods:
        with st.container(horizontal=True, vertical_alignment="center", key=f"own-{method.id}"):
            owner = owner_text(METHOD_OWNED_KIND, method.id)
            facts = filter(None, (method.label, method.line.words(), owner))
            st.text("  ·  ".join(facts), width="stretch")
            button(
                tr("Delete"),
                partial(delete_method, method.id),
                key=f"delete-{method.id}",
                type="tertiary",
                icon="delete",
                why_not=visitor_refusal(METHOD_OWNED_KIND, method.id),
            )


def restore_bench(methods_by_id: dict[str, Method]) -> Bench:
    """Return the `Bench` of this session.

    The query parameter `line` or `from` of the address has a line as text or the id of a method. It
    is loaded if the user has just gone to this address. Otherwise the address may be older than the
    line, and is ignored.
    """
    is_new = session.bench is None
    bench = session.bench = session.bench or Bench()
    address_line = st.query_params.get("line") or st.query_params.get("from") or ""
    if (
        address_line
        and (is_new or was_address_entered())
        and address_line not in (bench.address_line, bench.draft.text)
    ):
        _load_address(bench, address_line, methods_by_id)
        if is_new:
            bench.history = History(bench.draft)  # no earlier line to go back to
    bench.address_line = address_line
    session.arrived_by_navigation = False
    return bench


def _load_address(bench: Bench, address: str, methods_by_id: dict[str, Method]) -> None:
    """Load what an address names, and show an error if that fails."""
    with shown_errors():
        # A line has brackets. The id of a method has none.
        if address in methods_by_id or "(" not in address:
            bench.load(find_method(address, methods_by_id).line)
        else:
            bench.load_text(address)


admit(draw_page)
