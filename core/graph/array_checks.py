"""Checks that the arrays of a graph store fit each other.

`Graph.open` runs them, so a damaged store raises an error there and not in the middle of a search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from core.graph.store import Graph

# Number of triples above which `check_ids` does nothing, since it reads every id.
MAX_CHECKED_STORE_TRIPLES = 1_000_000


def check_sizes(graph: Graph) -> None:
    """Check that the lengths of the arrays and tables fit each other.

    Only the lengths and the last entries are read, so this is fast for graphs of any size.

    Raises
    ------
    ValueError
        If a length does not fit.
    """
    n = graph.n_nodes
    m = graph.n_edges
    tables = graph.columns.tables()
    # `out_indptr` and `tails` are left out, because n and m are computed from their lengths.
    name_count = 0 if graph.numbered else n
    sizes = {"heads": m, "relations": m, "in_edges": m, "in_heads": m, "in_indptr": n + 1}
    sizes |= {"name_offsets": name_count + 1, "name_order": name_count}
    if graph.stored_degree_bytes is not None:
        sizes["stored_degree_bytes"] = n
    for key, size in sizes.items():
        if len(getattr(graph, key)) != size:
            raise ValueError(f"{key} holds {len(getattr(graph, key))} values, not {size}")
    for table, size in {"nodes": n, "edges": m}.items():
        if table in tables and len(tables[table]) != size:
            raise ValueError(f"the table of {table} holds {len(tables[table])} rows, not {size}")
    if int(graph.out_indptr[-1]) != m or int(graph.in_indptr[-1]) != m:
        raise ValueError("the edge offsets do not end at the last edge")
    if int(graph.name_offsets[-1]) != len(graph.names_utf8):
        raise ValueError("the name offsets do not end at the last name")


def check_ids(graph: Graph) -> None:
    """Check that offsets ascend and that all ids are in range.

    Only stores written without digests need this check. A store of more than
    `MAX_CHECKED_STORE_TRIPLES` triples is not checked, because that would take too long.

    Raises
    ------
    ValueError
        If offsets do not ascend or an id is out of range.
    """
    n = graph.n_nodes
    m = graph.n_edges
    if m > MAX_CHECKED_STORE_TRIPLES:
        return
    for key, last in {
        "out_indptr": m,
        "in_indptr": m,
        "name_offsets": len(graph.names_utf8),
    }.items():
        values = getattr(graph, key)
        if values[0] != 0 or values[-1] != last or np.any(values[1:] < values[:-1]):
            raise ValueError(f"{key} does not rise from 0 to {last}")
    for key, limit in {
        "heads": n,
        "tails": n,
        "in_heads": n,
        "name_order": n,
        "in_edges": m,
        "relations": graph.n_relations,
    }.items():
        values = getattr(graph, key)
        if len(values) and not 0 <= int(values.min()) <= int(values.max()) < limit:
            raise ValueError(f"{key} holds ids that are not in 0 to {limit - 1}")
