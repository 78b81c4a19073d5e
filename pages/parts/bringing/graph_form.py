"""Shared parts of the forms that add a graph: preview, name, direction, and build job."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import streamlit as st

from core.datasets import add_graph, free_graph_name
from core.datasets.own_sets import clean_name
from core.errors import shorten
from core.graph.readers.rdf import LITERAL_ATTRIBUTES, LITERAL_TRIPLES, LITERALS_LEFT_OUT
from core.graph.readers.triple_file import TripleFile
from core.graph.readers.triple_summary import summarise_triples
from core.runtime.jobs import Job
from core.sharing import shared
from core.sources import GraphSource
from core.types import Direction
from core.watch import NO_WATCH, Watch
from pages.parts.bringing.inspection import ImportOutcome, start_import
from pages.parts.question.set_actions import go_to_page
from pages.parts.shared.actions import shown_errors
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import session
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr

PREVIEW_READ_TRIPLES = 5_000  # triples that are read for a preview
MAX_PREVIEW_TRIPLES = 8  # triples, and nodes, that a preview shows
PARTIAL_PREVIEW_NOTE = tr(
    "Preview of the first {looked_at:,} triples. The others are read when the graph is built.",
    looked_at=PREVIEW_READ_TRIPLES,
)
MAX_PREVIEW_CHARACTERS = 200  # most characters of a description in the preview
# Choices of how RDF literals are read.
LITERAL_WORDS = {
    LITERAL_TRIPLES: tr("are entities"),
    LITERAL_ATTRIBUTES: tr("describe their entities"),
    LITERALS_LEFT_OUT: tr("are left out"),
}
# Directions in which searches follow the edges of a graph.
SEARCH_DIRECTIONS: dict[Direction, str] = {
    "both": tr("Both"),
    "out": tr("Forward"),
    "in": tr("Backward"),
}


@dataclass(frozen=True)
class TriplesPreview:
    """Preview of a source of triples.

    Attributes
    ----------
    triples : the triples that were read for the preview; more than it shows.
    attribute_columns : further columns of the shown triples, such as weights, by name.
    nodes : name, type and description of the first nodes that have one of the last two.
    notes, warnings : sentences on how the source is read.
    """

    triples: list[tuple[str, str, str]] = field(default_factory=list)
    attribute_columns: dict[str, list[Any]] = field(default_factory=dict)
    nodes: list[tuple[str, str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def preview_source(source: TripleFile, watch: Watch = NO_WATCH) -> TriplesPreview:
    """Return the preview of a source.

    Raises BadInput if a line cannot be read; the message names the line.
    """
    triples = list(islice(source.read(watch), PREVIEW_READ_TRIPLES))
    attributes = source.attributes  # those of the triples that were read
    nodes = [
        (name, values.get("type", ""), values.get("description", ""))
        for name, values in islice(attributes.nodes.items(), MAX_PREVIEW_TRIPLES)
    ]
    warnings = source.tally.warnings
    notes = [sentence for sentence in source.tally.sentences() if sentence not in warnings]
    # With exactly as many triples, there may be more.
    is_whole = len(triples) < PREVIEW_READ_TRIPLES
    if triples:
        notes = [*summarise_triples(triples, is_whole), *notes]
    if not is_whole:
        notes.append(PARTIAL_PREVIEW_NOTE)
    return TriplesPreview(
        triples,
        attributes.first_rows(min(MAX_PREVIEW_TRIPLES, len(triples))),
        nodes,
        notes,
        warnings,
    )


def graph_form(preview: TriplesPreview, name: str, key: str) -> tuple[str, Direction] | None:
    """Draw the preview and the form of a graph.

    Return its name and its search direction. None until the form is sent. `name` is the one that is
    proposed, and `key` identifies the source among the widgets of the session.
    """
    if preview.notes:
        st.info("\n".join(f"- {plain(note)}" for note in preview.notes))
    for warning in preview.warnings:
        st.warning(plain(warning), icon=":material/warning:")
    if not preview.triples:
        return None
    _draw_preview(preview)
    return _draw_fields(name, key)


def _draw_preview(preview: TriplesPreview) -> None:
    """Draw the first triples, and the first nodes with a type or a description."""
    shown_triples = preview.triples[:MAX_PREVIEW_TRIPLES]
    st.caption(tr("The first {triples}:", triples=many(len(shown_triples), "triple")))
    preview_columns = {
        column.capitalize(): values for column, values in preview.attribute_columns.items()
    }
    st.dataframe(
        {
            tr("Head"): [triple[0] for triple in shown_triples],
            tr("Relation"): [triple[1] for triple in shown_triples],
            tr("Tail"): [triple[2] for triple in shown_triples],
            **preview_columns,
        },
        hide_index=True,
    )
    if preview.nodes:
        st.caption(
            tr(
                "The first {entities} with a type or a description:",
                entities=many(len(preview.nodes), "entity", "entities"),
            )
        )
        names, types, descriptions = zip(*preview.nodes)
        st.dataframe(
            {
                tr("Name"): names,
                tr("Type"): types,
                tr("Description"): [shorten(text, MAX_PREVIEW_CHARACTERS) for text in descriptions],
            },
            hide_index=True,
        )


def _draw_fields(name: str, key: str) -> tuple[str, Direction] | None:
    """Draw the fields and the button. Return name and direction if it was pressed."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed_name = st.text_input(
            tr("Name"),
            value=clean_name(name),
            key=f"upload_name_{key}",
            max_chars=80,
            width=260,
            help=tr("Letters, digits and dashes. Anything else becomes a dash."),
        )
        direction = st.selectbox(
            tr("Edge direction"),
            list(SEARCH_DIRECTIONS),
            format_func=SEARCH_DIRECTIONS.__getitem__,
            key="upload_way",
            width=200,
            help=tr("How edges are followed, unless a step says otherwise."),
        )
        pressed = st.button(
            tr("Build the graph"),
            type="primary",
            key="upload_build",
            icon=":material/account_tree:",
        )
    if clean_name(typed_name) and clean_name(typed_name) != typed_name:
        st.caption(tr("Its name will be {name}.", name=plain(clean_name(typed_name))))
    return (typed_name, direction) if pressed else None


