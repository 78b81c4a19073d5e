"""Lookups of a name in the texts of a corpus and of its graph.

They tell if a known answer could be found at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from core.graph.columns import Table
from core.graph.protocol import KnowledgeGraph
from core.languages.spelling import contains_whole, normalize, row_pattern
from core.sources import AnswerSource

MAX_CACHED_NAMES = 1024  # names whose results are cached for a graph


def is_in_corpus(source: AnswerSource, graph: KnowledgeGraph, name: str) -> bool:
    """Return whether a document contains a name's words.

    Documents that were removed from the source do not count. The result is cached with the graph.
    """
    corpus, removed = source.corpus, source.removed
    if corpus is None:
        return False
    table = corpus.table
    if removed:
        rows = [row for row, id in enumerate(table.texts("id")) if id not in removed]
        table = table.take(np.array(rows, np.int64))
    search = partial(has_name, table, ("title", "text"), name)
    return graph.derived.get_or_make(
        "in the corpus", (corpus.digest, removed, name), search, MAX_CACHED_NAMES
    )


def is_in_graph(graph: KnowledgeGraph, name: str) -> bool:
    """Return whether a chunk, a node's name or a description contains a name's words."""
    return is_in_chunks(graph, name) or is_in_nodes(graph, name)


def is_in_chunks(graph: KnowledgeGraph, name: str) -> bool:
    """Return whether a chunk contains a name's words. The result is cached with the graph."""

    def search() -> bool:
        chunks = graph.columns.chunks
        return chunks is not None and has_name(chunks, ("title", "text"), name)

    return graph.derived.get_or_make("in the chunks", name, search, MAX_CACHED_NAMES)


def is_in_nodes(graph: KnowledgeGraph, name: str) -> bool:
    """Return whether a node's name, or a description of a node or edge, contains a name's words.

    The result is cached with the graph.
    """

    def search() -> bool:
        tables = filter(None, (graph.columns.nodes, graph.columns.edges))
        if any(has_name(table, ("description",), name) for table in tables):
            return True
        return _column_holds(_node_names(graph), name)

    return graph.derived.get_or_make("in the nodes", name, search, MAX_CACHED_NAMES)


def _node_names(graph: KnowledgeGraph) -> Any:
    """Return the names of all nodes as an Arrow column."""
    import pyarrow as pa

    def make() -> Any:
        return pa.array(graph.names(range(graph.n_nodes)), pa.large_string())

    return graph.derived.get_or_make("every name", None, make)


def has_name(table: Table, fields: Sequence[str], name: str) -> bool:
    """Return whether a field of a table contains a name's words.

    Names match as in `contains_whole`.
    """
    columns = [table.arrow.column(field) for field in fields if table.has_column(field)]
    return any(_column_holds(column, name) for column in columns)


def _column_holds(column: Any, name: str) -> bool:
    """Return whether a text of an Arrow column contains a name's words."""
    import pyarrow.compute as pc

    # Compiled code preselects rows by a regular expression, and Python checks only these.
    pattern = row_pattern(normalize(name))
    if not pattern:
        return False
    rows = pc.filter(column, pc.match_substring_regex(column, pattern, ignore_case=True))
    return any(contains_whole(row.as_py(), name) for row in rows)
