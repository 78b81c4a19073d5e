"""Whether documents, or the texts of a graph made of them, hold the words of a name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.diagnosis.matching import match, normalize
from core.graph.columns import Table
from core.graph.protocol import KnowledgeGraph
from core.sources import Source

REMEMBERED = 1024  # names of which it is known whether texts hold them


def in_corpus(source: Source, graph: KnowledgeGraph, name: str) -> bool:
    """Whether a document holds a name's words; looked up once for each name, and remembered beside the graph."""
    if (corpus := source.corpus) is None:
        return False
    removed, table = source.removed, corpus.table
    if removed:
        table = table.taken(
            np.array(
                [row for row, id in enumerate(table.texts("id")) if id not in removed], np.int64
            )
        )
    seek = lambda: holds(table, ("title", "text"), name)
    return graph.derived.once("in the corpus", (corpus.digest, removed, name), seek, REMEMBERED)


def in_graph(graph: KnowledgeGraph, name: str) -> bool:
    """Whether a chunk, a node's name or a description holds a name's words; looked up once for each name."""

    def seek() -> bool:
        columns, word = graph.columns, _longest(name)
        tables = [
            (columns.chunks, ("title", "text")),
            (columns.nodes, ("description",)),
            (columns.edges, ("description",)),
        ]
        if any(table is not None and holds(table, fields, name) for table, fields in tables):
            return True
        return any(match(node, name) for node in _node_names(graph) if word in node.casefold())

    return graph.derived.once("in the graph", name, seek, REMEMBERED)


def _longest(name: str) -> str:
    """The longest word of a name, casefolded, by which its texts are sought; empty where it has none."""
    return max(
        "".join(char if char.isalnum() else " " for char in name.casefold()).split(),
        key=len,
        default="",
    )


def _node_names(graph: KnowledgeGraph) -> list[str]:
    return graph.derived.once("every name", None, lambda: graph.names(range(graph.n_nodes)))


def holds(table: Table, fields: Sequence[str], name: str) -> bool:
    """Whether a row of a table holds a name's words in one of its fields, by the matching of answers.

    Rows are first sought by the longest word, by compiled code.
    """
    import pyarrow.compute as pc

    word = _longest(name)
    if not normalize(name) or not word:
        return False
    for field in fields:
        if table.has(field):
            column = table.arrow.column(field)
            rows = pc.filter(column, pc.match_substring(column, word, ignore_case=True))
            if any(match(row.as_py(), name) for row in rows):
                return True
    return False
