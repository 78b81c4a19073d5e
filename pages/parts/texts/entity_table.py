"""Entities as a table; a click on one goes there."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.errors import shorten
from core.graph.store import Graph
from core.graph.told import chunks_of, leaves
from pages.parts.texts.walking import go, label

MAYBE = ("Type", "Description", "Text")  # columns that are left out where nothing stands in them
SHOWN = 160  # characters of a chunk


def entity_table(graph: Graph, nodes: np.ndarray, name: str) -> None:
    """Draw some nodes; `name` tells the table from others of this graph."""
    key = f"texts-{name}-{graph.digest[:8]}-{nodes[0]}-{len(nodes)}"
    table, chunks, told, own = graph.columns.nodes, graph.columns.chunks, chunks_of(graph, "nodes"), leaves(graph, nodes)

    def clicked() -> None:
        cells = st.session_state[key]["selection"]["cells"]
        if cells and cells[0][0] < len(nodes):
            go(graph, int(nodes[cells[0][0]]))

    texts = lambda column: table.texts(column, nodes) if table is not None else [""] * len(nodes)
    columns = {
        "Name": [label(graph, int(node)) for node in nodes],
        "Type": texts("type"),
        "Relations": graph.degrees(nodes).tolist(),
        "Chunks": (told.indptr[nodes + 1] - told.indptr[nodes]).tolist(),
        "Description": texts("description"),
        "Text": [shorten(chunks.text("text", own[node]), SHOWN) if node in own else "" for node in nodes.tolist()] if own else [],
    }
    left_out = ("Type", "Chunks") if own else ()
    st.dataframe(
        {column: values for column, values in columns.items() if column not in left_out and (column not in MAYBE or any(values))},
        key=key,
        hide_index=True,
        on_select=clicked,
        selection_mode="single-cell",
        height=min(560, 38 + 35 * len(nodes)),
        column_config={
            "Relations": st.column_config.NumberColumn(width=90, format="localized"),
            "Chunks": st.column_config.NumberColumn(width=80, format="localized", help="The chunks that tell of it"),
        },
    )
