"""Excerpts of a graph: the part that a saved comparison shows, stored with it as JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.errors import BadInput
from core.graph.columns import COLUMN_TYPES, Columns, IdLists, Table, row_offsets
from core.graph.store import Graph

# Numbers in an excerpt are below this bound, which int64 holds with room for sums of two.
MAX_EXCERPT_NUMBER = 1 << 62
NO_ROWS = np.empty(0, np.int64)
# Columns with ids of nodes; all other columns of ids hold ids of chunks.
NODE_ID_COLUMNS = ("members",)


def encode_gaps(ascending: Iterable[int]) -> list[int]:
    """Encode ascending integers as the first one and the differences between neighbours.

    The differences are small numbers, which compress well.
    """
    return np.diff(np.fromiter(ascending, np.int64), prepend=0).tolist()


def decode_gaps(steps: Sequence[int], repeats: bool = False) -> np.ndarray:
    """Return the ascending numbers (int64) from the result of `encode_gaps`.

    Numbers may only occur twice if `repeats` is True.

    Raises
    ------
    ValueError
        If the numbers are not integers, negative, too large or not ascending.
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

    Ids are 0, 1, ... in the order of the ids in the original graph, which are `origin_nodes`,
    `origin_edges` and `origin_relations` (int64, ascending). `origin` is the digest of the original
    graph, and `original_counts` holds its numbers of nodes, edges and relations. `degrees` returns
    degrees in the original graph; everything else is about the excerpt alone. For a text graph,
    `columns` holds the rows of the excerpt, and `origin_chunks` and `origin_communities` (int64)
    are their rows in the original graph.
    """

    origin: str = ""
    original_counts: tuple[int, int, int] = (0, 0, 0)
    origin_nodes: np.ndarray = None  # type: ignore[assignment]
    origin_edges: np.ndarray = None  # type: ignore[assignment]
    origin_relations: np.ndarray = None  # type: ignore[assignment]
    original_degrees: np.ndarray = None  # type: ignore[assignment]  # int64 [2, nodes]: out, in
    origin_chunks: np.ndarray = field(default_factory=lambda: NO_ROWS)
    origin_communities: np.ndarray = field(default_factory=lambda: NO_ROWS)

    def degrees(self, nodes: np.ndarray, direction: str = "both") -> np.ndarray:
        """Return the degree of each node in the original graph.

        In the direction `both`, a self-loop counts twice.
        """
        out, incoming = self.original_degrees[:, nodes]
        return {"out": out, "in": incoming, "both": out + incoming}[self.resolve(direction)]

    @classmethod
    def thaw(cls, frozen: Mapping[str, Any]) -> ExcerptGraph:
        """Return the excerpt from the result of `cut_excerpt`.

        The result may have been saved as JSON.

        Raises
        ------
        BadInput
            If the saved excerpt is damaged.
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
    chunks_with_text: Iterable[int] | None = None,
) -> dict[str, Any]:
    """Return an excerpt of a graph as plain values for JSON.

    The excerpt contains the given nodes, edges, relations, chunks and communities (ids), and the
    nodes and relations of the edges. Only chunks in `chunks_with_text` have their text; None stands
    for all chunks.
    """
    edges = _sort_ids(edges)
    heads, relation_ids, tails = graph.triples(edges)
    node_ids = np.union1d(np.union1d(heads, tails), _sort_ids(nodes))
    used_relations = np.union1d(relation_ids, _sort_ids(relations))
    rows = {"chunks": _sort_ids(chunks), "communities": _sort_ids(communities)}
    tables = {}
    if graph.columns:
        table_rows = {"nodes": node_ids, "edges": edges, **rows}
        tables = _cut_tables(
            graph.columns, table_rows, None if chunks_with_text is None else set(chunks_with_text)
        )
    excerpt = {
        "name": graph.name,
        "digest": graph.digest,
        "direction": graph.direction,
        "whole": [int(graph.n_nodes), int(graph.n_edges), int(graph.n_relations)],
        "nodes": encode_gaps(node_ids),
        "names": graph.names(node_ids),
        "degrees": [graph.degrees(node_ids, direction).tolist() for direction in ("out", "in")],
        "relations": encode_gaps(used_relations),
        "relation_names": [graph.relation_names[int(relation)] for relation in used_relations],
        "edges": encode_gaps(edges),
        "heads": encode_gaps(np.searchsorted(node_ids, heads)),
        "tails": np.searchsorted(node_ids, tails).tolist(),
        "kinds": np.searchsorted(used_relations, relation_ids).tolist(),
    }
    if tables:
        excerpt["tables"] = tables
        excerpt |= {name: encode_gaps(ids) for name, ids in rows.items()}
    return excerpt


def _sort_ids(ids: Iterable[int]) -> np.ndarray:
    """Return ids as int64, ascending and each once."""
    return np.array(sorted(set(map(int, ids))), np.int64)


def _cut_tables(
    columns: Columns, rows: Mapping[str, np.ndarray], chunks_with_text: set[int] | None
) -> dict[str, dict[str, list]]:
    """Return some rows of the tables as plain values for JSON: table -> column -> values.

    Ids outside of the excerpt are left out of columns of ids.

    Parameters
    ----------
    rows : table -> int64, ids of the rows in the excerpt.
    chunks_with_text : ids of the chunks that have their text, or None for all.
    """
    tables: dict[str, dict[str, list]] = {}
    for name, table in columns.tables().items():
        part, part_columns = table.take(rows[name]), dict[str, list]()
        for column in part.names:
            if COLUMN_TYPES[column] == "string":
                part_columns[column] = [text or "" for text in part.texts(column)]
            elif COLUMN_TYPES[column] == "ids":
                retained_ids = rows["nodes" if column in NODE_ID_COLUMNS else "chunks"]
                part_columns[column] = _renumber(part.id_lists(column), retained_ids)
            else:
                part_columns[column] = part.numbers(column).tolist()
        tables[name] = part_columns
    if chunks_with_text is not None and "text" in tables.get("chunks", {}):
        texts = zip(rows["chunks"].tolist(), tables["chunks"]["text"])
        tables["chunks"]["text"] = [text if row in chunks_with_text else "" for row, text in texts]
    return tables


