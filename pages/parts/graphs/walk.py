"""Walk through a graph: search for an entity, see its neighbourhood, and step to a neighbour."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core.errors import shorten
from core.graph.names.lookup import names
from core.graph.texts import node_texts, relation_texts, weights
from pages.parts.graphs.overview import legend, part, picture_of, sentence
from pages.parts.graphs.walk_view import neighbourhood, picture, show
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.tables import clickable_table, page_of, pager, way_back
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

PAGE = 50  # steps on one page of the table
ROOM = 60  # most entities in a picture
CRUMBS = 8  # entities of the way that are shown
DESCRIBED = 300  # characters of a description that are shown without a click
EVERY = -1  # filter value for all relations


def trail(graph: Any) -> list[int]:
    """Return the entities that the user visited in this graph, the present one last."""
    return session.trails.setdefault(graph.digest, [])


def go(graph: Any, node: int) -> None:
    """Walk to an entity, or back along the way if it was visited before."""
    been = trail(graph)
    if node in been:
        del been[been.index(node) + 1 :]
    else:
        been.append(node)
    Session.walk_page[graph.digest].value = 0
    Session.walk_filter[graph.digest].value = EVERY
    session.walk_search = ""
    st.query_params["entity"] = graph.node_name(node)


def walk(graph: Any) -> None:
    """Draw the search, the way so far, and the present entity."""
    _arrive(graph)
    _search(graph)
    been = trail(graph)
    if not been:
        _begin(graph)
        return
    if st.query_params.get("entity") != graph.node_name(been[-1]):
        st.query_params["entity"] = graph.node_name(been[-1])
    _crumbs(graph, been)
    _here(graph, been[-1])


def _begin(graph: Any) -> None:
    """Draw the overview of the graph before the first step: its best connected entities.

    They are drawn as buttons and in a picture.
    """
    chosen, dark = part(graph.digest, graph), st.context.theme.type == "dark"
    if not chosen.hubs:
        st.info(tr("This graph has no entities."), icon=":material/hub:")
        return
    caption(
        "Type a name, start at one of the best connected entities, or click one on the picture:"
    )
    _choices(graph, list(chosen.hubs), "busy")
    drawn = {*chosen.hubs, *chosen.joints, *chosen.further}
    with st.container(border=True, key="picture"):
        walked = lambda clicked: go(graph, clicked) if clicked in drawn else None
        show(
            picture_of(graph, chosen, dark), walked, tr("The best connected entities as a picture")
        )
    st.html(legend(graph, chosen, dark))
    st.caption(sentence(graph, chosen))


def _arrive(graph: Any) -> None:
    """Walk to the entity of the address, if it is another one."""
    wanted, been = st.query_params.get("entity"), trail(graph)
    if (
        not wanted
        or (been and graph.node_name(been[-1]) == wanted)
        or session.walk_refused == (graph.digest, wanted)
    ):
        return
    if names(graph).exact(wanted):
        go(graph, names(graph).find(wanted))
    else:
        session.walk_refused = (graph.digest, wanted)
        st.warning(
            tr("“{wanted}” is not in this graph.", wanted=plain(wanted)),
            icon=":material/search_off:",
        )


def _search(graph: Any) -> None:
    """Draw the search field, and the nearest names while the user types."""
    typed = st.text_input(
        tr("Search an entity"),
        key=Session.walk_search.name,
        persist_state="session",
        type="search",
        live=True,
        placeholder=tr("Type a name, or a part of one"),
        label_visibility="collapsed",
        icon=":material/search:",
    )
    if not typed.strip():
        return
    found = [int(node) for node, *_ in names(graph).search(typed, 8)]
    if found:
        _choices(graph, found, "found")
    else:
        caption("No name is near to that. Try another spelling, or a part of the name.")


def _choices(graph: Any, nodes: list[int], key: str) -> None:
    """Draw entities as buttons."""
    with st.container(horizontal=True, gap="small"):
        for node in nodes:
            button(_short(graph, node), partial(go, graph, node), key=f"{key}-{node}")


def _crumbs(graph: Any, been: list[int]) -> None:
    """Draw the way so far; a click goes back."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="crumbs"):
        if len(been) > CRUMBS:
            st.caption("…", width="content")
        places = [(_short(graph, node), node) for node in been[-CRUMBS:-1]]
        way_back(places, "crumb", partial(go, graph))
        st.markdown(f"**{_short(graph, been[-1])}**", width="content")


