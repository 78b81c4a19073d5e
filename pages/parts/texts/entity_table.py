"""Entities as a table; a click on one goes there."""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.graph.store import Graph
from core.graph.told import chunks_of
from pages.parts.texts.walking import go, label


def entity_table(graph: Graph, nodes: np.ndarray, name: str) -> None:
    """Draw some nodes; `name` tells the table from others of this graph."""
    key = f"texts-{name}-{graph.digest[:8]}-{nodes[0]}-{len(nodes)}"
    table, told = graph.columns.nodes, chunks_of(graph, "nodes")

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
    }
    st.dataframe(
        {column: values for column, values in columns.items() if column not in ("Type", "Description") or any(values)},
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
