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
from pages.parts.shared.text import plain
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


# The cards of the page, and their roles.
ROLE_CARDS = {
    tr("Writes answers"): ("answer", "choose", "judge"),
    tr("Meaning"): ("encoder",),
    tr("Re-ranking"): ("reranker", "cross-encoder"),
}


def choose_roles() -> None:
    """Draw a card for each kind of work, with its models and a button to change them.

    Choices are saved for the next start.
    """
    columns = st.columns(len(ROLE_CARDS))
    for column, (title, roles) in zip(columns, ROLE_CARDS.items(), strict=True):
        with column, st.container(border=True, height="stretch", key=f"roles-{roles[0]}"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(f"**{title}**", width="stretch")
                if current_person().administrator:
                    with st.popover(tr("Change"), help=tr("Change: {title}", title=title)):
                        for role in roles:
                            _choose_model(role)
            _draw_models_in_use(roles)
    if not current_person().administrator:
        caption(
            "Where Hopscope is shared, only the administrator chooses, fetches and removes "
            "models. All may try them."
        )


def _draw_models_in_use(roles: tuple[str, ...]) -> None:
    """Draw each model that has one of these roles, with what it does if they differ."""
    registry = engine().models
    tasks: dict[str, list[str]] = {}
    for role in roles:
        tasks.setdefault(registry.roles[role], []).append(ROLE_TITLES[role][0])
    for name, titles in tasks.items():
        info = registry.info(name)
        state = ":green[●]" if info.present else ":gray[○]"
        with st.container(gap=None):
            st.markdown(f"{state} {plain(_short_title(info))}")
            if len(roles) > 1:
                st.caption(" · ".join(titles))
            if not info.present:
                caption("Get it below, under “Not installed”, or change it.")


def _choose_model(role: str) -> None:
    """Draw the choice of the model of one role.

    A role of scorers takes encoders and re-rankers too.
    """
    registry = engine().models
    model_kind = ROLE_KINDS[role]
    titles = {
        info.name: _short_title(info)
        for info in registry.list_models()
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
        format_func=titles.__getitem__,
    )


def _short_title(info: ModelInfo) -> str:
    """Return the beginning of a model's title, with a note if it is not installed."""
    title = info.title.split(",")[0].split(" (")[0]
    return title if info.present else title + tr(" · not installed")


def _save_role(role: str) -> None:
    result_of(lambda: engine().models.set_role(role, Session.role[role].value, save=True))
