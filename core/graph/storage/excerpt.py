"""Excerpts of a graph.

With them a finished run can be shown without the whole graph.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.errors import BadInput
from core.graph.columns import COLUMN_TYPES, Columns, IdLists, Table
from core.graph.store import Graph

MAX_EXCERPT_NUMBER = 1 << 62
NO_ROWS = np.empty(0, np.int64)
# Columns with ids of nodes; all other columns of ids hold ids of chunks.
NODE_ID_COLUMNS = ("members",)


def gaps(ascending: Iterable[int]) -> list[int]:
    """Return ascending integers as the first one and the differences between neighbours.

    These are small numbers, which compress well.
    """
    values = np.asarray(
        ascending if isinstance(ascending, np.ndarray) else list(ascending), np.int64
    )
    return np.diff(values, prepend=0).tolist()


def from_gaps(steps: Sequence[int], repeats: bool = False) -> np.ndarray:
    """Return the ascending numbers (int64) from the result of `gaps`.

    Raises
    ------
    ValueError
        If they are not integers, negative or not ascending.
    """
    if any(type(step) is not int or not 0 <= step < MAX_EXCERPT_NUMBER for step in steps) or (
        not repeats and 0 in steps[1:]
    ):
        raise ValueError("numbers that should ascend do not")
    if sum(steps) >= MAX_EXCERPT_NUMBER:
        raise ValueError("numbers are too large")
    return np.cumsum(np.asarray(steps, np.int64))


@dataclass(frozen=True, eq=False)
class ExcerptGraph(Graph):
    """Some nodes, edges and relations of a graph, as a graph of its own.

    Ids are 0, 1, ... in the order of the original ids, which are `origin_nodes`, `origin_edges` and
    `origin_relations` (int64, ascending). `origin` is the digest of the whole graph, and `whole`
    are its numbers of nodes, edges and relations. `degrees` returns degrees in the whole graph;
    everything else is about the excerpt alone. For a text graph, `columns` holds the rows of the
    excerpt, and `origin_chunks` and `origin_communities` are their rows in the whole graph.
    """

    origin: str = ""
    whole: tuple[int, int, int] = (0, 0, 0)
    origin_nodes: np.ndarray = None  # type: ignore[assignment]
    origin_edges: np.ndarray = None  # type: ignore[assignment]
    origin_relations: np.ndarray = None  # type: ignore[assignment]
    whole_degrees: np.ndarray = None  # type: ignore[assignment]  # int64 [2, n]: out, in
    origin_chunks: np.ndarray = field(default_factory=lambda: NO_ROWS)
    origin_communities: np.ndarray = field(default_factory=lambda: NO_ROWS)

    def degrees(self, nodes: np.ndarray, direction: str = "both") -> np.ndarray:
        """Return the degree of each node in the whole graph.

        With `both`, a self-loop counts twice.
        """
        out, into = self.whole_degrees[:, nodes]
        return {"out": out, "in": into, "both": out + into}[self.resolve(direction)]

    @classmethod
    def thaw(cls, frozen: Mapping[str, Any]) -> ExcerptGraph:
        """Return the graph described by a result of `cut_excerpt`.

        Raises
        ------
        BadInput
            If the description is damaged.
        """
        try:
            return _thaw_excerpt(frozen)
        except (
            KeyError,
            TypeError,
            ValueError,
            IndexError,
            OverflowError,
            AttributeError,
        ) as error:
            raise BadInput(
                f"The part of the graph that was saved with it is damaged ({error})."
            ) from None


def cut_excerpt(
    graph: Graph,
    nodes: Iterable[int],
    edges: Iterable[int],
    relations: Iterable[int] = (),
    chunks: Iterable[int] = (),
    communities: Iterable[int] = (),
    full: Iterable[int] | None = None,
) -> dict[str, Any]:
    """Return the excerpt of a graph in a form that JSON can hold.

    It contains the given nodes, edges, relations, chunks and communities, and those that the edges
    need. Chunks that are not in `full` (by default all are) have no text.
    """
    edges = np.array(sorted(set(map(int, edges))), np.int64)
    heads, relation_ids, tails = graph.triples(edges)
    node_ids = np.union1d(
        np.union1d(heads, tails), np.array(sorted(set(map(int, nodes))), np.int64)
    ).astype(np.int64)
    used_relations = np.union1d(
        relation_ids, np.array(sorted(set(map(int, relations))), np.int64)
    ).astype(np.int64)
    rows = {"chunks": _ascending(chunks), "communities": _ascending(communities)}
    tables = {}
    if graph.columns:
        tables = _tables(
            graph.columns,
            {"nodes": node_ids, "edges": edges, **rows},
            None if full is None else set(full),
        )
    return {
        "name": graph.name,
        "digest": graph.digest,
        "direction": graph.direction,
        "whole": [int(graph.n_nodes), int(graph.n_edges), int(graph.n_relations)],
        "nodes": gaps(node_ids),
        "names": graph.names(node_ids),
        "degrees": [graph.degrees(node_ids, direction).tolist() for direction in ("out", "in")],
        "relations": gaps(used_relations),
        "relation_names": [graph.relation_names[int(relation)] for relation in used_relations],
        "edges": gaps(edges),
        "heads": gaps(np.searchsorted(node_ids, heads)),
        "tails": np.searchsorted(node_ids, tails).tolist(),
        "kinds": np.searchsorted(used_relations, relation_ids).tolist(),
        **({"tables": tables, **{name: gaps(ids) for name, ids in rows.items()}} if tables else {}),
    }


def _ascending(ids: Iterable[int]) -> np.ndarray:
    return np.array(sorted(set(map(int, ids))), np.int64)


def _tables(
    columns: Columns, rows: Mapping[str, np.ndarray], full: set[int] | None
) -> dict[str, dict[str, list]]:
    """Return the columns of some rows in a form that JSON can hold.

    Ids outside of the excerpt are left out.
    """
    table_columns: dict[str, dict[str, list]] = {}
    for name, table in columns.tables().items():
        part, table_columns[name] = table.taken(rows[name]), {}
        for column in part.names:
            if COLUMN_TYPES[column] == "string":
                table_columns[name][column] = [text or "" for text in part.texts(column)]
            elif COLUMN_TYPES[column] == "ids":
                table_columns[name][column] = _positions(
                    part.lists(column), rows["nodes" if column in NODE_ID_COLUMNS else "chunks"]
                )
            else:
                table_columns[name][column] = part.numbers(column).tolist()
    if full is not None and "text" in table_columns.get("chunks", {}):
        texts = zip(rows["chunks"].tolist(), table_columns["chunks"]["text"])
        table_columns["chunks"]["text"] = [text if row in full else "" for row, text in texts]
    return table_columns


def _positions(lists: IdLists, new_ids: np.ndarray) -> list[list[int]]:
    """Return the positions of ids among those that are kept, row by row."""
    inside = [np.intersect1d(lists[row], new_ids) for row in range(len(lists))]
    return [np.searchsorted(new_ids, ids).tolist() for ids in inside]


def _columns(frozen: Mapping[str, Any], lengths: Mapping[str, int]) -> Columns:
    """Return the tables from a result of `cut_excerpt`.

    Raises
    ------
    ValueError, KeyError, TypeError
        If they are damaged.
    """
    tables = {}
    for name, columns in frozen.items():
        for column, values in columns.items():
            if column not in COLUMN_TYPES or len(values) != lengths[name]:
                raise ValueError(f"the table {name} does not fit")
            if COLUMN_TYPES[column] == "ids":
                for ids in values:
                    _numbers(
                        ids, len(ids), lengths["nodes" if column in NODE_ID_COLUMNS else "chunks"]
                    )
            elif not all(
                isinstance(value, str if COLUMN_TYPES[column] == "string" else int | float)
                for value in values
            ):
                raise ValueError(f"the column {column} does not hold what it should")
        tables[name] = Table.of(**columns)
    return Columns(**tables)


def _thaw_excerpt(frozen: Mapping[str, Any]) -> ExcerptGraph:
    nodes = from_gaps(frozen["nodes"])
    edges = from_gaps(frozen["edges"])
    relations = from_gaps(frozen["relations"])
    names = _texts(frozen["names"], len(nodes))
    relation_names = _texts(frozen["relation_names"], len(relations))
    heads = _numbers(from_gaps(frozen["heads"], repeats=True).tolist(), len(edges), len(nodes))
    tails = _numbers(frozen["tails"], len(edges), len(nodes))
    relation_ids = _numbers(frozen["kinds"], len(edges), len(relations))
    degrees = np.array(
        [_numbers(frozen["degrees"][side], len(nodes), MAX_EXCERPT_NUMBER) for side in (0, 1)],
        np.int64,
    )
    whole_counts = tuple(_numbers(frozen["whole"], 3, MAX_EXCERPT_NUMBER).tolist())
    chunks, communities = (from_gaps(frozen.get(name, [])) for name in ("chunks", "communities"))
    lengths = {
        "nodes": len(nodes),
        "edges": len(edges),
        "chunks": len(chunks),
        "communities": len(communities),
    }
    name, direction, origin = _texts([frozen["name"], frozen["direction"], frozen["digest"]], 3)
    if direction not in ("out", "in", "both"):
        raise ValueError(f"there is no direction “{direction}”")
    in_order = np.lexsort((np.arange(len(edges)), tails))
    utf8 = [text.encode("utf-8") for text in names]
    make_indptr = lambda end_nodes: np.concatenate(
        [[0], np.cumsum(np.bincount(end_nodes, minlength=len(nodes)))]
    ).astype(np.int64)
    return ExcerptGraph(
        name=name,
        digest=hashlib.sha256(json.dumps(frozen, sort_keys=True).encode()).hexdigest(),
        direction=direction,  # type: ignore[arg-type]
        relation_names=relation_names,
        out_indptr=make_indptr(heads),
        heads=heads.astype(np.int32),
        tails=tails.astype(np.int32),
        relations=relation_ids.astype(np.int32),
        in_indptr=make_indptr(tails),
        in_edges=in_order.astype(np.int64),
        in_heads=heads[in_order].astype(np.int32),
        name_offsets=np.cumsum([0, *map(len, utf8)], dtype=np.int64),
        name_order=np.array(sorted(range(len(utf8)), key=lambda i: (utf8[i], i)), np.int32),
        names_utf8=np.frombuffer(b"".join(utf8), np.uint8),
        origin=origin,
        whole=whole_counts,
        origin_nodes=nodes,
        origin_edges=edges,
        origin_relations=relations,
        whole_degrees=degrees,
        columns=_columns(frozen.get("tables", {}), lengths),
        origin_chunks=chunks,
        origin_communities=communities,
    )


def _texts(values: Sequence[str], count: int) -> tuple[str, ...]:
    if (
        not isinstance(values, list)
        or len(values) != count
        or not all(isinstance(value, str) for value in values)
    ):
        raise ValueError(f"{count} texts were expected")
    return tuple(values)


def _numbers(values: Sequence[int], count: int, below: int) -> np.ndarray:
    if len(values) != count or any(
        type(value) is not int or not 0 <= value < below for value in values
    ):
        raise ValueError(f"{count} numbers below {below} were expected")
    return np.array(values, np.int64)
