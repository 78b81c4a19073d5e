"""Form that copies triples of a database into a graph, after a preview."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.databases.address import BOLT, Address, address_of
from core.databases.bolt import missing
from core.databases.copying import copied
from core.databases.limits import TRIPLES, Limits
from core.graph.readers.triple_file import TripleFile
from core.importing import Importer
from core.runtime.jobs import Job
from core.sharing import shared
from core.sources import Source
from core.watch import Watch
from pages.parts.bringing.graph_files import literals
from pages.parts.bringing.graph_form import Looked, begin_graph, choose_variable, form, looked_of
from pages.parts.bringing.inspection import inspect_upload
from pages.parts.bringing.live_database import live_database
from pages.parts.bringing.uploads import Dropped
from pages.parts.shared.actions import shown_errors
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

LOOKED_AT = 1_000  # triples that a preview copies
LIMIT = 100_000  # most triples of a copy, unless the user sets another limit
WAYS = (tr(":material/download: Copy it, with limits"), tr(":material/bolt: Ask it live"))
LONGEST_QUERY = 20_000  # most characters of a query


@dataclass(frozen=True)
class DatabaseForm:
    """Values of the form when it was sent the `number`-th time for an address. It has no key."""

    address: Address
    dropped: str
    query: str
    literals: str
    variable: str
    number: int


def database_step(dropped: Dropped, importer: Importer, here: Source) -> None:
    """Draw the form of a copy, or of a live database."""
    way = st.segmented_control(
        tr("How it is asked"),
        WAYS,
        default=WAYS[0],
        key="database_way",
        label_visibility="collapsed",
        required=True,
    )
    if way == WAYS[1]:
        live_database(dropped.path)
        return
    limit, secret = _form(dropped.path)
    asked = session.database_asked
    if asked is None or asked.dropped != dropped.path:
        return
    with shown_errors():
        key = secret or ("" if shared() else asked.address.key(asked.variable))
        _look(dropped, asked, key, limit)


def _form(address: str) -> tuple[int, str]:
    """Draw the form of a copy and store its values.

    Returns the limit of triples and the typed key.
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
                help=tr("As name:password, or a token. Saved nowhere."),
            )
            variable = choose_variable("database_variable", tr("or a variable with them"))
            limit = st.number_input(
                tr("Triples at most"),
                1,
                TRIPLES,
                LIMIT,
                step=10_000,
                key="database_limit",
                width=150,
            )
        query = st.text_area(
            tr("Only what a query gives (optional)"),
            key="database_query",
            max_chars=LONGEST_QUERY,
            height=100,
            placeholder="CONSTRUCT { ?s ?p ?o } WHERE { … }   or   MATCH (a)-[r]->(b) RETURN r",
            help=tr(
                "SELECT of three variables, CONSTRUCT, DESCRIBE; in Cypher relationships or paths."
            ),
        ).strip()
        chosen = literals("database_literals")
        pressed = st.form_submit_button(tr("Look at it"), icon=":material/visibility:")
    if pressed:
        with shown_errors():
            _send(address, query=query, literals=chosen, variable=variable)
    return int(limit), secret


def _send(address: str, **how: str) -> None:
    """Store the values of the form; a new number makes a new preview.

    Raises BadInput, BadParameter.
    """
    found, before = address_of(address), session.database_asked
    if found.kind == BOLT and missing():
        st.info(plain(missing()), icon=":material/info:")
    number = before.number + 1 if before else 1
    session.database_asked = DatabaseForm(found, address, number=number, **how)


def _report(job: Job, text: str, share: float | None = None) -> None:
    job.report(tr("Copying: {text}", text=text), share)


def _look(dropped: Dropped, asked: DatabaseForm, key: str, limit: int) -> None:
    """Draw the first triples of the database, and the build form."""

    @contextmanager
    def opened(job: Job, triples: int) -> Iterator[TripleFile]:
        limits = Limits(triples, watch=Watch(job.check, partial(_report, job)))
        with dropped.laid_down() as (folder, _):
            how = {"literals": asked.literals}
            yield copied(asked.address, folder, limits, key=key, query=asked.query, **how)

    def work(job: Job) -> Looked:
        with opened(job, LOOKED_AT) as source:
            return looked_of(source)

    job = inspect_upload(
        "database_looked", (asked,), work, tr("Asking the database"), tr("press “Look at it” again")
    )
    looked: Looked = job.result or Looked()
    if looked.triples:
        st.caption(
            tr(
                "A look at {looked_at:,} triples at most. The graph gets {triples} at most.",
                looked_at=LOOKED_AT,
                triples=many(limit, "triple"),
            )
        )
    usual = asked.address.database or asked.address.title.partition(":")[0]
    chosen = form(looked, usual, f"database_{asked.number}")
    if chosen is not None:
        begin_graph(*chosen, lambda job: opened(job, limit))
