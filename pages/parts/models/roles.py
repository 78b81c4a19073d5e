"""Choice of the model for each role.

A role is a task of models that operators name, such as writing answers or encoding texts.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.models.declarations import ROLE_KINDS
from core.models.registry import ModelInfo
from core.sharing import current_person
from pages.parts.shared.actions import result_of
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session
from pages.parts.shared.wording import tr

# Title and help text of each role.
ROLE_TITLES = {
    "answer": (tr("Writes answers"), tr("Writes the answer from the prompt.")),
    "choose": (tr("Picks items"), tr("Picks from a list, in steps that name “choose”.")),
    "judge": (tr("Grades answers"), tr("Compares an answer with the correct ones.")),
    "encoder": (tr("Encoder"), tr("Turns texts into vectors, in steps that name “encoder”.")),
    "reranker": (tr("Re-ranker"), tr("Scores pairs of texts, in steps that name “reranker”.")),
    "cross-encoder": (
        tr("Cross-encoder"),
        tr("Reads a question and a document together: FastInsight, GAR, Re2."),
    ),
}


def choose_roles() -> None:
    """Draw the choice of a model for each role.

    Choices are saved for the next start. A role of scorers takes encoders and re-rankers too.
    """
    registry = engine().models
    may_choose = current_person().administrator
    infos = registry.list_models()
    with st.container(border=True):
        st.markdown(tr("**Who does what**"))
        with st.container(horizontal=True, gap="medium"):
            for role, model_kind in ROLE_KINDS.items():
                titles = {
                    info.name: _short_title(info)
                    for info in infos
                    if info.kind == model_kind or (model_kind == "scorer" and info.kind != "chat")
                }
                label, help_text = ROLE_TITLES[role]
                Session.role[role].value = registry.roles[role]
                st.selectbox(
                    label,
                    list(titles),
                    key=Session.role[role].name,
                    help=help_text,
                    on_change=partial(_save_role, role),
                    disabled=not may_choose,
                    width=225,
                    format_func=titles.__getitem__,
                )
        if not may_choose:
            caption(
                "Where Hopscope is shared, only the administrator chooses, fetches and removes "
                "models. All may try them."
            )
        missing_titles = [
            ROLE_TITLES[role][0]
            for role, name in registry.roles.items()
            if not registry.info(name).present
        ]
        if missing_titles:
            caption(
                "{absent}: that model is not installed yet. Get it below, or choose another.",
                absent=tr(" and ").join(missing_titles),
            )


def _short_title(info: ModelInfo) -> str:
    """Return the beginning of a model's title, with a note if it is not installed."""
    title = info.title.split(",")[0].split(" (")[0]
    return title if info.present else title + tr(" · not installed")


def _save_role(role: str) -> None:
    result_of(lambda: engine().models.set_role(role, Session.role[role].value, save=True))
