"""Form that copies triples of a database into a graph, after a preview."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.databases.address import BOLT, Address, address_of
from core.databases.bolt import driver_fault
from core.databases.graph_copy import copy_graph
from core.databases.limits import MAX_COPY_TRIPLES, CopyLimits
from core.graph.readers.triple_file import TripleFile
from core.importing import Importer
from core.runtime.jobs import Job
from core.sharing import shared
from core.sources import AnswerSource
from core.watch import Watch
from pages.parts.bringing.graph_files import choose_literals
from pages.parts.bringing.graph_form import (
    TriplesPreview,
    choose_variable,
    graph_form,
    preview_source,
    start_triples_build,
)
from pages.parts.bringing.inspection import inspect_upload
from pages.parts.bringing.live_database import draw_live_form
from pages.parts.bringing.uploads import ImportInput
from pages.parts.shared.actions import shown_errors
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

COPY_PREVIEW_TRIPLES = 1_000  # triples that a preview copies
DEFAULT_COPY_TRIPLES = 100_000  # most triples of a copy, unless the user sets another limit
DATABASE_WAYS = (tr(":material/download: Copy, with limits"), tr(":material/bolt: Ask live"))
MAX_QUERY_CHARACTERS = 20_000  # most characters of a query


@dataclass(frozen=True)
class DatabaseForm:
    """Values of a sent form, without the password.

    Attributes
    ----------
    address, typed_address : the address of the database, parsed and as it was typed.
    query : SPARQL or Cypher whose result is copied; empty for all triples.
    literals : how literals are read, a key of `LITERAL_WORDS`.
    variable : name of the environment variable with name and password; empty for none.
    number : number of this form in the session, from 1. It makes the widgets of each preview new.
    """

    address: Address
    typed_address: str
    query: str
    literals: str
    variable: str
    number: int


def database_step(upload: ImportInput, importer: Importer, current: AnswerSource) -> None:
    """Draw the form of a database, to copy or to ask.

    A choice above it decides which.
    """
    copy_or_live = st.segmented_control(
        tr("How it is used"),
        DATABASE_WAYS,
        default=DATABASE_WAYS[0],
        key="database_way",
        label_visibility="collapsed",
        required=True,
    )
    if copy_or_live == DATABASE_WAYS[1]:
        draw_live_form(upload.path)
        return
    limit, secret = _draw_form(upload.path)
    sent_form = session.database_asked
    if sent_form is None or sent_form.typed_address != upload.path:
        return
    with shown_errors():
        key = secret or ("" if shared() else sent_form.address.key(sent_form.variable))
        _draw_preview(upload, sent_form, key, limit)


def _draw_form(address: str) -> tuple[int, str]:
    """Draw the form of a copy.

    Return the limit of triples, and the name and password as they were typed. When the form is
    sent, its other values are stored in the session.
    """
    with st.form("database", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            secret = st.text_input(
                tr("Name and password"),
                key="database_key",
                type="password",
                placeholder=tr("none needed"),
                max_chars=1_000,
                width=185,
                help=tr("As name:password, or a token. Not saved."),
            )
            variable = choose_variable("database_variable", tr("or a variable that holds them"))
            limit = st.number_input(
                tr("Most triples"),
                1,
                MAX_COPY_TRIPLES,
                DEFAULT_COPY_TRIPLES,
                step=10_000,
                key="database_limit",
                width=150,
            )
        query = st.text_area(
            tr("Only the result of a query (optional)"),
            key="database_query",
            max_chars=MAX_QUERY_CHARACTERS,
            height=100,
            placeholder="CONSTRUCT { ?s ?p ?o } WHERE { … }   or   MATCH (a)-[r]->(b) RETURN r",
            help=tr(
                "SELECT of three variables, CONSTRUCT, DESCRIBE. In Cypher: relationships or paths."
            ),
        ).strip()
        literal_choice = choose_literals("database_literals")
        pressed = st.form_submit_button(tr("Preview"), icon=":material/visibility:")
    if pressed:
        with shown_errors():
            _store_form(address, query=query, literals=literal_choice, variable=variable)
    return int(limit), secret


def _store_form(address: str, **values: str) -> None:
    """Store the values of the form.

    Its new number makes a new preview. Raises BadInput or BadParameter if the address cannot be
    used.
    """
    parsed_address, sent_form = address_of(address), session.database_asked
    if parsed_address.kind == BOLT and driver_fault():
        st.info(plain(driver_fault()), icon=":material/info:")
    number = sent_form.number + 1 if sent_form else 1
    session.database_asked = DatabaseForm(parsed_address, address, number=number, **values)


def _report(job: Job, text: str, share: float | None = None) -> None:
    job.report(tr("Copying: {text}", text=text), share)


def _draw_preview(upload: ImportInput, form: DatabaseForm, key: str, limit: int) -> None:
    """Draw the database's first triples and the form of its graph.

    Parameters
    ----------
    key : name and password, or a token; empty for none.
    limit : most triples of the graph.
    """

    @contextmanager
    def open_copy(job: Job, max_triples: int) -> Iterator[TripleFile]:
        limits = CopyLimits(max_triples, watch=Watch(job.check, partial(_report, job)))
        with upload.written_files() as (folder, _):
            yield copy_graph(
                form.address, folder, limits, key=key, query=form.query, literals=form.literals
            )

    def work(job: Job) -> TriplesPreview:
        with open_copy(job, COPY_PREVIEW_TRIPLES) as source:
            return preview_source(source)

    job = inspect_upload(
        "database_looked", (form,), work, tr("Asking the database"), tr("press “Preview” again")
    )
    preview: TriplesPreview = job.result or TriplesPreview()
    if preview.triples:
        st.caption(
            tr(
                "The preview has at most {looked_at:,} triples, the graph at most {triples}.",
                looked_at=COPY_PREVIEW_TRIPLES,
                triples=many(limit, "triple"),
            )
        )
    default_name = form.address.database or form.address.title.partition(":")[0]
    choice = graph_form(preview, default_name, f"database_{form.number}")
    if choice is not None:
        start_triples_build(*choice, lambda job: open_copy(job, limit))