def _here(graph: Any, node: int) -> None:
    """Draw the present entity: its description, its picture and the table of its steps."""
    _said(graph, node)
    neighbours, edges, forward = graph.steps(node)
    if not len(edges):
        st.info(
            tr("This entity has no edges. Search for another, or go back along the way."),
            icon=":material/hub:",
        )
        return
    step_codes = graph.triples(edges)[1] * 2 + ~forward
    chosen = _filter(graph, step_codes)
    chosen_edges = (
        np.arange(len(edges)) if chosen == EVERY else np.flatnonzero(step_codes == chosen)
    )
    page = Session.walk_page[graph.digest]
    listed = page_of(page, len(chosen_edges), PAGE)
    rows = chosen_edges[listed.start : listed.stop]
    around = neighbours[chosen_edges[listed.start :]]
    _picture(graph, node, around[: ROOM * 4], len(np.setdiff1d(neighbours[chosen_edges], [node])))
    _table(graph, neighbours[rows], edges[rows], forward[rows])
    hint = tr("Click one to walk there.")
    pager(page, listed, len(chosen_edges), PAGE, tr("Steps"), hint)


def _said(graph: Any, node: int) -> None:
    """Draw the type and the description of an entity, if the graph has them.

    A long description can be expanded.
    """
    type = graph.columns.nodes.text("type", node) if graph.columns.nodes is not None else ""
    text = node_texts(graph, [node])[0]
    if type:
        st.caption(plain(type))
    if len(text) <= DESCRIBED:
        st.write(plain(text))
    else:
        with st.expander(plain(shorten(text, DESCRIBED)), expanded=False):
            st.write(plain(text))


def _of_edges(graph: Any, edges: np.ndarray) -> dict[str, list]:
    """Return the weights and descriptions of some edges.

    They are by column title, and only those that the graph has.
    """
    table, heavy = graph.columns.edges, weights(graph)
    found: dict[str, list] = {tr("Weight"): heavy[edges].tolist()} if heavy is not None else {}
    if table is not None and table.has("description"):
        found[tr("Description")] = [
            shorten(text, DESCRIBED) for text in relation_texts(graph, edges)
        ]
    return found


def _filter(graph: Any, step_codes: np.ndarray) -> int:
    """Draw and return the choice of one relation and direction.

    Each has its number of steps.
    """
    found, sizes = np.unique(step_codes, return_counts=True)
    words = {EVERY: tr("all relations · {step_codes:,} steps", step_codes=len(step_codes))}
    for step_code, size in sorted(
        zip(found.tolist(), sizes.tolist()), key=lambda pair: (-pair[1], pair[0])
    ):
        words[step_code] = (
            f"{'←' if step_code % 2 else '→'} {graph.relation_names[step_code // 2]} · {size:,}"
        )
    here = Session.walk_filter[graph.digest]
    if here.value not in words:
        here.value = EVERY
    return st.selectbox(
        tr("Relation"),
        list(words),
        key=here.name,
        persist_state="session",
        format_func=words.__getitem__,
        label_visibility="collapsed",
        on_change=Session.walk_page[graph.digest].put,
        args=(0,),
        width=420,
    )


def _picture(graph: Any, node: int, near: np.ndarray, of: int) -> None:
    part = neighbourhood(graph, node, near.tolist(), ROOM)
    drawn = {*part.near, *part.far}
    with st.container(border=True, key="picture"):
        show(
            picture(graph, part, st.context.theme.type == "dark"),
            lambda clicked: go(graph, clicked) if clicked in drawn else None,
        )
    further = tr(", and {far:,} entities one step further", far=len(part.far)) if part.far else ""
    caption(
        "Drawn: {near:,} of {of:,} neighbours{further}. Click a dot to walk there; point at a dot "
        "or an arrow to read it.",
        near=len(part.near),
        of=of,
        further=further,
    )


def _table(graph: Any, neighbours: np.ndarray, edges: np.ndarray, forward: np.ndarray) -> None:
    """Draw the steps of one page; a click on one walks there."""
    here = trail(graph)[-1]
    listed = f"{Session.walk_filter[graph.digest].value}-{Session.walk_page[graph.digest].value}"
    clickable_table(
        {
            tr("Way"): ["→" if f else "←" for f in forward],
            tr("Relation"): [graph.relation_names[r] for r in graph.triples(edges)[1]],
            tr("Neighbour"): graph.names(neighbours),
            tr("Its edges"): graph.degrees(neighbours).tolist(),
            **_of_edges(graph, edges),
        },
        len(edges),
        lambda row: go(graph, int(neighbours[row])),
        f"steps-{graph.digest[:8]}-{here}-{listed}",
        max_height=420,
        formats={
            tr("Way"): st.column_config.TextColumn(
                width=60, help=tr("→ the triple leads to the neighbour, ← it comes from there")
            ),
            tr("Its edges"): st.column_config.NumberColumn(width=90, format="localized"),
            tr("Weight"): st.column_config.NumberColumn(width=90, format="%.4g"),
        },
    )


def _short(graph: Any, node: int) -> str:
    return plain(shorten(graph.node_name(node), 40))
