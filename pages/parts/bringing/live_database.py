"""Adding a database that is asked live: its address, how it is asked, and a first answer of it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.databases.address import EXAMPLES, SPARQL, address_of
from core.databases.live import HIGHEST, Settings
from core.datasets.own import clean_name
from core.datasets.own_graphs import add_live, free_name
from core.errors import HopscopeError
from core.runtime.jobs import Job
from core.sharing import shared
from pages.parts.bringing.graph_form import LITERAL_WORDS, WAYS, begin_with
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

USUAL = Settings("http://localhost")
BOUNDS = (  # the name of each bound, its label, step, and the width of its field in pixels
    ("hops", tr("Hops"), 1, 120),
    ("each", tr("Triples of an entity, each way"), 100, 220),
    ("edges", tr("Triples in all"), 1_000, 150),
    ("seconds", tr("Seconds"), 10, 130),
)


def live_database() -> None:
    """Draw the form; sent, the database is asked whether it answers, as a job, and added where it
    does."""
    caption(
        "Nothing is copied: of each question the neighbourhood of its entities is fetched when it is asked, within these bounds."
    )
    with st.form("live", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            address = st.text_input(
                tr("Address"), key="live_address", placeholder=EXAMPLES, max_chars=500, width=390
            )
            name = st.text_input(
                tr("Name"),
                key="live_name",
                placeholder=tr("as the address"),
                max_chars=80,
                width=185,
            )
            variable = st.text_input(
                tr("Variable with name and password"),
                key="live_variable",
                placeholder=tr("HOPSCOPE_KEY_… or none"),
                max_chars=100,
                width=240,
                disabled=shared(),
                help=tr("It holds the address, a space, and name:password or a token."),
            )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            bounds: dict[str, Any] = {
                name: st.number_input(
                    label,
                    1,
                    int(HIGHEST[name]),
                    int(getattr(USUAL, name)),
                    step,
                    key=f"live_{name}",
                    width=width,
                )
                for name, label, step, width in BOUNDS
            }
        with st.container(horizontal=True, vertical_alignment="bottom"):
            language = st.text_input(
                tr("Language of labels"),
                key="live_language",
                placeholder="en",
                max_chars=20,
                width=160,
                help=tr(
                    "Of SPARQL: a tag such as de or pt-BR; none: things are called by their identifiers."
                ),
            )
            literals = st.selectbox(
                tr("Literals of SPARQL that are no labels"),
                list(LITERAL_WORDS),
                format_func=LITERAL_WORDS.__getitem__,
                key="live_literals",
                width=260,
                help=tr("Dates, numbers, texts. Only entities can be answers."),
            )
            way = st.selectbox(
                tr("Searches run"),
                list(WAYS),
                format_func=WAYS.__getitem__,
                key="live_way",
                width=200,
            )
        pressed = st.form_submit_button(tr("Add it"), type="primary", icon=":material/bolt:")
    if not pressed:
        return
    try:
        found = address_of(address)
        scheme = (
            "sparql+" if found.kind == SPARQL and not address.strip().startswith("sparql+") else ""
        )
        bounds["seconds"] = float(bounds["seconds"])
        key = "" if shared() else variable.strip()
        settings = Settings(
            scheme + address.strip(), way, key, language.strip(), literals, **bounds
        )
        cleaned = free_name(
            name.strip() or clean_name(found.database or found.title.partition(":")[0])
        )
    except HopscopeError as error:
        st.error(plain(str(error)))
        return

    def work(job: Job) -> tuple[str, list[str]]:
        job.report(tr("Asking {found}", found=found.title))
        graph = add_live(settings, cleaned, job)
        engine().forget(cleaned)
        return cleaned, [graph.live.words]

    begin_with(cleaned, work)
