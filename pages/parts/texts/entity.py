"""One entity: what is told of it, what it is related to, and the passages it came from, its name marked."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.graph.store import Graph
from core.graph.told import chunks_of, leaves, node_texts, relation_names, relation_texts
from pages.parts.shared.text import many, plain
from pages.parts.texts.paging import begin, page_of, pager
from pages.parts.texts.passage import passage, pattern, where

NEIGHBOURS, PASSAGES = 25, 5  # on one page
NEAR_PAGE, PASSAGE_PAGE = "texts_near_page", "texts_passage_page"
BEEN = 6  # entities of the way back


def trail(graph: Graph) -> list[int]:
    """The entities that were looked at one after the other, the present one last."""
    return st.session_state.setdefault("texts_trails", {}).setdefault(graph.digest, [])


def seen(graph: Graph) -> int | None:
    """The entity that is looked at, None where it is the table of all."""
    been = trail(graph)
    return been[-1] if been else None


def go(graph: Graph, node: int) -> None:
    """Look at an entity; one of the way so far is gone back to."""
    been = trail(graph)
    if node in been:
        del been[been.index(node) + 1 :]
    else:
        been.append(node)
    begin(NEAR_PAGE)
    begin(PASSAGE_PAGE)


def label(graph: Graph, node: int) -> str:
    """What a node is called: its name; of a chunk its title and place."""
    row = leaves(graph, [node]).get(node)
    if row is None:
        return graph.node_name(node)
    return ", ".join(filter(None, where(graph.columns.chunks, row)))


def entity(graph: Graph, node: int) -> None:
    """Draw it, with the way back."""
    _way(graph)
    name, table = label(graph, node), graph.columns.nodes
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.subheader(plain(name), anchor=False, width="content")
        kind = table.text("type", node) if table is not None else ""
        if kind:
            st.badge(plain(kind), color="blue")
    row = leaves(graph, [node]).get(node)
    if row is not None:
        passage(graph.columns.chunks, row)
    elif any(texts := node_texts(graph, [node])):
        st.write(plain(texts[0]))
    _neighbours(graph, node)
    if row is None:
        _passages(graph, node)


def _way(graph: Graph) -> None:
    been = trail(graph)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button("All", key="texts-all", icon=":material/arrow_back:", type="tertiary", on_click=been.clear)
        for node in been[-BEEN:-1]:
            st.button(plain(_short(label(graph, node))), key=f"texts-way-{node}", type="tertiary", on_click=go, args=(graph, node))
            st.caption("›", width="content")


def _neighbours(graph: Graph, node: int) -> None:
    """Its relations, the heaviest first; a click goes on."""
    neighbours, edges, forward = graph.steps(node)
    if not len(edges):
        st.caption("It is related to nothing else.")
        return
    table = graph.columns.edges
    weights = table.numbers("weight")[edges] if table is not None and table.has("weight") else np.ones(len(edges), np.float32)
    order = np.lexsort((neighbours, edges, -weights))
    shown = page_of(NEAR_PAGE, len(order), NEIGHBOURS)
    rows = order[shown.start : shown.stop]
    some = edges[rows]
    key = f"texts-near-{graph.digest[:8]}-{node}-{shown.start}"

    def clicked() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells and cells[0][0] < len(rows):
            go(graph, int(neighbours[rows[cells[0][0]]]))

    columns = {
        "Way": ["→" if ahead else "←" for ahead in forward[rows]],
        "Related to": [label(graph, int(other)) for other in neighbours[rows]],
        "Relation": relation_names(graph, some),
        "Keywords": table.texts("keywords", some) if table is not None else [""] * len(some),
        "Weight": weights[rows].tolist(),
        "Description": relation_texts(graph, some),
    }
    st.markdown(f"**{many(len(order), 'relation')}**")
    st.dataframe(
        {name: values for name, values in columns.items() if name in ("Related to", "Weight") or any(map(str.strip, values))},
        key=key,
        hide_index=True,
        on_select=clicked,
        selection_mode="single-cell",
        height=min(300, 38 + 35 * len(rows)),
        column_config={
            "Way": st.column_config.TextColumn(width=50, help="→ the relation leads to the other, ← it comes from there"),
            "Weight": st.column_config.NumberColumn(width=80, format="%.3g", help="How often, or how strongly, it was told"),
        },
    )
    pager(NEAR_PAGE, shown, len(order), NEIGHBOURS, "Relations", "Click one to go there.")


def _passages(graph: Graph, node: int) -> None:
    """The chunks that tell of it, those that name it first."""
    told, name, chunks = chunks_of(graph, "nodes")[node], graph.node_name(node), graph.columns.chunks
    if chunks is None or not len(told):
        return
    st.markdown(f"**Told in {many(len(told), 'chunk')}**")
    shown = page_of(PASSAGE_PAGE, len(told), PASSAGES)
    rows = told[shown.start : shown.stop].tolist()
    for row in rows:
        passage(chunks, row, name)
    if not any(pattern(name).search(text) for text in chunks.texts("text", rows)):
        st.caption("The name does not stand in these chunks letter by letter: the texts spell it in other ways.")
    pager(PASSAGE_PAGE, shown, len(told), PASSAGES, "Chunks")


def _short(name: str) -> str:
    return name if len(name) <= 40 else name[:39] + "…"
