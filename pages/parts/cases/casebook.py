"""List of saved cases, with search, import and export."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from html import escape

import streamlit as st

from core.cases import Case, cases, duplicate, examples, export, tags
from core.cases.store import OWNED_AS
from pages.parts.bringing.drop_zone import drop_zone
from pages.parts.compare.presenting import offer
from pages.parts.question.permalink import case_link
from pages.parts.shared.actions import button
from pages.parts.shared.people import whose
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

SHOWN = 25  # cases that are listed at first, and added by each click
NOTES = 240  # most characters of the notes in the list, cut at a word
FILE = "hopscope.cases.gz"
PICTURE = (
    'loading="lazy" style="width: 100%; max-height: 190px; object-fit: cover; object-position: '
    'top; border-radius: 6px"'
)


def casebook() -> None:
    """Draw the search, the cases found, import and export."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            tr("Search"),
            key="case_search",
            persist_state="session",
            placeholder=tr("words of a question, note, tag, entity or method"),
            width="stretch",
        )
        known = list(tags())
        tag = st.selectbox(
            tr("Tag"),
            known,
            index=None,
            key="case_tag",
            persist_state="session",
            placeholder=tr("any"),
            width=180,
            disabled=not known,
        )
        with st.popover(tr("Add"), icon=":material/add:"):
            drop_zone()
        found = cases(text, tag or "")
        own = [case.id for case in found if not case.example]
        st.download_button(
            tr("Export these"),
            lambda: export(own),
            FILE,
            "application/gzip",
            icon=":material/download:",
            disabled=not own,
            on_click="ignore",
        )
        offer(found)
    if message := Session.cases_message.take():
        st.success(plain(message), icon=":material/check_circle:")
    if not found:
        if text or tag:
            caption("No case holds all these words.")
        else:
            caption("Nothing is saved yet. On Compare, “Save” keeps what is on the screen.")
    shown = session.cases_shown or SHOWN
    for case in found[:shown]:
        _row(case)
    if len(found) > shown:
        button(
            tr("Show more · {more:,} left", more=len(found) - shown),
            partial(Session.cases_shown.put, shown + SHOWN),
            type="tertiary",
        )


def facts(case: Case) -> str:
    """Return the facts of a case in one line."""
    when = (
        tr("example") if case.example else f"{datetime.fromtimestamp(case.created):%d %b %Y, %H:%M}"
    )
    by = "" if case.example else whose(OWNED_AS, case.id)
    labels = list(map(tr, case.labels))
    methods = ("; " if any("," in label for label in labels) else ", ").join(labels)
    return " · ".join(filter(None, (methods, case_link(case).source.title, when, by)))


def badges(case: Case) -> None:
    """Draw the tags of a case."""
    if case.tags:
        with st.container(horizontal=True, gap="small"):
            for tag in case.tags:
                st.badge(plain(tag), color="gray")


def open_case(key: str) -> None:
    """Go to a case."""
    st.query_params["case"] = key


def copy_case(key: str) -> None:
    """Duplicate a case and go to the copy."""
    copy = duplicate(key)
    session.cases_message = tr("This is the copy.")
    open_case(copy.id)


def _row(case: Case) -> None:
    with st.container(border=True, key=f"case_{case.id}"):
        picture = examples.picture(case, st.context.theme.type == "dark")
        if picture is None:
            _words(case)
            return
        beside, words = st.columns((1, 3))
        with beside:
            alt = escape(tr("Its board"))
            st.html(
                f'<a href="?case={case.id}"><img '
                f'src="app/static/{picture.parent.name}/{picture.name}" alt="{alt}" '
                f"{PICTURE}></a>"
            )
        with words:
            _words(case)


def _words(case: Case) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", wrap=False
    ):
        with st.container(gap=None):
            st.markdown(f"**{plain(case.question)}**")
            st.caption(plain(facts(case)))
        button(tr("Open"), partial(open_case, case.id), key=f"open_{case.id}", width="content")
    if case.notes:
        st.text(
            case.notes if len(case.notes) <= NOTES else case.notes[:NOTES].rsplit(" ", 1)[0] + " …"
        )
    badges(case)
