"""Table of the entities of a graph.

A click on a row opens its entity.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from core.errors import shorten
from core.graph.store import Graph
from core.graph.texts import chunks_of, node_texts
from pages.parts.shared.tables import clickable_table
from pages.parts.shared.wording import tr
from pages.parts.texts.text_trail import (
    go_to_entity,
    has_passage_nodes,
    is_tree,
    level_names,
    node_label,
)

MAX_TABLE_CHARACTERS = 160  # most characters of a description


def draw_nodes(graph: Graph, nodes: np.ndarray, name: str) -> None:
    """Draw a table of one or more nodes.

    `name` identifies the table among those of the graph.
    """
    has_passages = has_passage_nodes(graph)
    offsets = chunks_of(graph, "nodes").indptr  # where the list of chunks of each node starts
    texts = [shorten(text, MAX_TABLE_CHARACTERS) for text in node_texts(graph, nodes)]
    columns = {
        tr("Name"): [node_label(graph, int(node)) for node in nodes],
        tr("Type"): _types(graph, nodes),
        tr("Relations"): graph.degrees(nodes).tolist(),
        tr("Chunks"): [] if has_passages else (offsets[nodes + 1] - offsets[nodes]).tolist(),
        tr("Text") if has_passages else tr("Description"): texts,
    }
    clickable_table(
        {
            column: values
            for column, values in columns.items()
            if any(values) or column == tr("Relations")
        },
        len(nodes),
        lambda row: go_to_entity(graph, int(nodes[row])),
        f"{name}-{graph.digest[:8]}-{nodes[0]}-{len(nodes)}",
        formats={
            tr("Relations"): st.column_config.NumberColumn(width=90, format="localized"),
            tr("Chunks"): st.column_config.NumberColumn(
                width=80, format="localized", help=tr("Chunks that mention it")
            ),
        },
    )


def _types(graph: Graph, nodes: np.ndarray) -> list[str]:
    """Return the type of each node, or its level.

    Nodes of a tree have levels. The list is empty if the graph has neither.
    """
    if is_tree(graph):
        node_levels = level_names(graph)
        return [node_levels[node] for node in nodes.tolist()]
    table = graph.columns.nodes
    return [] if table is None or has_passage_nodes(graph) else table.texts("type", nodes)
