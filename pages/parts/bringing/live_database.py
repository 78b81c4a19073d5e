"""Form that adds a live database.

Each question fetches only a neighbourhood from such a database. The form asks for its name, the
limits of a fetch, and the labels of entities.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.databases.address import SPARQL, address_of
from core.databases.live_database import SETTING_BOUNDS, LiveSettings
from core.datasets.own_graphs import add_live, free_graph_name
from core.datasets.own_sets import clean_name
from core.runtime.jobs import Job
from pages.parts.bringing.graph_files import choose_literals
from pages.parts.bringing.graph_form import SEARCH_DIRECTIONS, choose_variable, start_graph_job
from pages.parts.shared.actions import shown_errors
from pages.parts.shared.wording import tr

# Only the defaults of the settings are read; the address is required and has no meaning.
DEFAULT_LIVE_SETTINGS = LiveSettings("http://localhost")
LIMIT_FIELDS = (  # setting, label, step, and width of the field in pixels
    ("hops", tr("Hops"), 1, 120),
    ("each", tr("Triples per entity and direction"), 100, 220),
    ("edges", tr("Triples in total"), 1_000, 150),
    ("seconds", tr("Seconds"), 10, 130),
)


def draw_live_form(address: str) -> None:
    """Draw the form of a live database.

    When it is sent, the job that adds the database starts. The job sends a query to the database,
    and adds it if it answers.
    """
    st.caption(tr("Nothing is copied. Each question fetches the neighbourhood of its entities."))
    with st.form("live", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            name = st.text_input(
                tr("Name"),
                key="live_name",
                placeholder=tr("same as the address"),
                max_chars=80,
                width=185,
            )
            variable = choose_variable("live_variable", tr("Variable that holds name and password"))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            limits = _draw_limit_fields()
        with st.container(horizontal=True, vertical_alignment="bottom"):
            label_settings = _draw_label_fields()
        pressed = st.form_submit_button(tr("Add it"), type="primary", icon=":material/bolt:")
    if pressed:
        with shown_errors():
            _start_adding(address, name, {"key": variable, **limits, **label_settings})


def _draw_limit_fields() -> dict[str, Any]:
    """Draw the fields of the limits and return them by setting."""
    limits: dict[str, Any] = {}
    for setting, label, step, width in LIMIT_FIELDS:
        limits[setting] = st.number_input(
            label,
            1,
            int(SETTING_BOUNDS[setting]),
            int(getattr(DEFAULT_LIVE_SETTINGS, setting)),
            step,
            key=f"live_{setting}",
            width=width,
        )
    limits["seconds"] = float(limits["seconds"])
    return limits


def _draw_label_fields() -> dict[str, Any]:
    """Draw the fields on labels, literals and direction, and return these settings."""
    language = st.text_input(
        tr("Language of labels"),
        key="live_language",
        placeholder="en",
        max_chars=20,
        width=160,
        help=tr(
            "For SPARQL, such as de or pt-BR. Without one, entities are named by their identifiers."
        ),
    )
    literals = choose_literals("live_literals")
    direction = st.selectbox(
        tr("Edge direction"),
        list(SEARCH_DIRECTIONS),
        format_func=SEARCH_DIRECTIONS.__getitem__,
        key="live_direction",
        width=200,
    )
    return {"language": language.strip(), "literals": literals, "direction": direction}


def _start_adding(address: str, name: str, settings_by_name: dict[str, Any]) -> None:
    """Start the job that adds the database.

    Without a name by the user, it is named after its address. Raises BadInput for an unusable
    address or setting.
    """
    parsed_address = address_of(address)
    if parsed_address.kind == SPARQL and not address.startswith("sparql+"):
        # The prefix says in the saved settings that the http address is a SPARQL endpoint.
        address = f"sparql+{address}"
    settings = LiveSettings(address, **settings_by_name)
    default_name = clean_name(parsed_address.database or parsed_address.title.partition(":")[0])
    graph_name = free_graph_name(name.strip() or default_name)

    def work(job: Job) -> list[str]:
        job.report(tr("Asking {found}", found=parsed_address.title))
        return [add_live(settings, graph_name, job).live.words]

    start_graph_job(graph_name, work)
