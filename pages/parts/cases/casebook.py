"""List of saved cases, with search, import and export."""

from __future__ import annotations

from functools import partial
from html import escape

import streamlit as st

from core.cases import Case, cases, duplicate, examples, export, tags
from core.cases.store import CASE_KIND
from pages.parts.board.thumbnail import thumbnail_address
from pages.parts.bringing.drop_zone import drop_zone
from pages.parts.compare.presentation import draw_present_button
from pages.parts.question.permalink import case_link
from pages.parts.shared.actions import button
from pages.parts.shared.people import owner_text
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.text import date_text, label_list, plain
from pages.parts.shared.wording import tr

CASES_PER_CLICK = 25  # cases that are listed at first, and added by each click
MAX_LISTED_NOTES_CHARACTERS = 240  # most characters of the notes in the list, cut at a word
EXPORT_FILE_NAME = "hopscope.cases.gz"
# Attributes of the picture of an example.
PICTURE_HTML = (
    'loading="lazy" style="width: 100%; max-height: 190px; object-fit: cover; object-position: '
    'top; border-radius: 6px"'
)


def draw_casebook() -> None:
    """Draw the search, the matching cases, import and export."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            tr("Search"),
            key="case_search",
            persist_state="session",
            placeholder=tr("words of a question, note, tag, entity or method"),
            width="stretch",
        )
        known_tags = list(tags())
        if st.query_params.get("tag") in known_tags:  # the address may name one
            session.case_tag = st.query_params.pop("tag")
        tag = st.selectbox(
            tr("Tag"),
            known_tags,
            index=None,
            key=Session.case_tag.name,
            persist_state="session",
            placeholder=tr("any"),
            width=180,
            disabled=not known_tags,
        )
        with st.popover(tr("Add"), icon=":material/add:"):
            drop_zone()
        matches = cases(text, tag or "")
        own_ids = [case.id for case in matches if not case.example]
        st.download_button(
            tr("Export these"),
            lambda: export(own_ids),
            EXPORT_FILE_NAME,
            "application/gzip",
            icon=":material/download:",
            disabled=not own_ids,
            on_click="ignore",
        )
        draw_present_button(matches, {"words": text, "tag": tag or ""})
    if message := Session.cases_message.take():
        st.success(plain(message), icon=":material/check_circle:")
    if not matches:
        if text or tag:
            caption("No case has all these words.")
        else:
            caption("Nothing is saved yet. On Compare, “Save” keeps what is on the screen.")
    n_shown = session.cases_shown or CASES_PER_CLICK  # 0 until the button was clicked
    for case in matches[:n_shown]:
        _draw_case(case)
    if len(matches) > n_shown:
        button(
            tr("Show more · {more:,} left", more=len(matches) - n_shown),
            partial(Session.cases_shown.put, n_shown + CASES_PER_CLICK),
            type="tertiary",
        )


def case_facts(case: Case) -> str:
    """Describe a case by methods, source, time and owner."""
    facts = [label_list(map(tr, case.method_labels)), case_link(case).source.title]
    if case.example:
        facts.append(tr("example"))
    else:
        facts.append(date_text(case.created))
        facts.append(owner_text(CASE_KIND, case.id))
    return " · ".join(filter(None, facts))


def draw_tags(case: Case) -> None:
    """Draw the tags of a case."""
    if case.tags:
        with st.container(horizontal=True, gap="small"):
            for tag in case.tags:
                st.badge(plain(tag), color="gray")


def go_to_case(key: str) -> None:
    """Open the case of an id on this page, by its address."""
    st.query_params["case"] = key


def copy_case(key: str) -> None:
    """Duplicate a case and go to the copy."""
    copy = duplicate(key)
    session.cases_message = tr("This is the copy.")
    go_to_case(copy.id)


def _draw_case(case: Case) -> None:
    with st.container(border=True, key=f"case_{case.id}"):
        picture = _picture_address(case)
        if picture is None:
            _draw_case_text(case)
            return
        picture_column, words = st.columns((1, 3))
        with picture_column:
            alt = escape(tr("Its board"))
            st.html(
                f'<a href="?case={case.id}"><img src="{picture}" alt="{alt}" {PICTURE_HTML}></a>'
            )
        with words:
            _draw_case_text(case)


def _picture_address(case: Case) -> str | None:
    """Return the address of the picture of an example, or of the thumbnail of a saved case."""
    picture = examples.picture_file(case, st.context.theme.type == "dark")
    if picture is None:
        return thumbnail_address(case.id)
    return f"app/static/{picture.parent.name}/{picture.name}"


def _draw_case_text(case: Case) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", wrap=False
    ):
        with st.container(gap=None):
            st.markdown(f"**{plain(case.question)}**")
            st.caption(plain(case_facts(case)))
        button(tr("Open"), partial(go_to_case, case.id), key=f"open_{case.id}", width="content")
    if case.notes:
        notes = case.notes
        if len(notes) > MAX_LISTED_NOTES_CHARACTERS:
            notes = notes[:MAX_LISTED_NOTES_CHARACTERS].rsplit(" ", 1)[0] + " …"
        st.text(notes)
    draw_tags(case)
