"""Adding a graph from a database: its address, a look at its first triples, and a copy that is
built as a job."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from core.databases.address import BOLT, EXAMPLES, Address, address_of
from core.databases.bolt import missing
from core.databases.copying import copied
from core.databases.limits import TRIPLES, Limits
from core.errors import HopscopeError
from core.io.temporary import temporary_folder
from core.runtime.jobs import Job
from core.sharing import shared
from core.watch import Watch
from pages.parts.bringing.graph_form import LITERAL_WORDS, Looked, begin, form, looked_of
from pages.parts.bringing.inspection import inspect_upload
from pages.parts.bringing.live_database import live_database
from pages.parts.shared.sentences import caption, write
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

LOOKED_AT = 1_000  # triples that a look copies
LIMIT = 100_000  # triples that a copy has at most, unless the person says otherwise
WAYS = (tr(":material/download: Copy it, with limits"), tr(":material/bolt: Ask it live"))
LONGEST_QUERY = 20_000  # characters


@dataclass(frozen=True)
class DatabaseForm:
    """The form as it was sent the `number`-th time; it holds no key."""

    address: Address
    query: str
    literals: str
    number: int


def from_database() -> None:
    """Draw the form, and the first triples once it has been sent."""
    write(
        "The address of a SPARQL endpoint, or of Neo4j and what else speaks Bolt and Cypher. Nothing is changed there."
    )
    way = st.segmented_control(
        tr("How it is asked"),
        WAYS,
        default=WAYS[0],
        key="database_way",
        label_visibility="collapsed",
        required=True,
    )
    if way == WAYS[1]:
        live_database()
        return
    with st.form("database", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            address = st.text_input(
                tr("Address"),
                key="database_address",
                placeholder=EXAMPLES,
                max_chars=500,
                width=390,
            )
            secret = st.text_input(
                tr("Name and password"),
                key="database_key",
                type="password",
                placeholder=tr("none needed"),
                max_chars=1_000,
                width=185,
                help=tr("As name:password, or a token. Saved nowhere."),
            )
            variable = st.text_input(
                tr("or a variable with them"),
                key="database_variable",
                placeholder="HOPSCOPE_KEY_…",
                max_chars=100,
                width=185,
                disabled=shared(),
                help=tr("It holds the address, a space, and name:password or a token."),
            )
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
                "In SPARQL a SELECT of three variables, a CONSTRUCT or a DESCRIBE. In Cypher one that returns relationships or paths."
            ),
        )
        literals = st.selectbox(
            tr("Literals of SPARQL that are no labels"),
            list(LITERAL_WORDS),
            format_func=LITERAL_WORDS.__getitem__,
            key="database_literals",
            width=260,
            help=tr("Dates, numbers, texts. Only entities can be answers."),
        )
        pressed = st.form_submit_button(tr("Look at it"), icon=":material/visibility:")
    try:
        if pressed:
            session.database_asked = _asked(address, query, literals)
        asked = session.database_asked
        if asked is None:
            return
        key = secret or ("" if shared() else asked.address.key(variable.strip()))
    except HopscopeError as error:
        st.error(plain(str(error)))
        return
    looked = _look(asked, key)
    if looked.triples:
        caption(
            "A look at {looked_at:,} triples at most. The graph gets {triples} at most.",
            looked_at=LOOKED_AT,
            triples=many(int(limit), "triple"),
        )
    chosen = form(
        looked,
        asked.address.database or asked.address.title.partition(":")[0],
        f"database_{asked.number}",
    )
    if chosen is not None:
        folder = temporary_folder()
        make = lambda job: copied(
            asked.address,
            folder,
            _limits(job, int(limit)),
            key,
            asked.query,
            literals=asked.literals,
        )
        begin(*chosen, folder, make)


def _asked(address: str, query: str, literals: str) -> DatabaseForm:
    """What was sent, checked. Raises BadInput and BadParameter."""
    found, before = address_of(address), session.database_asked
    if found.kind == BOLT and missing():
        st.info(plain(missing()), icon=":material/info:")
    return DatabaseForm(found, query.strip(), literals, before.number + 1 if before else 1)


def _limits(job: Job, triples: int) -> Limits:
    return Limits(
        triples,
        watch=Watch(
            job.check, lambda text, share: job.report(tr("Copying: {text}", text=text), share)
        ),
    )


def _look(asked: DatabaseForm, key: str) -> Looked:
    """The first triples of the database, read once until the form is sent again."""

    def work(job: Job) -> Looked:
        with tempfile.TemporaryDirectory() as folder:
            return looked_of(
                copied(
                    asked.address,
                    Path(folder),
                    _limits(job, LOOKED_AT),
                    key,
                    asked.query,
                    literals=asked.literals,
                )
            )

    job = inspect_upload(
        "database_looked", (asked,), work, tr("Asking the database"), tr("press “Look at it” again")
    )
    if job.error:
        st.error(plain(job.error))
    return job.result or Looked()
