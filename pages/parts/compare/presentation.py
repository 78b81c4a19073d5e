"""Presentation on the page Compare: one comparison fills the screen, without controls.

The arrow keys go to other saved cases; a slash asks a question from the room. In the address,
`present=1` starts the presentation, and `show` is the id of the presented case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from core.cases import Case, cases, get_case
from core.cases.examples import demo
from core.engine import MethodComparison
from core.errors import HopscopeError
from core.io.input_checks import encodable_text
from pages.parts.board.component import board
from pages.parts.compare.graph_edits import add_earlier_answers
from pages.parts.compare.screen_board import (
    add_queue_length,
    draw_follow_up_errors,
    drawable_screen,
    payload,
    wait_for_news,
)
from pages.parts.compare.screen_state import (
    ScreenComparison,
    apply_link,
    open_case,
    screen_comparison,
    session_link,
    show_case,
)
from pages.parts.question.permalink import MAX_COMPARE_LANES, case_link, read_link
from pages.parts.question.question_bar import draw_question_error
from pages.parts.shared.actions import button
from pages.parts.shared.edits import new_edits
from pages.parts.shared.scripts import component
from pages.parts.shared.session import chosen_source
from pages.parts.shared.session_state import session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

# Hides everything around the lanes, and lets them fill the screen.
PRESENTATION_STYLE = """<style>
[data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stExpandSidebarButton"] { \
display: none !important; }
[data-testid="stMainBlockContainer"] { padding: 14px 24px 8px !important; max-width: none \
!important; }
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] { gap: 8px; }
</style>"""


def is_presenting() -> bool:
    """Return whether the address asks for the presentation."""
    return st.query_params.get("present") == "1"


def present(repair: Callable[[MethodComparison, int], None]) -> None:
    """Draw the presentation.

    It shows the case that the address names, else the comparison on the page, else the first of the
    cases to present. `repair` is called with the comparison and the index of the lane whose repair
    was clicked.
    """
    st.html(PRESENTATION_STYLE)
    case_ids = _case_ids()
    if session.question_error is not None:
        draw_question_error(session.question_error)
        if screen_comparison() is None:  # a first case would take the place of the question
            button(tr("Back to the cases"), partial(_return_to_case, case_ids))
            return
    start_case = st.query_params.get("show", "")
    try:
        if start_case and (session.case is None or session.case.id != start_case):
            show_case(get_case(start_case))
        on_screen = drawable_screen(screen_comparison() or _first_case(case_ids))
    except HopscopeError as error:
        st.error(plain(str(error)))
        button(tr("Leave the presentation"), leave_presentation)
        return
    if on_screen is None:
        st.info(tr("There is nothing to present yet: ask a question on Compare, or save a case."))
        button(tr("Leave the presentation"), leave_presentation)
        return
    current_id = on_screen.case.id if on_screen.case else ""
    ids = _presented_ids(current_id, case_ids, has_question="q" in st.query_params)
    _draw_head(on_screen, ids, ids.index(current_id))
    _draw_lanes(on_screen, repair)


def _case_ids() -> list[str]:
    """Return the ids of the cases to present.

    They are those chosen on Cases, else those that the address describes, else the examples.
    """
    if session.present_cases:
        return session.present_cases
    query = st.query_params
    if {"words", "tag"} & set(query):
        return [case.id for case in cases(query.get("words", ""), query.get("tag", ""))]
    return [case.id for case in demo(chosen_source())]


def leave_presentation() -> None:
    """Go back to the page with its controls.

    A presented case stays on the screen.
    """
    if session.case is not None:
        open_case(session.case)
        return
    for key in ("present", "show", "words", "tag"):
        st.query_params.pop(key, None)


def _presented_ids(current_id: str, case_ids: list[str], has_question: bool) -> list[str]:
    """Return the ids of the cases that the arrow keys go through.

    The question of the address comes first and has an empty id.
    """
    ids = ["", *case_ids] if has_question or not current_id else case_ids
    return ids if current_id in ids else [current_id, *ids]


def _first_case(case_ids: list[str]) -> ScreenComparison | None:
    if not case_ids:
        return None
    show_case(get_case(case_ids[0]))
    return screen_comparison()


def _draw_head(on_screen: ScreenComparison, ids: list[str], index: int) -> None:
    """Draw the question, and follow the arrow keys.

    `index` is the position of the presented case in `ids`.
    """
    question = on_screen.comparison.ask.question
    written = on_screen.comparison.ask.source.written_form(question.text)
    data = {
        "question": written or question.text,
        "original": question.text if written else "",
        "entities": list(question.entities)[:3],
        "answers": list(question.answers),
        "number": index + 1,
        "of": len(ids),
    }
    data |= session.presenter_received._asdict()
    result = component("presenter")(key="presenter", data=data, on_pressed_change=lambda: None)
    edits, session.presenter_received = new_edits(
        getattr(result, "pressed", None), session.presenter_received
    )
    if any(edit.get("leave") for edit in edits):
        leave_presentation()
        st.rerun()
    questions = [str(edit["ask"]) for edit in edits if edit.get("ask")]
    if questions:
        _ask_in_room(on_screen, questions[-1])
    # Each edit is one step back (-1) or forward (1). After the last case comes the first.
    target = (index + sum(edit["by"] for edit in edits if edit.get("by") in (-1, 1))) % len(ids)
    if target != index:
        _go_to_case(ids[target])


def _ask_in_room(on_screen: ScreenComparison, question: str) -> None:
    """Ask a question of the presented graph, with the same methods."""
    link = session_link() if on_screen.case is None else case_link(on_screen.case)
    st.query_params.pop("show", None)
    del session.question_error
    session.wanted_link = replace(
        link, question=encodable_text(question), entities=(), answers=(), case="", is_typed=True
    )
    st.rerun()


def _return_to_case(case_ids: list[str]) -> None:
    """Show the first case in place of a question that could not be asked."""
    del session.question_error
    _first_case(case_ids)


def _go_to_case(case: str) -> None:
    """Go to another case of the list.

    An empty id stands for the question of the address.
    """
    del session.question_error
    if case:
        st.query_params["show"] = case
    else:
        st.query_params.pop("show", None)
        apply_link(read_link())
    st.rerun()


def _draw_lanes(
    on_screen: ScreenComparison, repair: Callable[[MethodComparison, int], None]
) -> None:
    """Draw the lanes, and update them while their job runs."""
    job = on_screen.job
    was_running = job is not None and (not job.has_ended or on_screen.comparison.is_repairing)

    @st.fragment(run_every=1.0 if was_running else None)
    def update_board() -> None:
        draw_follow_up_errors(on_screen.comparison)
        data = add_earlier_answers(add_queue_length(payload(on_screen), on_screen), on_screen)
        data = {**data, "present": True, "most_lanes": MAX_COMPARE_LANES}
        clicks = board(data, key="presented_board")
        if clicks.repair is not None:
            repair(on_screen.comparison, int(clicks.repair))
        has_ended = job is not None and job.has_ended
        if was_running and has_ended and not on_screen.comparison.is_repairing:
            st.rerun()
        if was_running:
            wait_for_news(on_screen)

    update_board()


def draw_present_button(found: list[Case], search: Mapping[str, str] | None = None) -> None:
    """Draw a button that presents cases one after the other.

    `search` has the `words` and the `tag` that found them, with which the address finds them again
    in another browser.
    """

    def begin() -> None:
        session.present_cases = [case.id for case in found]

    if button(tr("Present"), begin, icon="present_to_all", disabled=not found, key="present_found"):
        query = {"present": "1", "show": found[0].id, **(search or {})}
        st.switch_page("pages/compare.py", query_params=query)
