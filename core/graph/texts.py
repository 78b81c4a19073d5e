"""Texts of the nodes, edges, chunks and communities of a graph.

A *title* is shown to the user. A *label* is the text that an encoder embeds. A *text* is a
description, a chunk's text or a community's report. *Hits* are retrieved ids of one kind: node,
triple, chunk or community.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from core.graph.columns import IdLists, Table
from core.graph.protocol import KnowledgeGraph

# Largest number of member names that describe a community without a report.
MAX_LABEL_MEMBERS = 30
Ids = Sequence[int] | np.ndarray


def chunk_nodes(graph: KnowledgeGraph, nodes: Ids) -> dict[int, int]:
    """Map the nodes that are chunks themselves to the rows of their chunks.

    Such a node is named by the id of its only chunk. The result is empty if the graph has no chunk
    nodes (`has_chunk_nodes`); there, a node with the name of a chunk is an entity.
    """
    chunks = graph.columns.chunks
    if chunks is None or not has_chunk_nodes(graph) or not len(nodes):
        return {}
    rows, node_ids = chunks_of(graph, "nodes"), np.asarray(nodes, np.int64)
    with_one_chunk = node_ids[rows.indptr[node_ids + 1] - rows.indptr[node_ids] == 1]
    chunk_rows = rows.ids[rows.indptr[with_one_chunk]]
    names, chunk_ids = graph.names(with_one_chunk), chunks.texts("id", chunk_rows)
    candidates = zip(with_one_chunk.tolist(), chunk_rows.tolist(), names, chunk_ids)
    return {node: row for node, row, name, chunk_id in candidates if name == chunk_id}


def has_chunk_nodes(graph: KnowledgeGraph) -> bool:
    """Return whether some nodes of the graph are chunks.

    They are chunks in trees and passage graphs. The nodes of trees and passage graphs have levels,
    unlike those of a knowledge graph.
    """
    table = graph.columns.nodes
    return table is not None and table.has_column("chunks") and table.has_column("level")


def node_texts(graph: KnowledgeGraph, nodes: Ids) -> list[str]:
    """Return the description of each node, or its text if it is a chunk.

    A node with neither has an empty text.
    """
    table, chunk_rows = graph.columns.nodes, chunk_nodes(graph, nodes)
    descriptions = table.texts("description", nodes) if table is not None else [""] * len(nodes)
    return [
        chunk_text(graph, chunk_rows[int(node)]) if int(node) in chunk_rows else text or ""
        for node, text in zip(nodes, descriptions)
    ]


def node_labels(graph: KnowledgeGraph, nodes: Ids) -> list[str]:
    """Return the text that an encoder reads for each node.

    The label is `name: type: description`, without the missing parts. The label of a chunk is its
    `chunk_label`, the label of a summary its text.

    >>> from core.graph.building.text_graph import assemble
    >>> from core.graph.texts import node_labels
    >>> table = {"type": ["person", ""], "description": ["A partner.", ""]}
    >>> graph = assemble("one", ["Marley", "Scrooge"], [], table, {})
    >>> node_labels(graph, [0, 1])
    ['Marley: person: A partner.', 'Scrooge']
    """
    chunk_rows = chunk_nodes(graph, nodes)
    labels = dict(zip(chunk_rows, chunk_labels(graph, list(chunk_rows.values()))))
    others = [int(node) for node in nodes if int(node) not in chunk_rows]
    if others:
        labels |= zip(others, _own_labels(graph, others))
    return [labels[int(node)] for node in nodes]


def _own_labels(graph: KnowledgeGraph, nodes: Sequence[int]) -> list[str]:
    table, names = graph.columns.nodes, graph.names(nodes)
    if table is None:
        return names
    is_summary = (
        table.numbers("level")[nodes] > 0 if table.has_column("level") else [False] * len(names)
    )
    types, descriptions = table.texts("type", nodes), table.texts("description", nodes)
    labels = []
    for name, type, text, summary in zip(names, types, descriptions, is_summary):
        labels.append(text if summary and text else ": ".join(filter(None, (name, type, text))))
    return labels


def relation_labels(graph: KnowledgeGraph, edges: Ids, name_alone: bool = False) -> list[str]:
    """Return the text that an encoder reads for each edge.

    The label is `name keywords source target description`, without the missing parts. With
    `name_alone` it is the name of the relation only, unless the graph has a single relation.

    Notes
    -----
    This follows the code of the paper In-depth Analysis of Graph-based RAG; the paper itself
    mentions only the description and the names of both ends.
    """
    heads, _, tails = graph.triples(np.asarray(edges, np.int64))
    names = relation_names(graph, edges)
    if name_alone and any(names):
        return names
    table = graph.columns.edges
    keywords, descriptions = (
        table.texts(name, edges) if table is not None else [""] * len(edges)
        for name in ("keywords", "description")
    )
    parts = zip(names, keywords, graph.names(heads), graph.names(tails), descriptions)
    return [" ".join(filter(None, edge_parts)) for edge_parts in parts]


def relation_names(graph: KnowledgeGraph, edges: Ids) -> list[str]:
    """Return the relation name of each edge.

    Names are empty if the graph has only one relation. A single relation carries no information.
    """
    if graph.n_relations < 2:
        return [""] * len(edges)
    return [
        graph.relation_names[relation]
        for relation in graph.triples(np.asarray(edges, np.int64))[1].tolist()
    ]


def relation_texts(graph: KnowledgeGraph, edges: Ids) -> list[str]:
    """Return the description of each edge, empty if it has none."""
    table = graph.columns.edges
    if table is not None:
        return [text or "" for text in table.texts("description", edges)]
    return [""] * len(edges)


def chunk_text(graph: KnowledgeGraph, row: int) -> str:
    """Return the text of a chunk; empty if the graph has no chunks."""
    return graph.columns.chunks.text("text", row) if graph.columns.chunks is not None else ""


def chunk_label(graph: KnowledgeGraph, row: int) -> str:
    """Return the text that an encoder reads for a chunk: its title and text.

    If both are equal, the label has it once.
    """
    return chunk_labels(graph, [row])[0]


def chunk_labels(graph: KnowledgeGraph, rows: Ids) -> list[str]:
    """Return the `chunk_label` of each chunk."""
    chunks = graph.columns.chunks
    if chunks is None:
        return [""] * len(rows)
    return [
        "\n".join(dict.fromkeys(filter(None, pair)))
        for pair in zip(chunks.texts("title", rows), chunks.texts("text", rows))
    ]


def chunk_title(graph: KnowledgeGraph, row: int) -> str:
    """Return the name of a chunk for display.

    It is the title of its document, or the document's id if there is no title. If the document has
    several chunks, the number of the chunk follows.

    >>> from core.graph.texts import chunk_title
    >>> chunk_title(story, 0), chunk_title(story, 3)  # the first has no title
    ('carol#0', 'The turkey')
    """
    chunks = graph.columns.chunks
    if chunks is None:
        return str(row)
    id, document, title = (
        chunks.text(name, row) if chunks.has_column(name) else ""
        for name in ("id", "document", "title")
    )
    number = id.removeprefix(document) if id.startswith(f"{document}#") else ""
    return f"{title or document or id}{' ' if title and number else ''}{number}"


def hit_titles(graph: KnowledgeGraph, kind: str, ids: Ids) -> list[str]:
    """Return the names of hits for display.

    Chunks, and nodes that are chunks, have their `chunk_title`; other hits have their `hit_names`.
    """
    if kind == "node":
        chunk_rows = chunk_nodes(graph, ids)
    elif kind == "chunk":
        chunk_rows = {int(row): int(row) for row in ids}
    else:
        chunk_rows = {}
    names = hit_names(graph, kind, ids)
    return [
        chunk_title(graph, chunk_rows[int(id)]) if int(id) in chunk_rows else name
        for id, name in zip(ids, names)
    ]


def community_text(graph: KnowledgeGraph, row: int) -> str:
    """Return the report of a community.

    If it has none, the names of its first members are returned.
    """
    table = graph.columns.communities
    if table is None:
        return ""
    return table.text("report", row) or ", ".join(
        graph.names(table.id_lists("members")[row][:MAX_LABEL_MEMBERS])
    )


def community_label(graph: KnowledgeGraph, row: int) -> str:
    """Return the text that an encoder reads for a community: its title and report."""
    table = graph.columns.communities
    if table is not None:
        return "\n".join(filter(None, (table.text("title", row), community_text(graph, row))))
    return ""


def chunks_of(graph: KnowledgeGraph, table_name: str) -> IdLists:
    """Return the rows of the chunks that mention each node or edge.

    `table_name` is “nodes” or “edges”. The lists are empty if the graph does not store chunks.
    """
    table: Table | None = getattr(graph.columns, table_name)
    if table is None or not table.has_column("chunks"):
        return IdLists(
            np.zeros((graph.n_nodes if table_name == "nodes" else graph.n_edges) + 1, np.int64),
            np.empty(0, np.int64),
        )
    return graph.derived.get_or_make("chunks of", table_name, lambda: table.id_lists("chunks"))


def n_chunks(graph: KnowledgeGraph) -> int:
    """Return the number of chunks of the graph."""
    return 0 if graph.columns.chunks is None else len(graph.columns.chunks)


def n_communities(graph: KnowledgeGraph) -> int:
    """Return the number of communities of the graph."""
    return 0 if graph.columns.communities is None else len(graph.columns.communities)


def edge_weights(graph: KnowledgeGraph) -> np.ndarray | None:
    """Return the weight of each edge, or None if edges have none.

    The weights are float64 [n_edges] and above 0.
    """
    table = graph.columns.edges
    if table is None or not table.has_column("weight"):
        return None
    return graph.derived.get_or_make(
        "weights", None, lambda: np.maximum(table.numbers("weight").astype(np.float64), 1e-9)
    )


def chunk_lists(graph: KnowledgeGraph, table_name: str, ids: Iterable[int]) -> list[list[int]]:
    """Return the rows of the chunks that mention each of some nodes or edges.

    `table_name` is “nodes” or “edges”.
    """
    rows = chunks_of(graph, table_name)
    return [rows[int(id)].tolist() for id in ids]


def hit_names(graph: KnowledgeGraph, kind: str, ids: Ids) -> list[str]:
    """Return the names of hits, which identify them.

    Nodes have their names, triples their texts, chunks their ids, and communities their titles.
    `kind` is node, triple, chunk or community.
    """
    if kind == "node":
        return graph.names(ids)
    if kind == "triple":
        return graph.triple_texts(np.asarray(ids, np.int64))
    if kind == "chunk":
        if graph.columns.chunks is not None:
            return graph.columns.chunks.texts("id", ids)
        return [str(row) for row in ids]
    table = graph.columns.communities
    return [
        (table.text("title", row) if table is not None else "") or f"Community {row}" for row in ids
    ]


def hit_texts(graph: KnowledgeGraph, kind: str, ids: Ids) -> list[str]:
    """Return the texts of hits.

    Nodes and triples have their descriptions, chunks their texts, and communities their reports.
    """
    if kind == "node":
        return node_texts(graph, ids)
    if kind == "triple":
        return relation_texts(graph, ids)
    return [(chunk_text if kind == "chunk" else community_text)(graph, row) for row in ids]
