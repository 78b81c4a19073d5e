"""Cache of text vectors on disk: size, hits and button Clear.

The page Models shows it. Encoders look each text up there before they compute its vector.
"""

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
    """Draw one line on the saved vectors, and the button Clear.

    A fault of the cache is drawn too.
    """
    try:
        use = vector_file().measure_use()
    except HopscopeError as error:
        st.warning(plain(str(error)))
        return
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="saved-vectors"
    ):
        st.caption(plain(vectors_sentence(use)), width="stretch")
        if use.texts and current_person().administrator:
            button(
                tr("Clear"),
                vector_file().clear,
                key="clear-saved-vectors",
                icon="delete_sweep",
                type="tertiary",
                help=tr("Answers stay the same; vectors are computed again when needed."),
            )
    if use.note:
        st.caption(f":material/warning: {plain(use.note)}")


def vectors_sentence(use: VectorFileUse) -> str:
    """Return a sentence on the saved vectors: their number, their size and the cache hits."""
    if not use.limit:
        return tr("Vectors of texts are not saved: HOPSCOPE_SAVED_VECTORS is 0.")
    if not use.texts:
        return tr("No vectors of texts are saved yet.")
    counts_text = tr(
        "Saved vectors of texts: {texts:,}, {size} of at most {limit} on disk",
        texts=use.texts,
        size=size_text(use.size),
        limit=size_text(use.limit),
    )
    if not use.lookup_count:
        return f"{counts_text}."
    return tr(
        "{begun}. Cache hits since start: {found:,} of {asked:,} ({share:.0%}).",
        begun=counts_text,
        found=use.hit_count,
        asked=use.lookup_count,
        share=use.hit_count / use.lookup_count,
    )