def choose_variable(key: str, label: str) -> str:
    """Draw the field for the name of an environment variable.

    Return this name. Its value is the database's address and key. In an installation
    that several people share, the field is disabled and the name is empty.
    """
    name = st.text_input(
        label,
        key=key,
        placeholder=tr("HOPSCOPE_KEY_… or none"),
        max_chars=100,
        width=240,
        disabled=shared(),
        help=tr("Its value: the address, a space, and name:password or a token."),
    )
    return "" if shared() else name.strip()


def start_triples_build(
    name: str,
    direction: Direction,
    open_source: Callable[[Job], AbstractContextManager[TripleFile]],
) -> None:
    """Start the job that builds a graph from triples.

    If it cannot start, the reason is drawn.

    Parameters
    ----------
    name : name of the graph; refused if another graph has it.
    direction : direction in which searches follow the edges.
    open_source : opens the triples while the job reads them.
    """
    with shown_errors():
        name = free_graph_name(name)

        def work(job: Job) -> list[str]:
            with open_source(job) as file:
                add_graph(file, name, direction, watch=job)
                return file.tally.sentences()

        start_graph_job(name, work)


def start_graph_job(name: str, work: Callable[[Job], list[str]]) -> None:
    """Start the job that adds a graph.

    Its outcome has a button that opens the graph. `work` adds the graph and returns notes on
    guesses and omissions.
    """

    def add(job: Job) -> ImportOutcome:
        notes = work(job)
        engine().drop_graph(name)  # An earlier graph of this name may still be in memory.
        sentence = tr("The graph {name} is ready.", name=name)
        return ImportOutcome(
            sentence, tuple(notes), draw_next_steps=partial(_draw_open_button, name)
        )

    start_import(f"add-{name}", add)


def _draw_open_button(name: str) -> None:
    """Draw the button that opens a graph."""
    st.button(tr("Open it"), key="upload_open", type="primary", on_click=_open, args=(name,))


def _open(name: str) -> None:
    session.choose(GraphSource(name))
    session.graph_opened = name
    del session.bring_job
    go_to_page("graphs", {"graph": name})
