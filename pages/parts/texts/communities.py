"""Communities of a graph: a map of each level, the report of the open one, and its entities."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from core.graph.columns import Table
from core.graph.store import Graph
from pages.parts.shared.actions import button
from pages.parts.shared.sentences import caption
from pages.parts.shared.session_state import Session
from pages.parts.shared.tables import draw_back_links, page_of, pager
from pages.parts.shared.text import many, plain
from pages.parts.shared.wording import tr
from pages.parts.texts.community_map import draw_map
from pages.parts.texts.entity_table import draw_nodes
from pages.parts.texts.text_trail import (
    button_name,
    community_title,
    open_community,
    opened_communities,
)

MAX_TILES = 60  # most tiles of a map
MIN_HEAT_PERCENT = 8  # share of the colour in the tile of the lowest rating
MAX_HEAT_PERCENT = 34  # and in the tile of the highest
MEMBERS_PER_PAGE = 25  # entities on one page


def draw_communities(graph: Graph) -> None:
    """Draw the opened communities, the map of the next level, and the report of the open one."""
    table = graph.columns.tables()["communities"]
    opened_rows = opened_communities(graph)
    _draw_trail(graph, table, opened_rows)
    # Communities of the top level have the parent -1.
    open_row = opened_rows[-1] if opened_rows else -1
    parts = np.flatnonzero(table.numbers("parent") == open_row)
    members = table.id_lists("members")
    if len(parts):
        # Largest community first.
        _draw_map_of(graph, table, parts[np.lexsort((parts, -members.counts[parts]))])
    if open_row >= 0:
        _draw_report(table, open_row)
        _draw_members(graph, members[open_row])


def _draw_trail(graph: Graph, table: Table, opened_rows: list[int]) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if not opened_rows:
            caption(
                "A tile is a community: entities that are closely related. The larger, the more "
                "entities. Click one to open it."
            )
            return
        button(
            tr("All communities"),
            partial(open_community, graph, []),
            key="texts-map-all",
            icon="arrow_back",
            type="tertiary",
        )
        titles = [button_name(community_title(table, row)) for row in opened_rows[:-1]]
        links = [(title, opened_rows[: i + 1]) for i, title in enumerate(titles)]
        draw_back_links(links, "texts-map", partial(open_community, graph))
    st.subheader(plain(community_title(table, opened_rows[-1])), anchor=False)


def _draw_map_of(graph: Graph, table: Table, rows: np.ndarray) -> None:
    """Draw the map of the communities in some rows.

    The rows are given largest community first.
    """
    drawn_rows = rows[:MAX_TILES]
    counts = table.id_lists("members").counts
    parents = table.numbers("parent")
    ratings = np.zeros(len(drawn_rows))
    if table.has_column("rating"):
        ratings = table.numbers("rating")[drawn_rows]
    scaled_ratings = (ratings - ratings.min()) / max(1e-9, float(np.ptp(ratings)))
    heat = MIN_HEAT_PERCENT + (MAX_HEAT_PERCENT - MIN_HEAT_PERCENT) * scaled_ratings
    tiles = []
    for row, share in zip(drawn_rows.tolist(), heat.tolist()):
        n_parts = int((parents == row).sum())
        words = many(int(counts[row]), "entity", "entities")
        if n_parts:
            words += tr(" in {parts}", parts=many(n_parts, "part"))
        tiles.append(
            {
                "row": row,
                "title": community_title(table, row),
                "words": words,
                "size": int(counts[row]),
                "heat": round(share),
            }
        )
    draw_map(
        tiles, tr("Map of communities"), lambda row: _open(graph, row, set(drawn_rows.tolist()))
    )
    if len(rows) > len(drawn_rows):
        words = tr(
            "The {drawn} largest of {rows:,} communities.", drawn=len(drawn_rows), rows=len(rows)
        )
    else:
        words = f"{many(len(rows), 'community', 'communities')}."
    if np.ptp(ratings):
        st.caption(tr("{caption} Darker: rated as more important.", caption=words))
    else:
        st.caption(words)


def _open(graph: Graph, row: int, drawn_rows: set[int]) -> None:
    """Open the community whose tile was clicked.

    A row that the map does not show is ignored.
    """
    if row in drawn_rows:
        open_community(graph, [*opened_communities(graph), row])


def _draw_report(table: Table, row: int) -> None:
    report = table.text("report", row)
    if report:
        with st.container(border=True):
            st.markdown(tr("**Report**"))
            st.text(report)


def _draw_members(graph: Graph, members: np.ndarray) -> None:
    nodes = members[np.lexsort((members, -graph.degrees(members)))]
    page_range = page_of(Session.texts_member_page, len(nodes), MEMBERS_PER_PAGE)
    st.markdown(f"**{many(len(nodes), 'entity', 'entities')}**")
    draw_nodes(graph, nodes[page_range.start : page_range.stop], f"members-{page_range.start}")
    pager(
        Session.texts_member_page,
        page_range,
        len(nodes),
        MEMBERS_PER_PAGE,
        tr("Entities"),
        tr("Click one to see where it comes from."),
    )
