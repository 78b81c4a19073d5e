"""Walk through a graph: search for an entity, see its neighbourhood, and step to a neighbour.

A step is an edge at the present entity, followed forward or backward. The page Graphs shows the
walk in its first tab. The present entity is in the address.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from core.errors import shorten
from core.graph.algorithms.overview import busiest_nodes
from core.graph.names.lookup import name_lookup
from core.graph.texts import edge_weights, node_texts, relation_texts
from pages.parts.graphs.walk_view import draw_picture, neighbourhood, picture_html
from pages.parts.map.graph_map import Highlight, draw_graph_map
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session, session
from pages.parts.shared.tables import clickable_table, draw_back_links, page_of, pager
from pages.parts.shared.text import plain
from pages.parts.shared.wording import tr

STEPS_PER_PAGE = 50  # steps on one page of the table
MAX_PICTURE_ENTITIES = 60  # most entities in a picture
MAX_HUB_BUTTONS = 8  # best connected entities that are buttons
MAX_TRAIL_ENTITIES = 8  # last visited entities that are drawn
MAX_OPEN_DESCRIPTION_CHARACTERS = 300  # characters of a description that are shown without a click
ALL_RELATIONS = -1  # step code of the filter that leaves out nothing; others are at least 0


def trail(graph: Any) -> list[int]:
    """Return the entities that the user visited in this graph, the present one last.

    The list may be changed. It is empty before the first step.
    """
    return session.trails.setdefault(graph.digest, [])


def go_to_node(graph: Any, node: int) -> None:
    """Walk to an entity, or back to it if it was visited before.

    Search text, relation filter and page of the steps are reset.
    """
    visited = trail(graph)
    if node in visited:
        del visited[visited.index(node) + 1 :]
    else:
        visited.append(node)
    Session.walk_page[graph.digest].value = 0
    Session.walk_filter[graph.digest].value = ALL_RELATIONS
    session.walk_search = ""
    st.query_params["entity"] = graph.node_name(node)


def return_to_map(graph: Any) -> None:
    """Leave the walk, so that the map of the graph is shown."""
    trail(graph).clear()
    st.query_params.pop("entity", None)


def draw_walk(graph: Any, highlights: Sequence[Highlight] = ()) -> None:
    """Draw the search, then the map, or the visited entities and the present one.

    `highlights` are marked on the map.
    """
    _follow_address(graph)
    _draw_search(graph)
    visited = trail(graph)
    if not visited:
        _draw_overview(graph, highlights)
        return
    if st.query_params.get("entity") != graph.node_name(visited[-1]):
        st.query_params["entity"] = graph.node_name(visited[-1])
    _draw_trail(graph, visited)
    _draw_entity(graph, visited[-1])


def _draw_overview(graph: Any, highlights: Sequence[Highlight]) -> None:
    """Draw the best connected entities, where the walk can begin.

    They are buttons below the map of the graph.
    """
    draw_graph_map(
        graph,
        f"map-{graph.digest[:8]}",
        highlights=highlights,
        on_click=partial(go_to_node, graph),
        has_search=False,
    )
    hubs = busiest_nodes(graph, MAX_HUB_BUTTONS)
    if hubs:
        caption("The most connected entities:")
        _draw_entity_buttons(graph, hubs, "busy")


def _follow_address(graph: Any) -> None:
    """Walk to the entity of the address, if it is another one.

    A warning is drawn once for a name that the graph lacks.
    """
    address_entity, visited = st.query_params.get("entity"), trail(graph)
    if (
        not address_entity
        or (visited and graph.node_name(visited[-1]) == address_entity)
        or session.walk_missing_entity == (graph.digest, address_entity)
    ):
        return
    if name_lookup(graph).find_exact(address_entity):
        go_to_node(graph, name_lookup(graph).find(address_entity))
    else:
        session.walk_missing_entity = (graph.digest, address_entity)
        st.warning(
            tr("“{wanted}” is not in this graph.", wanted=plain(address_entity)),
            icon=":material/search_off:",
        )


def _draw_search(graph: Any) -> None:
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
        _draw_entity_buttons(graph, nodes, "found")
    else:
        caption("No similar name found. Try another spelling, or a part of the name.")


def _draw_entity_buttons(graph: Any, nodes: list[int], key: str) -> None:
    """Draw entities as buttons."""
    with st.container(horizontal=True, gap="small"):
        for node in nodes:
            button(_short_name(graph, node), partial(go_to_node, graph, node), key=f"{key}-{node}")


def _draw_trail(graph: Any, visited: list[int]) -> None:
    """Draw the visited entities; a click goes back to one."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="crumbs"):
        button(
            tr("Map"), partial(return_to_map, graph), key="crumb-map", icon="map", type="tertiary"
        )
        if len(visited) > MAX_TRAIL_ENTITIES:
            st.caption("…", width="content")
        views = [(_short_name(graph, node), node) for node in visited[-MAX_TRAIL_ENTITIES:-1]]
        draw_back_links(views, "crumb", partial(go_to_node, graph))
        st.markdown(f"**{_short_name(graph, visited[-1])}**", width="content")