def _renumber(lists: IdLists, retained_ids: np.ndarray) -> list[list[int]]:
    """Replace ids by their positions among `retained_ids`, and drop all other ids."""
    rows = (np.intersect1d(lists[row], retained_ids) for row in range(len(lists)))
    return [np.searchsorted(retained_ids, ids).tolist() for ids in rows]


def _thaw_columns(frozen: Mapping[str, Any], lengths: Mapping[str, int]) -> Columns:
    """Return the tables from a result of `cut_excerpt`.

    `lengths` holds the number of rows of each table.

    Raises
    ------
    ValueError, KeyError, TypeError
        If the tables are damaged.
    """
    tables = {}
    for name, columns in frozen.items():
        for column, values in columns.items():
            if column not in COLUMN_TYPES or len(values) != lengths[name]:
                raise ValueError(f"the table {name} does not fit")
            if COLUMN_TYPES[column] == "ids":
                limit = lengths["nodes" if column in NODE_ID_COLUMNS else "chunks"]
                for ids in values:
                    _check_numbers(ids, len(ids), limit)
                continue
            value_type = str if COLUMN_TYPES[column] == "string" else int | float
            if not all(isinstance(value, value_type) for value in values):
                raise ValueError(f"the column {column} does not hold what it should")
        tables[name] = Table.from_columns(**columns)
    return Columns(**tables)


def _thaw_excerpt(frozen: Mapping[str, Any]) -> ExcerptGraph:
    """Return the excerpt from a result of `cut_excerpt`.

    The errors vary if it is damaged.
    """
    nodes = decode_gaps(frozen["nodes"])
    edges = decode_gaps(frozen["edges"])
    relations = decode_gaps(frozen["relations"])
    names = _check_texts(frozen["names"], len(nodes))
    relation_names = _check_texts(frozen["relation_names"], len(relations))
    heads = decode_gaps(frozen["heads"], repeats=True).tolist()
    heads = _check_numbers(heads, len(edges), len(nodes))
    tails = _check_numbers(frozen["tails"], len(edges), len(nodes))
    relation_ids = _check_numbers(frozen["kinds"], len(edges), len(relations))
    degrees = np.stack(
        [_check_numbers(frozen["degrees"][side], len(nodes), MAX_EXCERPT_NUMBER) for side in (0, 1)]
    )
    original_counts = tuple(_check_numbers(frozen["whole"], 3, MAX_EXCERPT_NUMBER).tolist())
    chunks, communities = (decode_gaps(frozen.get(name, [])) for name in ("chunks", "communities"))
    lengths = {
        "nodes": len(nodes),
        "edges": len(edges),
        "chunks": len(chunks),
        "communities": len(communities),
    }
    name, direction, origin = _check_texts(
        [frozen["name"], frozen["direction"], frozen["digest"]], 3
    )
    if direction not in ("out", "in", "both"):
        raise ValueError(f"there is no direction “{direction}”")
    in_order = np.lexsort((np.arange(len(edges)), tails))
    utf8 = [text.encode("utf-8") for text in names]
    return ExcerptGraph(
        name=name,
        digest=hashlib.sha256(json.dumps(frozen, sort_keys=True).encode()).hexdigest(),
        direction=direction,  # type: ignore[arg-type]
        relation_names=relation_names,
        out_indptr=row_offsets(np.bincount(heads, minlength=len(nodes))),
        heads=heads.astype(np.int32),
        tails=tails.astype(np.int32),
        relations=relation_ids.astype(np.int32),
        in_indptr=row_offsets(np.bincount(tails, minlength=len(nodes))),
        in_edges=in_order.astype(np.int64),
        in_heads=heads[in_order].astype(np.int32),
        name_offsets=np.cumsum([0, *map(len, utf8)], dtype=np.int64),
        name_order=np.array(sorted(range(len(utf8)), key=lambda i: (utf8[i], i)), np.int32),
        names_utf8=np.frombuffer(b"".join(utf8), np.uint8),
        origin=origin,
        original_counts=original_counts,
        origin_nodes=nodes,
        origin_edges=edges,
        origin_relations=relations,
        original_degrees=degrees,
        columns=_thaw_columns(frozen.get("tables", {}), lengths),
        origin_chunks=chunks,
        origin_communities=communities,
    )


def _check_texts(values: Sequence[str], count: int) -> tuple[str, ...]:
    """Return the texts, or raise ValueError if they are not `count` texts."""
    if (
        not isinstance(values, list)
        or len(values) != count
        or not all(isinstance(value, str) for value in values)
    ):
        raise ValueError(f"{count} texts were expected")
    return tuple(values)


def _check_numbers(values: Sequence[int], count: int, below: int) -> np.ndarray:
    """Return the numbers as int64, or raise ValueError.

    There must be `count` of them, all integers from 0 and less than `below`.
    """
    if len(values) != count or any(
        type(value) is not int or not 0 <= value < below for value in values
    ):
        raise ValueError(f"{count} numbers below {below} were expected")
    return np.array(values, np.int64)
