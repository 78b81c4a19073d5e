"""A graph made of texts: put together from named nodes, triples and what is told of each, and stored."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.errors import BadInput, StoreError
from core.graph.building.build import arrays_and_names, by_name
from core.graph.columns import Columns, Table
from core.graph.storage.digest import digest_of, with_columns
from core.graph.storage.write import clean, locked, place, write
from core.graph.store import ARRAYS, VERSION, Graph, read_meta
from core.io.durable import move
from core.io.folders import TEMPORARY
from core.types import Direction

Triple = tuple[str, str, str]


def assemble(
    name: str,
    nodes: Sequence[str],
    triples: Sequence[Triple],
    node_columns: Mapping[str, Sequence[Any]],
    edge_columns: Mapping[str, Sequence[Any]],
    chunks: Table | None = None,
    direction: Direction = "both",
) -> Graph:
    """The graph of these nodes and triples in memory. `node_columns` are aligned with `nodes`, `edge_columns` with `triples`; ids go by
    name, so the same in any order gives the same graph. A node may stand alone, and there may be no triple, or not even a node.

    Raises BadInput for a name or a triple given twice, and for a triple whose end is none of the nodes.

    >>> from core.graph.building.text_graph import assemble
    >>> graph = assemble("two", ["b", "a"], [("b", "near", "a")], {"description": ["of b", "of a"]}, {"weight": [2.0]})
    >>> graph.names([0, 1]), graph.columns.nodes.texts("description"), graph.columns.edges.numbers("weight").tolist()
    (['a', 'b'], ['of a', 'of b'], [2.0])
    """
    ids, relation_ids = (
        {node: i for i, node in enumerate(nodes)},
        {r: i for i, r in enumerate(dict.fromkeys(r for _, r, _ in triples))},
    )
    if len(ids) < len(nodes):
        raise BadInput(
            f"The graph “{name}” cannot be put together: a node or a triple is given twice."
        )
    try:
        given = tuple(
            np.fromiter(ends, np.int64, len(triples))
            for ends in (
                (ids[h] for h, _, _ in triples),
                (relation_ids[r] for _, r, _ in triples),
                (ids[t] for _, _, t in triples),
            )
        )
    except KeyError as error:
        raise BadInput(
            f"The graph “{name}” cannot be put together: {error} is none of its nodes."
        ) from None
    names, relations, (heads, rel, tails) = by_name(list(nodes), list(relation_ids), given)
    node_order, edge_order = (
        np.array([ids[node] for node in names], np.int64),
        np.lexsort((tails, rel, heads)),
    )
    tables = (
        Table.of(**node_columns).taken(node_order) if node_columns else None,
        Table.of(**edge_columns).taken(edge_order) if edge_columns else None,
    )
    return assembled(
        name,
        names,
        relations,
        (heads[edge_order], rel[edge_order], tails[edge_order]),
        tables,
        chunks,
        direction,
    )


def assembled(
    name: str,
    names: list[str],
    relations: Sequence[str],
    triples: tuple[np.ndarray, np.ndarray, np.ndarray],
    tables: tuple[Table | None, Table | None],
    chunks: Table | None = None,
    direction: Direction = "both",
) -> Graph:
    """As `assemble`, of what is in its order: the names of nodes and of relations by code points, the triples (heads, relations, tails)
    as numbers of these, ascending, and the tables of nodes and edges. Raises BadInput for a name or a triple given twice."""
    heads, rel, tails = triples
    twice = (np.diff(heads) == 0) & (np.diff(rel) == 0) & (np.diff(tails) == 0)
    if twice.any() or any(one == other for one, other in zip(names, names[1:])):
        raise BadInput(
            f"The graph “{name}” cannot be put together: a node or a triple is given twice."
        )
    arrays, blob = arrays_and_names(names, triples, len(relations))
    columns = Columns(*tables, chunks)
    digest = with_columns(digest_of(arrays, blob, relations, direction), columns)
    parts: dict[str, Any] = {**arrays, "names_utf8": blob}
    return Graph(name, digest, direction, tuple(relations), columns=columns, **parts)


def with_tables(graph: Graph, **tables: Table | None) -> Graph:
    """The graph with other tables in the place of some, such as communities; its digest follows.

    >>> from core.graph.building.text_graph import with_tables
    >>> from core.graph.columns import Table
    >>> grouped = with_tables(toy, communities=Table.of(title=["all"], members=[[0, 1, 2, 3, 4]]))
    >>> grouped.columns.communities.lists("members")[0].tolist(), grouped.digest == toy.digest
    ([0, 1, 2, 3, 4], False)
    """
    columns = graph.columns.replace(**tables)
    arrays = {key: getattr(graph, key) for key in ARRAYS}
    digest = digest_of(arrays, graph.names_utf8, graph.relation_names, graph.direction)
    return replace(
        graph, columns=columns, digest=with_columns(digest, columns), folder=None, data=None
    )


def store(graph: Graph, folder: str | FilePath) -> Graph:
    """The graph written to `folder` and opened from there; what was there stays readable until the new one is whole. Raises StoreError."""
    folder = FilePath(folder).absolute()
    temporary = folder / TEMPORARY
    relations = list(graph.relation_names)
    meta = {
        "version": VERSION,
        "name": graph.name,
        "digest": graph.digest,
        "direction": graph.direction,
        "relations": relations,
    }
    with locked(folder, True):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            clean(folder)
            write(
                temporary,
                {key: getattr(graph, key) for key in ARRAYS},
                graph.names_utf8,
                None,
                graph.columns,
            )
            place(folder, temporary, meta)
        except OSError as error:
            raise StoreError(
                f"The graph cannot be stored in {folder}: {error.strerror or error}."
            ) from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return Graph.open(folder)


def moved(temporary: str | FilePath, folder: str | FilePath) -> Graph:
    """The graph stored in `temporary` put into `folder`, in the place of what was there, and opened there; `temporary` is removed. Raises
    StoreError."""
    temporary, folder = FilePath(temporary).absolute(), FilePath(folder).absolute()
    with locked(folder, True):
        meta = read_meta(temporary)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            clean(folder)
            move(temporary / meta["data"], folder / TEMPORARY)
            place(
                folder,
                folder / TEMPORARY,
                {key: value for key, value in meta.items() if key != "data"},
            )
        except OSError as error:
            raise StoreError(
                f"The graph cannot be stored in {folder}: {error.strerror or error}."
            ) from None
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.with_name(f"{temporary.name}.lock").unlink(missing_ok=True)
    return Graph.open(folder)
