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
from pages.parts.texts.entity_table import entity_table
from pages.parts.texts.text_trail import (
    button_name,
    community_title,
    open_community,
    opened_communities,
)

MAX_TILES = 60  # most tiles of a map
MEMBERS_PER_PAGE = 25  # entities on one page


def draw_communities(graph: Graph) -> None:
    """Draw the opened communities, the map of the next level, and the report of the open one."""
    table = graph.columns.tables()["communities"]
    trail = opened_communities(graph)
    _draw_trail(graph, table, trail)
    open_row = trail[-1] if trail else -1
    parts = np.flatnonzero(table.numbers("parent") == open_row)
    members = table.id_lists("members")
    if len(parts):
        _draw_map_of(graph, table, parts[np.lexsort((parts, -members.counts[parts]))])
    if open_row >= 0:
        _draw_report(table, open_row)
        _draw_members(graph, members[open_row])


def _draw_trail(graph: Graph, table: Table, trail: list[int]) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if not trail:
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
        titles = [button_name(community_title(table, row)) for row in trail[:-1]]
        places = [(title, trail[: i + 1]) for i, title in enumerate(titles)]
        draw_back_links(places, "texts-map", partial(open_community, graph))
    st.subheader(plain(community_title(table, trail[-1])), anchor=False)


def _draw_map_of(graph: Graph, table: Table, rows: np.ndarray) -> None:
    drawn_rows = rows[:MAX_TILES]
    counts = table.id_lists("members").counts
    parents = table.numbers("parent")
    ratings = np.zeros(len(drawn_rows))
    if table.has_column("rating"):
        ratings = table.numbers("rating")[drawn_rows]
    heat = 8 + 26 * (ratings - ratings.min()) / max(1e-9, float(np.ptp(ratings)))
    tiles = []
    for row, share in zip(drawn_rows.tolist(), heat.tolist()):
        inner = int((parents == row).sum())
        words = many(int(counts[row]), "entity", "entities")
        if inner:
            words += tr(" in {parts}", parts=many(inner, "part"))
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
        caption = tr(
            "The {drawn} largest of {rows:,} communities.", drawn=len(drawn_rows), rows=len(rows)
        )
    else:
        caption = f"{many(len(rows), 'community', 'communities')}."
    if np.ptp(ratings):
        st.caption(tr("{caption} The stronger the colour, the higher its rating.", caption=caption))
    else:
        st.caption(caption)


def _open(graph: Graph, row: int, drawn_rows: set[int]) -> None:
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
    entity_table(graph, nodes[page_range.start : page_range.stop], f"members-{page_range.start}")
    pager(
        Session.texts_member_page,
        page_range,
        len(nodes),
        MEMBERS_PER_PAGE,
        tr("Entities"),
        tr("Click one to see where it comes from."),
    )
