"""Construction and storage of text graphs: nodes and edges with attributes, chunks and communities.

Such a graph is made from a corpus by a build, or from the files of another tool.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.errors import BadInput, StoreError
from core.graph.building.build import arrays_and_names, sort_by_name
from core.graph.columns import Columns, Table
from core.graph.storage.digest import digest_of, digest_with_columns
from core.graph.storage.store_files import clean_store, install_store, lock_store, write_store
from core.graph.store import STORE_ARRAYS, STORE_VERSION, Graph, read_meta
from core.io.durable_files import move_into_place
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
    """Build a text graph in memory from its nodes and triples, in any order.

    Ids are in the order of the names, so the same nodes and triples always give the same graph. A
    node may be isolated, and there may be no triples or even no nodes.

    Parameters
    ----------
    node_columns : attributes of the nodes, aligned with `nodes`.
    edge_columns : attributes of the edges, aligned with `triples`.
    chunks : table of the chunks to which the attributes refer, if any.

    Raises
    ------
    BadInput
        If a name or a triple is given twice, or an end of a triple is not among the nodes.

    >>> from core.graph.building.text_graph import assemble
    >>> columns = {"description": ["of b", "of a"]}, {"weight": [2.0]}
    >>> graph = assemble("two", ["b", "a"], [("b", "near", "a")], *columns)
    >>> graph.names([0, 1]), graph.columns.nodes.texts("description")
    (['a', 'b'], ['of a', 'of b'])
    >>> graph.columns.edges.numbers("weight").tolist()
    [2.0]
    """
    ids = {node: i for i, node in enumerate(nodes)}
    used_relations = dict.fromkeys(relation for _, relation, _ in triples)
    relation_ids = {relation: i for i, relation in enumerate(used_relations)}
    n_triples = len(triples)
    if len(ids) < len(nodes):
        raise BadInput(
            f"The graph “{name}” cannot be put together: a node or a triple is given twice."
        )
    try:
        triple_ids = (
            np.fromiter((ids[head] for head, _, _ in triples), np.int64, n_triples),
            np.fromiter(
                (relation_ids[relation] for _, relation, _ in triples), np.int64, n_triples
            ),
            np.fromiter((ids[tail] for _, _, tail in triples), np.int64, n_triples),
        )
    except KeyError as error:
        raise BadInput(
            f"The graph “{name}” cannot be put together: {error} is none of its nodes."
        ) from None
    names, relations, (heads, relation_column, tails) = sort_by_name(
        list(nodes), list(relation_ids), triple_ids
    )
    node_order = np.array([ids[node] for node in names], np.int64)
    edge_order = np.lexsort((tails, relation_column, heads))
    tables = (
        Table.from_columns(**node_columns).take(node_order) if node_columns else None,
        Table.from_columns(**edge_columns).take(edge_order) if edge_columns else None,
    )
    return graph_of_parts(
        name,
        names,
        relations,
        (heads[edge_order], relation_column[edge_order], tails[edge_order]),
        tables,
        chunks,
        direction,
    )


def graph_of_parts(
    name: str,
    names: list[str],
    relations: Sequence[str],
    triples: tuple[np.ndarray, np.ndarray, np.ndarray],
    tables: tuple[Table | None, Table | None],
    chunks: Table | None = None,
    direction: Direction = "both",
) -> Graph:
    """Build a text graph in memory from names and triples that are already sorted.

    Parameters
    ----------
    names : names of the nodes, sorted by code points.
    relations : names of the relations, sorted by code points.
    triples : (heads, relations, tails) as ids, ascending.
    tables : table of nodes and table of edges, aligned with `names` and `triples`; None if there
        are no attributes.
    chunks : table of the chunks to which the attributes refer, if any.

    Raises
    ------
    BadInput
        If a name or a triple is given twice.
    """
    heads, relation_column, tails = triples
    repeated = (np.diff(heads) == 0) & (np.diff(relation_column) == 0) & (np.diff(tails) == 0)
    if repeated.any() or any(name == other for name, other in zip(names, names[1:])):
        raise BadInput(
            f"The graph “{name}” cannot be put together: a node or a triple is given twice."
        )
    arrays, blob = arrays_and_names(names, triples, len(relations))
    columns = Columns(*tables, chunks)
    digest = digest_with_columns(digest_of(arrays, blob, relations, direction), columns)
    parts: dict[str, Any] = {**arrays, "names_utf8": blob}
    return Graph(name, digest, direction, tuple(relations), columns=columns, **parts)


def with_tables(graph: Graph, **tables: Table | None) -> Graph:
    """Return the graph with some tables replaced, such as communities.

    Its digest changes, and it is in memory only.

    >>> from core.graph.building.text_graph import with_tables
    >>> from core.graph.columns import Table
    >>> grouped = with_tables(toy, communities=Table.from_columns(title=["all"], members=[[0, 1, 2, 3, 4]]))
    >>> grouped.columns.communities.id_lists("members")[0].tolist(), grouped.digest == toy.digest
    ([0, 1, 2, 3, 4], False)
    """
    columns = graph.columns.replace(**tables)
    arrays = {key: getattr(graph, key) for key in STORE_ARRAYS}
    digest = digest_of(arrays, graph.names_utf8, graph.relation_names, graph.direction)
    return replace(
        graph, columns=columns, digest=digest_with_columns(digest, columns), folder=None, data=None
    )


def store_graph(graph: Graph, folder: str | FilePath) -> Graph:
    """Write a graph to `folder` and open it from there.

    An existing store stays readable until the new one is complete.

    Raises
    ------
    StoreError
        If the disk cannot be written.
    """
    folder = FilePath(folder).absolute()
    temporary = folder / TEMPORARY
    meta = {
        "version": STORE_VERSION,
        "name": graph.name,
        "digest": graph.digest,
        "direction": graph.direction,
        "relations": list(graph.relation_names),
    }
    arrays = {key: getattr(graph, key) for key in STORE_ARRAYS}
    with lock_store(folder, True):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            clean_store(folder)
            write_store(temporary, arrays, graph.names_utf8, None, graph.columns)
            install_store(folder, temporary, meta)
        except OSError as error:
            raise StoreError(
                f"The graph cannot be stored in {folder}: {error.strerror or error}."
            ) from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return Graph.open(folder)


def move_graph(temporary: str | FilePath, folder: str | FilePath) -> Graph:
    """Move the graph stored in `temporary` to `folder`, and open it there.

    The moved graph replaces the store in `folder`, and `temporary` is removed.

    Raises
    ------
    StoreError
        If the disk cannot be written.
    """
    temporary, folder = FilePath(temporary).absolute(), FilePath(folder).absolute()
    with lock_store(folder, True):
        meta = read_meta(temporary)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            clean_store(folder)
            move_into_place(temporary / meta["data"], folder / TEMPORARY)
            new_meta = {key: value for key, value in meta.items() if key != "data"}
            install_store(folder, folder / TEMPORARY, new_meta)
        except OSError as error:
            raise StoreError(
                f"The graph cannot be stored in {folder}: {error.strerror or error}."
            ) from None
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.with_name(f"{temporary.name}.lock").unlink(missing_ok=True)
    return Graph.open(folder)
