"""Page Models: the models, their roles, a trial of one, and the form to add one."""

from __future__ import annotations

import psutil
import streamlit as st

from core.sharing import current_person
from pages.parts.models.add_model import add_model
from pages.parts.models.model_cards import cards
from pages.parts.models.model_trial import try_model
from pages.parts.models.roles import choose_roles
from pages.parts.models.saved_vectors import saved_vectors
from pages.parts.shared.people import admit
from pages.parts.shared.session import engine
from pages.parts.shared.wording import tr


def page() -> None:
    """Draw the page."""
    st.header(tr("Models"))
    _memory()
    models_tab, trial_tab, adding_tab = st.tabs(
        [
            tr(":material/memory: Models"),
            tr(":material/chat: Try one"),
            tr(":material/add: Add one"),
        ]
    )
    with models_tab:
        choose_roles()
        saved_vectors()
        cards()
    with trial_tab:
        try_model()
    with adding_tab:
        if current_person().administrator:
            add_model()
        else:
            st.info(
                tr("Where Hopscope is shared, only the administrator adds models."),
                icon=":material/lock:",
            )


def _memory() -> None:
    """Draw the number of loaded models, and the memory.

    It shows the memory of the process and the free memory.
    """
    process, computer = psutil.Process().memory_info().rss, psutil.virtual_memory()
    loaded = [info for info in engine().models.declared() if info.loaded]
    with st.container(horizontal=True, gap="large"):
        st.metric(tr("Models loaded"), f"{len(loaded)}", width="content")
        st.metric(tr("Memory of Hopscope"), f"{process / 1e9:.1f} GB", width="content")
        st.metric(tr("Free memory"), f"{computer.available / 1e9:.1f} GB", width="content")


admit(page)
