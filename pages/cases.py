"""Page Cases: the saved comparisons, and one of them opened.

A case is a comparison of methods on one question, saved with its results. It opens without the
graph and without any model.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.cases import Case, comparison_of_case, delete, edit, export, get_case, tags
from core.cases.store import CASE_KIND, thumbnail_file
from core.corpus import corpora
from core.datasets import datasets
from core.errors import HopscopeError
from core.runtime.jobs import error_sentence
from pages.parts.board.static_board import draw_downloads, draw_finished_board
from pages.parts.board.thumbnail import save_thumbnail
from pages.parts.cases.casebook import case_facts, copy_case, draw_casebook, draw_tags
from pages.parts.compare.presentation import draw_present_button
from pages.parts.shared.actions import button, confirm_button
from pages.parts.shared.people import admit, disabled_arguments, visitor_refusal
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def draw_page() -> None:
    """Draw the list of cases, or the case that the address names."""
    case_id = st.query_params.get("case", "")
    try:
        if case_id:
            draw_case(get_case(case_id))
        else:
            st.header(tr("Cases"), anchor=False)
            draw_casebook()
    except HopscopeError as error:
        st.error(plain(str(error)))
        if case_id:
            button(tr("All cases"), leave_case, icon="arrow_back")


def draw_case(case: Case) -> None:
    """Draw one case: its facts, its actions and its board."""
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        button(tr("All cases"), leave_case, key="back", icon="arrow_back", type="tertiary")
        with st.container(
            horizontal=True, width="content", gap="small", vertical_alignment="center"
        ):
            draw_actions(case)
    with st.container(gap=None):
        st.subheader(plain(case.question), anchor=False)
        st.caption(plain(case_facts(case)))
    if message := Session.cases_message.take():
        st.success(plain(message), icon=":material/check_circle:")
    if case.notes:
        st.text(case.notes)
    draw_tags(case)
    question_facts = []
    if case.entities:
        question_facts.append(tr("Starts at {entities}", entities=", ".join(case.entities)))
    if case.answers:
        question_facts.append(tr("correct answers: {answers}", answers=", ".join(case.answers)))
    if question_facts:
        st.caption(plain(" · ".join(question_facts)))
    comparison = Session.case_open.get_or_compute(case.id, lambda: comparison_of_case(case.id))
    try:
        drawing = draw_finished_board(comparison, f"case-{case.id}")
    # An imported file may have data that no run could make.
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        st.error(plain(tr("This case cannot be drawn. {sentence}", sentence=error_sentence(error))))
        return
    if not case.example and not thumbnail_file(case.id).exists():
        save_thumbnail(case.id, drawing.payload())
    with st.container(horizontal=True):
        draw_downloads(comparison, drawing)


def draw_actions(case: Case) -> None:
    """Draw the actions: present, ask again, notes and tags, duplicate, export and delete.

    A shipped example can be neither changed nor deleted.
    """
    draw_present_button([case])
    if case.link and "corpus" in case.link:
        source_exists = case.link.get("corpus") in corpora()
    else:
        source_exists = case.graph in datasets()
    if case.link and source_exists:
        st.page_link(
            "pages/compare.py",
            label=tr("Ask again"),
            icon=":material/view_column:",
            query_params=dict(case.link),
        )
    refusal = "" if case.example else visitor_refusal(CASE_KIND, case.id)
    if not case.example:
        with st.popover(
            tr("Notes and tags"), icon=":material/edit_note:", **disabled_arguments(refusal)
        ):
            draw_notes_form(case)
    button(tr("Duplicate"), partial(copy_case, case.id), key="duplicate", icon="content_copy")
    st.download_button(
        tr("Export"),
        lambda: export([case.id]),
        f"{case.id}.cases.gz",
        "application/gzip",
        icon=":material/download:",
        on_click="ignore",
    )
    if not case.example:
        confirm_button(
            tr("Delete"),
            tr("Delete this case? It cannot be brought back."),
            tr("Yes, delete it"),
            lambda: remove_case(case.id),
            "delete",
            type="secondary",
            why_not=refusal,
        )


def draw_notes_form(case: Case) -> None:
    """Draw the form that changes the notes and tags of a case."""
    with st.form("annotate", border=False):
        notes = st.text_area(tr("Notes"), case.notes, height=160, max_chars=20_000)
        new_tags = st.multiselect(
            tr("Tags"),
            list(dict.fromkeys((*case.tags, *tags()))),
            default=list(case.tags),
            accept_new_options=True,
            placeholder=tr("none"),
        )
        if st.form_submit_button(tr("Keep"), type="primary"):
            edit(case.id, notes, new_tags)
            st.rerun()


def remove_case(case_id: str) -> None:
    """Delete a case and go back to the list."""
    delete(case_id)
    session.cases_message = tr("The case was deleted.")
    leave_case()


def leave_case() -> None:
    """Go back to the list of cases."""
    st.query_params.pop("case", None)


admit(draw_page)