def _draw_entity(graph: Any, node: int) -> None:
    """Draw the present entity: description, neighbourhood and steps."""
    _draw_description(graph, node)
    neighbours, edges, forward = graph.steps(node)
    if not len(edges):
        st.info(
            tr("This entity has no edges. Search for another, or go back."),
            icon=":material/hub:",
        )
        return
    step_codes = graph.triples(edges)[1] * 2 + ~forward  # 2 * relation, + 1 if backward
    code = _choose_relation(graph, step_codes)
    chosen = np.arange(len(edges))  # positions of the steps with the chosen relation
    if code != ALL_RELATIONS:
        chosen = np.flatnonzero(step_codes == code)
    page = Session.walk_page[graph.digest]
    page_range = page_of(page, len(chosen), STEPS_PER_PAGE)
    rows = chosen[page_range.start : page_range.stop]
    # The picture begins with the page's steps. Neighbours may repeat, so it gets more than it can
    # draw.
    candidates = neighbours[chosen[page_range.start :]][: MAX_PICTURE_ENTITIES * 4]
    n_neighbours = len(np.setdiff1d(neighbours[chosen], [node]))
    _draw_neighbourhood(graph, node, candidates, n_neighbours)
    _draw_steps(graph, neighbours[rows], edges[rows], forward[rows])
    hint = tr("Click one to walk there.")
    pager(page, page_range, len(chosen), STEPS_PER_PAGE, tr("Steps"), hint)


def _draw_description(graph: Any, node: int) -> None:
    """Draw the type and the description of an entity, if the graph has them.

    A long description is expanded by a click.
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
    """Return the weights and descriptions of some edges by column title.

    A column that the graph lacks is left out.
    """
    table, weights = graph.columns.edges, edge_weights(graph)
    columns: dict[str, list] = {}
    if weights is not None:
        columns[tr("Weight")] = weights[edges].tolist()
    if table is not None and table.has_column("description"):
        columns[tr("Description")] = [
            shorten(text, MAX_OPEN_DESCRIPTION_CHARACTERS) for text in relation_texts(graph, edges)
        ]
    return columns


def _choose_relation(graph: Any, step_codes: np.ndarray) -> int:
    """Draw the choice of a relation, and return its step code.

    The code of a step is twice the relation's id, plus 1 if the step follows its edge backward. The
    choice for all steps is `ALL_RELATIONS`.
    """
    words = {ALL_RELATIONS: tr("all relations · {step_codes:,} steps", step_codes=len(step_codes))}
    codes, sizes = np.unique(step_codes, return_counts=True)
    rows = sorted(zip(codes.tolist(), sizes.tolist()), key=lambda pair: (-pair[1], pair[0]))
    for code, size in rows:
        arrow = "←" if code % 2 else "→"
        words[code] = f"{arrow} {graph.relation_names[code // 2]} · {size:,}"
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


def _draw_neighbourhood(graph: Any, node: int, neighbours: np.ndarray, total: int) -> None:
    """Draw a picture of an entity with its first neighbours.

    `total` is the number of its neighbours.
    """
    part = neighbourhood(graph, node, neighbours.tolist(), MAX_PICTURE_ENTITIES)
    drawn_nodes = {*part.near, *part.far}
    with st.container(border=True, key="picture"):
        draw_picture(
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


def _draw_steps(graph: Any, neighbours: np.ndarray, edges: np.ndarray, forward: np.ndarray) -> None:
    """Draw the table of one page of steps.

    The steps are three arrays of equal length. A click on a row walks to its neighbour.
    """
    present_node = trail(graph)[-1]
    table_key = f"{Session.walk_filter[graph.digest].value}-{Session.walk_page[graph.digest].value}"
    clickable_table(
        {
            tr("Way"): ["→" if is_forward else "←" for is_forward in forward],
            tr("Relation"): [graph.relation_names[id] for id in graph.triples(edges)[1]],
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


def _short_name(graph: Any, node: int) -> str:
    return plain(shorten(graph.node_name(node), 40))
