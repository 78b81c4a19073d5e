"""Page Models: the models, their roles, a trial of one, and the form to add one."""

from __future__ import annotations

import psutil
import streamlit as st

from core.sharing import current_person
from pages.parts.models.add_model import draw_add_model
from pages.parts.models.model_cards import draw_model_cards
from pages.parts.models.model_trial import draw_model_trial
from pages.parts.models.roles import choose_roles
from pages.parts.models.saved_vectors import draw_saved_vectors
from pages.parts.shared.people import admit
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine
from pages.parts.shared.text import many
from pages.parts.shared.wording import tr


def draw_page() -> None:
    """Draw the page."""
    st.header(tr("Models"), anchor=False)
    models_tab, trial_tab, adding_tab = st.tabs(
        [
            tr("Models"),
            tr("Try one"),
            tr("Add one"),
        ]
    )
    with models_tab:
        choose_roles()
        draw_model_cards()
        _draw_memory()
        draw_saved_vectors()
    with trial_tab:
        draw_model_trial()
    with adding_tab:
        if current_person().administrator:
            draw_add_model()
        else:
            st.info(
                tr("Where Hopscope is shared, only the administrator adds models."),
                icon=":material/lock:",
            )


def _draw_memory() -> None:
    """Draw the number of loaded models, and the memory in GB."""
    used_bytes = psutil.Process().memory_info().rss
    free_bytes = psutil.virtual_memory().available
    n_loaded = sum(info.loaded for info in engine().models.list_models())
    caption(
        "{n_models} loaded. Hopscope uses {used:.1f} GB of memory; {free:.1f} GB are free.",
        n_models=many(n_loaded, "model"),
        used=used_bytes / 1e9,
        free=free_bytes / 1e9,
    )


admit(draw_page)
