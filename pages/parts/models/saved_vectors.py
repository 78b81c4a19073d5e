"""Vectors of texts saved on disk: their number, their use, and a button that removes them."""

from __future__ import annotations

import streamlit as st

from core.errors import HopscopeError
from core.io.files import size_text
from core.models.encoders.saved_vectors import VectorFileUse, vector_file
from core.sharing import current_person
from pages.parts.shared.actions import button
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr


def draw_saved_vectors() -> None:
    """Draw one line on the saved vectors, and a fault if any."""
    try:
        facts = vector_file().measure_use()
    except HopscopeError as error:
        st.warning(plain(str(error)))
        return
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="saved-vectors"
    ):
        st.caption(plain(vectors_sentence(facts)), width="stretch")
        if facts.texts and current_person().administrator:
            button(
                tr("Clear"),
                vector_file().clear,
                key="clear-saved-vectors",
                icon="delete_sweep",
                type="tertiary",
                help=tr("Answers stay the same; vectors are computed again when needed."),
            )
    if facts.note:
        st.caption(f":material/warning: {plain(facts.note)}")


def vectors_sentence(facts: VectorFileUse) -> str:
    """Return a sentence on the saved vectors: their number, their size and the cache hits."""
    if not facts.limit:
        return tr("Vectors of texts are not saved: HOPSCOPE_SAVED_VECTORS is 0.")
    counts_text = tr(
        "Saved vectors of texts: {texts:,}, {size} of at most {limit} on disk",
        texts=facts.texts,
        size=size_text(facts.size),
        limit=size_text(facts.limit),
    )
    if not facts.lookup_count:
        return f"{counts_text}."
    return tr(
        "{begun}. Cache hits since start: {found:,} of {asked:,} ({share:.0%}).",
        begun=counts_text,
        found=facts.hit_count,
        asked=facts.lookup_count,
        share=facts.hit_count / facts.lookup_count,
    )
