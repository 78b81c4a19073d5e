"""Choice of another source on a page that shows only graphs or only documents."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.sources import AnswerSource, CorpusSource, GraphSource, available_sources
from pages.parts.shared.actions import button
from pages.parts.shared.session import chosen_source, is_missing
from pages.parts.shared.session_state import session
from pages.parts.shared.source_words import words_of
from pages.parts.shared.text import plain


def choose_source(source: AnswerSource) -> None:
    """Let the sidebar choose a source in the next run.

    A question about another one is cleared.
    """
    if chosen_source() != source:
        session.source_wanted = source
        session.clear_question()
        st.query_params.clear()


def require_source(source_class: type[GraphSource | CorpusSource]) -> None:
    """End the run unless the chosen source is of this class and exists.

    The sources of this class are offered instead.
    """
    source = chosen_source()
    is_other_kind = not isinstance(source, source_class)
    if not is_other_kind and not is_missing(source):
        return
    words = words_of(source_class)
    with st.container():  # of the whole width, also in a row of a page
        if is_other_kind and not is_missing(source):
            st.info(plain(words.other_kind_text.format(title=source.title)))
        st.subheader(words.choose_text, anchor=False)
        with st.container(horizontal=True, gap="small", key="source-picks"):
            for choice, title in available_sources().items():
                if isinstance(choice, source_class):
                    button(plain(title), partial(choose_source, choice), key=f"pick-{choice.name}")
    st.stop()
