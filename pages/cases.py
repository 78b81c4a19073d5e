"""Page Cases: saved comparisons, opened without the graph and without any model."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.cases import Case, delete, edit, export, get, tags, whole
from core.cases.store import OWNED_AS
from core.corpus import corpora
from core.datasets import datasets
from core.errors import HopscopeError
from core.runtime.jobs import sentence
from pages.parts.board.finished import downloads, finished_board
from pages.parts.cases.casebook import badges, casebook, copy_case, facts
from pages.parts.compare.presenting import offer
from pages.parts.shared.actions import ask_first, button
from pages.parts.shared.people import admit, barred, held
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def page() -> None:
    """Draw the list of cases, or the case that the address names."""
    key = st.query_params.get("case", "")
    try:
        if key:
            opened(get(key))
        else:
            st.header(tr("Cases"), anchor=False)
            casebook()
    except HopscopeError as error:
        st.error(plain(str(error)))
        if key:
            button(tr("All cases"), leave, icon="arrow_back")


def opened(case: Case) -> None:
    """Draw one case: its facts, its actions and its board."""
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        button(tr("All cases"), leave, key="back", icon="arrow_back", type="tertiary")
        with st.container(
            horizontal=True, width="content", gap="small", vertical_alignment="center"
        ):
            actions(case)
    with st.container(gap=None):
        st.subheader(plain(case.question), anchor=False)
        st.caption(plain(facts(case)))
    if message := Session.cases_message.take():
        st.success(plain(message), icon=":material/check_circle:")
    if case.notes:
        st.text(case.notes)
    badges(case)
    asked = []
    if case.entities:
        asked.append(tr("Starts from {entities}", entities=", ".join(case.entities)))
    if case.answers:
        asked.append(tr("known answers: {answers}", answers=", ".join(case.answers)))
    if asked:
        st.caption(plain(" · ".join(asked)))
    opened = Session.case_open.of(case.id, lambda: whole(case.id))
    try:
        drawing = finished_board(opened, f"case-{case.id}")
    except (
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
    ) as error:  # An imported file may have data that no run could make.
        st.error(plain(tr("This case cannot be drawn. {sentence}", sentence=sentence(error))))
        return
    with st.container(horizontal=True):
        downloads(opened, drawing, f"case-{case.id}")


def actions(case: Case) -> None:
    """Draw the actions on a case.

    They are present, ask again, notes and tags, duplicate, export and delete.
    """
    offer([case])
    if case.link and (
        case.link.get("corpus") in corpora() if "corpus" in case.link else case.graph in datasets()
    ):
        st.page_link(
            "pages/compare.py",
            label=tr("Ask again"),
            icon=":material/view_column:",
            query_params=dict(case.link),
        )
    why = "" if case.example else barred(OWNED_AS, case.id)
    if not case.example:
        with st.popover(tr("Notes and tags"), icon=":material/edit_note:", **held(why)):
            annotate(case)
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
        ask_first(
            tr("Delete"),
            tr("Delete this case? It cannot be brought back."),
            tr("Yes, delete it"),
            lambda: remove(case.id),
            "delete",
            type="secondary",
            why_not=why,
        )


def annotate(case: Case) -> None:
    """Draw the form of notes and tags."""
    with st.form("annotate", border=False):
        notes = st.text_area(tr("Notes"), case.notes, height=160, max_chars=20_000)
        chosen = st.multiselect(
            tr("Tags"),
            list(dict.fromkeys((*case.tags, *tags()))),
            default=list(case.tags),
            accept_new_options=True,
            placeholder=tr("none"),
        )
        if st.form_submit_button(tr("Keep"), type="primary"):
            edit(case.id, notes, chosen)
            st.rerun()


def remove(key: str) -> None:
    """Delete a case and go back to the list."""
    delete(key)
    session.cases_message = tr("The case was deleted.")
    leave()


def leave() -> None:
    """Go back to the list."""
    st.query_params.pop("case", None)


admit(page)
