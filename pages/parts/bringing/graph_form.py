"""What adding a graph has in common, whether it comes from files or a database: a look at it, a
form, and the job that builds it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import streamlit as st

from core.datasets import add_graph as keep_graph
from core.datasets import free_name
from core.datasets.own import clean_name
from core.errors import HopscopeError, shorten
from core.graph.readers.first_look import looked_at
from core.graph.readers.rdf import ATTRIBUTES, LEAVE_OUT, TRIPLES
from core.graph.readers.triple_file import TripleFile
from core.runtime.jobs import CANCELLED, DONE, Job
from core.sources import GraphSource
from core.types import Direction
from core.watch import NO_WATCH, Watch
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.shared.working import working

LOOKED_AT, PREVIEWED = 5_000, 8
PARTLY = tr(
    "The first {looked_at:,} triples were looked at; all others are read when the graph is built.",
    looked_at=LOOKED_AT,
)
DESCRIBED = 200  # characters of a description in the preview
LITERAL_WORDS = {
    TRIPLES: tr("are entities"),
    ATTRIBUTES: tr("describe their things"),
    LEAVE_OUT: tr("are left out"),
}
WAYS: dict[Direction, str] = {
    "both": tr("Both ways"),
    "out": tr("Along the triples"),
    "in": tr("Against the triples"),
}


@dataclass(frozen=True)
class Looked:
    """The first triples of files, what is said of them by column, some nodes with what is said of
    them, and sentences on the reading."""

    triples: list[tuple[str, str, str]] = field(default_factory=list)
    said: dict[str, list[Any]] = field(default_factory=dict)
    nodes: list[tuple[str, str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def looked_of(source: TripleFile, watch: Watch = NO_WATCH) -> Looked:
    """The beginning of a source as it is read. Raises BadInput, naming the line."""
    triples = list(islice(source.read(watch), LOOKED_AT))
    said = source.attributes
    nodes = [
        (name, one.get("type", ""), one.get("description", ""))
        for name, one in islice(said.nodes.items(), PREVIEWED)
    ]
    warnings = source.tally.warnings
    notes = [sentence for sentence in source.tally.sentences() if sentence not in warnings]
    notes = [*looked_at(triples, len(triples) < LOOKED_AT), *notes] if triples else notes
    notes += [PARTLY] if len(triples) == LOOKED_AT else []
    return Looked(triples, said.first(min(PREVIEWED, len(triples))), nodes, notes, warnings)


def form(looked: Looked, name: str, key: str) -> tuple[str, Direction] | None:
    """Draw what was seen and the form below it, `name` in it; the name and the way of searches of
    the graph once its button is pressed."""
    if looked.notes:
        st.info("\n".join(f"- {plain(note)}" for note in looked.notes))
    for warning in looked.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    if not looked.triples:
        return None
    head = looked.triples[:PREVIEWED]
    caption("The first {triples}:", triples=many(len(head), "triple"))
    said = {column.capitalize(): values for column, values in looked.said.items()}
    st.dataframe(
        {
            tr("Head"): [r[0] for r in head],
            tr("Relation"): [r[1] for r in head],
            tr("Tail"): [r[2] for r in head],
            **said,
        },
        hide_index=True,
    )
    if looked.nodes:
        caption(
            "The first {entities} with a type or a description:",
            entities=many(len(looked.nodes), "entity", "entities"),
        )
        names, types, descriptions = zip(*looked.nodes)
        st.dataframe(
            {
                tr("Name"): names,
                tr("Type"): types,
                tr("Description"): [shorten(text, DESCRIBED) for text in descriptions],
            },
            hide_index=True,
        )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            tr("Name"),
            value=clean_name(name),
            key=f"upload_name_{key}",
            max_chars=80,
            width=260,
            help=tr("Letters, digits and dashes; anything else becomes a dash."),
        )
        way = st.selectbox(
            tr("Searches run"),
            list(WAYS),
            format_func=WAYS.__getitem__,
            key="upload_way",
            width=200,
            help=tr("The way edges are followed where a step leaves it to the graph."),
        )
        pressed = button(
            tr("Build the graph"), type="primary", key="upload_build", icon="account_tree"
        )
    if clean_name(name) and clean_name(name) != name:
        caption("It will be called {name}.", name=clean_name(name))
    return (name, way) if pressed else None


def begin(name: str, way: Direction, folder: Path, source: Callable[[Job], TripleFile]) -> None:
    """Start the job that builds a graph of the source, which lies in the temporary folder; an error
    is drawn."""
    try:
        name = free_name(name)
    except HopscopeError as error:
        shutil.rmtree(folder, ignore_errors=True)
        st.error(plain(str(error)))
        return

    def work(job: Job) -> tuple[str, list[str]]:
        try:
            file = source(job)
            keep_graph(file, name, way, job)
            engine().forget(name)
            return name, file.tally.sentences()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    begin_with(name, work)


def begin_with(name: str, work: Callable[[Job], tuple[str, list[str]]]) -> None:
    """Start the job that adds the graph of that name; it gives the name and sentences on what came
    of it."""
    session.upload_job = engine().jobs.run(f"add-{name}", work, again=True).key


def follow_job(job: Job) -> None:
    """Draw the job's progress, and what to do when it has ended."""
    cancelled = tr("Cancelled; nothing was kept of it.") if job.status == CANCELLED else ""
    working(job, "upload", cancelled)
    if job.error:
        caption("Nothing was kept of it. Correct it and try again.")
    if job.status != DONE:
        return
    name, notes = job.result
    st.success(tr("The graph {name} is ready.", name=plain(name)), icon=":material/check_circle:")
    for note in notes:
        st.caption(plain(note))
    button(tr("Open it"), partial(_open, name), key="upload_open")


def _open(name: str) -> None:
    session.choose(GraphSource(name))
    del session.upload_job
    st.query_params.clear()
