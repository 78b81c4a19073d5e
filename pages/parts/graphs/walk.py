"""Walk through a graph: search for an entity, see its neighbourhood, and step to a neighbour."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core.errors import shorten
from core.graph.names.lookup import name_lookup
from core.graph.texts import edge_weights, node_texts, relation_texts
from pages.parts.graphs.overview import legend, overview_part, picture_of, sentence
from pages.parts.graphs.walk_view import neighbourhood, picture_html, show_picture
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.tables import clickable_table, draw_back_links, page_of, pager
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

STEPS_PER_PAGE = 50  # steps on one page of the table
MAX_PICTURE_ENTITIES = 60  # most entities in a picture
MAX_TRAIL_ENTITIES = 8  # entities of the way that are shown
MAX_OPEN_DESCRIPTION_CHARACTERS = 300  # characters of a description that are shown without a click
ALL_RELATIONS = -1  # filter value for all relations


def trail(graph: Any) -> list[int]:
    """Return the entities that the user visited in this graph, the present one last."""
    return session.trails.setdefault(graph.digest, [])


def go_to_node(graph: Any, node: int) -> None:
    """Walk to an entity, or back along the way if it was visited before."""
    been = trail(graph)
    if node in been:
        del been[been.index(node) + 1 :]
    else:
        been.append(node)
    Session.walk_page[graph.digest].value = 0
    Session.walk_filter[graph.digest].value = ALL_RELATIONS
    session.walk_search = ""
    st.query_params["entity"] = graph.node_name(node)


def walk(graph: Any) -> None:
    """Draw the search, the way so far, and the present entity."""
    _follow_address(graph)
    _search(graph)
    been = trail(graph)
    if not been:
        _draw_overview(graph)
        return
    if st.query_params.get("entity") != graph.node_name(been[-1]):
        st.query_params["entity"] = graph.node_name(been[-1])
    _crumbs(graph, been)
    _draw_entity(graph, been[-1])


def _draw_overview(graph: Any) -> None:
    """Draw the overview of the graph before the first step: its best connected entities.

    They are drawn as buttons and in a picture.
    """
    view, dark = overview_part(graph.digest, graph), st.context.theme.type == "dark"
    if not view.hubs:
        st.info(tr("This graph has no entities."), icon=":material/hub:")
        return
    caption(
        "Type a name, start at one of the most connected entities, or click one in the picture:"
    )
    _choices(graph, list(view.hubs), "busy")
    drawn_nodes = {*view.hubs, *view.joints, *view.further}
    with st.container(border=True, key="picture"):
        on_click = lambda node: go_to_node(graph, node) if node in drawn_nodes else None
        show_picture(
            picture_of(graph, view, dark), on_click, tr("Picture of the most connected entities")
        )
    st.html(legend(graph, view, dark))
    st.caption(sentence(graph, view))


def _follow_address(graph: Any) -> None:
    """Walk to the entity of the address, if it is another one."""
    address_entity, been = st.query_params.get("entity"), trail(graph)
    if (
        not address_entity
        or (been and graph.node_name(been[-1]) == address_entity)
        or session.walk_refused == (graph.digest, address_entity)
    ):
        return
    if name_lookup(graph).exact(address_entity):
        go_to_node(graph, name_lookup(graph).find(address_entity))
    else:
        session.walk_refused = (graph.digest, address_entity)
        st.warning(
            tr("“{wanted}” is not in this graph.", wanted=plain(address_entity)),
            icon=":material/search_off:",
        )


def _search(graph: Any) -> None:
    """Draw the search field, and the nearest names while the user types."""
    query = st.text_input(
        tr("Search for an entity"),
        key=Session.walk_search.name,
        persist_state="session",
        type="search",
        live=True,
        placeholder=tr("Type a name, or a part of one"),
        label_visibility="collapsed",
        icon=":material/search:",
    )
    if not query.strip():
        return
    nodes = [int(node) for node, *_ in name_lookup(graph).search(query, 8)]
    if nodes:
        _choices(graph, nodes, "found")
    else:
        caption("No similar name found. Try another spelling, or a part of the name.")


def _choices(graph: Any, nodes: list[int], key: str) -> None:
    """Draw entities as buttons."""
    with st.container(horizontal=True, gap="small"):
        for node in nodes:
            button(_short(graph, node), partial(go_to_node, graph, node), key=f"{key}-{node}")


def _crumbs(graph: Any, been: list[int]) -> None:
    """Draw the way so far; a click goes back."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="crumbs"):
        if len(been) > MAX_TRAIL_ENTITIES:
            st.caption("…", width="content")
        places = [(_short(graph, node), node) for node in been[-MAX_TRAIL_ENTITIES:-1]]
        draw_back_links(places, "crumb", partial(go_to_node, graph))
        st.markdown(f"**{_short(graph, been[-1])}**", width="content")


def _draw_entity(graph: Any, node: int) -> None:
    """Draw the present entity: its description, its picture and the table of its steps."""
    _draw_description(graph, node)
    neighbours, edges, forward = graph.steps(node)
    if not len(edges):
        st.info(
            tr("This entity has no edges. Search for another, or go back."),
            icon=":material/hub:",
        )
        return
    step_codes = graph.triples(edges)[1] * 2 + ~forward
    code = _filter(graph, step_codes)
    chosen_edges = (
        np.arange(len(edges)) if code == ALL_RELATIONS else np.flatnonzero(step_codes == code)
    )
    page = Session.walk_page[graph.digest]
    page_range = page_of(page, len(chosen_edges), STEPS_PER_PAGE)
    rows = chosen_edges[page_range.start : page_range.stop]
    page_nodes = neighbours[chosen_edges[page_range.start :]]
    _picture(
        graph,
        node,
        page_nodes[: MAX_PICTURE_ENTITIES * 4],
        len(np.setdiff1d(neighbours[chosen_edges], [node])),
    )
    _table(graph, neighbours[rows], edges[rows], forward[rows])
    hint = tr("Click one to walk there.")
    pager(page, page_range, len(chosen_edges), STEPS_PER_PAGE, tr("Steps"), hint)


def _draw_description(graph: Any, node: int) -> None:
    """Draw the type and the description of an entity, if the graph has them.

    A long description can be expanded.
    """
    type = graph.columns.nodes.text("type", node) if graph.columns.nodes is not None else ""
    text = node_texts(graph, [node])[0]
    if type:
        st.caption(plain(type))
    if len(text) <= MAX_OPEN_DESCRIPTION_CHARACTERS:
        st.write(plain(text))
    else:
        with st.expander(plain(shorten(text, MAX_OPEN_DESCRIPTION_CHARACTERS)), expanded=False):
            st.write(plain(text))


def _edge_values(graph: Any, edges: np.ndarray) -> dict[str, list]:
    """Return the weights and descriptions of some edges.

    They are by column title, and only those that the graph has.
    """
    table, heavy = graph.columns.edges, edge_weights(graph)
    values_by_title: dict[str, list] = (
        {tr("Weight"): heavy[edges].tolist()} if heavy is not None else {}
    )
    if table is not None and table.has("description"):
        values_by_title[tr("Description")] = [
            shorten(text, MAX_OPEN_DESCRIPTION_CHARACTERS) for text in relation_texts(graph, edges)
        ]
    return values_by_title


def _filter(graph: Any, step_codes: np.ndarray) -> int:
    """Draw and return the choice of one relation and direction.

    Each has its number of steps.
    """
    codes_found, sizes = np.unique(step_codes, return_counts=True)
    words = {ALL_RELATIONS: tr("all relations · {step_codes:,} steps", step_codes=len(step_codes))}
    for step_code, size in sorted(
        zip(codes_found.tolist(), sizes.tolist()), key=lambda pair: (-pair[1], pair[0])
    ):
        words[step_code] = (
            f"{'←' if step_code % 2 else '→'} {graph.relation_names[step_code // 2]} · {size:,}"
        )
    chosen_filter = Session.walk_filter[graph.digest]
    if chosen_filter.value not in words:
        chosen_filter.value = ALL_RELATIONS
    return st.selectbox(
        tr("Relation"),
        list(words),
        key=chosen_filter.name,
        persist_state="session",
        format_func=words.__getitem__,
        label_visibility="collapsed",
        on_change=Session.walk_page[graph.digest].put,
        args=(0,),
        width=420,
    )


def _picture(graph: Any, node: int, neighbours: np.ndarray, total: int) -> None:
    part = neighbourhood(graph, node, neighbours.tolist(), MAX_PICTURE_ENTITIES)
    drawn_nodes = {*part.near, *part.far}
    with st.container(border=True, key="picture"):
        show_picture(
            picture_html(graph, part, st.context.theme.type == "dark"),
            lambda clicked: go_to_node(graph, clicked) if clicked in drawn_nodes else None,
        )
    far_text = tr(", and {far:,} entities one hop further", far=len(part.far)) if part.far else ""
    caption(
        "Shown: {near:,} of {of:,} neighbours{further}. Click a dot to walk there; point at a dot "
        "or an arrow to read it.",
        near=len(part.near),
        of=total,
        further=far_text,
    )


def _table(graph: Any, neighbours: np.ndarray, edges: np.ndarray, forward: np.ndarray) -> None:
    """Draw the steps of one page; a click on one walks there."""
    present_node = trail(graph)[-1]
    table_key = f"{Session.walk_filter[graph.digest].value}-{Session.walk_page[graph.digest].value}"
    clickable_table(
        {
            tr("Way"): ["→" if f else "←" for f in forward],
            tr("Relation"): [graph.relation_names[r] for r in graph.triples(edges)[1]],
            tr("Neighbour"): graph.names(neighbours),
            tr("Its edges"): graph.degrees(neighbours).tolist(),
            **_edge_values(graph, edges),
        },
        len(edges),
        lambda row: go_to_node(graph, int(neighbours[row])),
        f"steps-{graph.digest[:8]}-{present_node}-{table_key}",
        max_height=420,
        formats={
            tr("Way"): st.column_config.TextColumn(
                width=60, help=tr("→ to the neighbour, ← from it")
            ),
            tr("Its edges"): st.column_config.NumberColumn(width=90, format="localized"),
            tr("Weight"): st.column_config.NumberColumn(width=90, format="%.4g"),
        },
    )


def _short(graph: Any, node: int) -> str:
    return plain(shorten(graph.node_name(node), 40))
