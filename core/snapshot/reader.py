"""Reader of the states in a snapshot, which checks all values and ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from core.graph.storage.excerpt import ExcerptGraph, decode_gaps
from core.graph.texts import n_chunks, n_communities
from core.io import plain_data
from core.snapshot.writer import NODE_FIELDS, SHARED_TABLES
from core.types import (
    AnswerPoint,
    ContextTable,
    Excerpt,
    Kind,
    Path,
    Ranking,
    State,
    Step,
    Subgraph,
)

MAX_SAVED_PATH_HOPS = 64  # of a path
EARLIER_FIELD_NAMES = {"aside": "waiting"}  # present names of fields, by those of earlier versions


class StateReader(plain_data.PlainReader):
    """Reader of one snapshot, which makes states by the types that their classes declare.

    Shared objects and paths are made once. Methods raise the errors of `PlainReader`, and
    IndexError for a missing row of a table.

    Parameters
    ----------
    snapshot : the data that `core.snapshot.freeze_all` returned.
    graph : the original graph, an `ExcerptGraph`, or None; see `core.snapshot.thaw_all`.
    """

    def __init__(self, snapshot: Mapping[str, Any], graph):
        readers: dict[Any, Any] = {
            Path: self._path,
            State: self._state,
            Excerpt: self._excerpt,
            np.ndarray: _array,
        }
        readers |= {cls: partial(self._read_items, cls) for cls in (ContextTable, AnswerPoint)}
        shared_readers: dict[Any, Callable[[Any], Any]] = {
            Subgraph: self._subgraph,
            Ranking: self._ranking,
            Step: partial(self.fields, Step),
        }
        for cls, read in shared_readers.items():
            readers[cls] = partial(self._read_shared, SHARED_TABLES[cls], read)
        super().__init__(readers, EARLIER_FIELD_NAMES, strict=True)
        self._snapshot = snapshot
        self._ids = _IdTranslation(graph)
        self._shared_values: dict[tuple[str, int], Any] = {}
        self._paths = self._read_paths(snapshot["paths"])

    def _state(self, data: Mapping[str, Any]) -> State:
        state = self.fields(State, data)
        for name in NODE_FIELDS:
            if getattr(state, name):
                nodes = self._ids("node", getattr(state, name)).tolist()
                state = state.replace(**{name: tuple(nodes)})
        return state

    def _read_items(self, cls: type, data: Mapping[str, Any]) -> Any:
        """Return an object with `items`, which are ids of its `kind`."""
        value = self.fields(cls, data)
        return replace(value, items=tuple(self._ids(value.kind, value.items).tolist()))

    def _excerpt(self, data: Mapping[str, Any]) -> Excerpt:
        excerpt = self.fields(Excerpt, data)
        return replace(excerpt, chunk=int(self._ids("chunk", [excerpt.chunk])[0]))

    def _read_shared(self, table: str, read: Callable[[Any], Any], index: int) -> Any:
        """Return the object at an index of a table, which is read once."""
        if type(index) is not int or index < 0:
            raise ValueError(f"{index!r:.40} is no place in {table}")
        if (table, index) not in self._shared_values:
            self._shared_values[table, index] = read(self._snapshot[table][index])
        return self._shared_values[table, index]

    def _subgraph(self, data: Mapping[str, Any]) -> Subgraph:
        nodes, edges = decode_gaps(data["nodes"]), decode_gaps(data["edges"])
        scores = None
        if data["scores"] is not None:
            # A score that is not finite is saved as a text.
            scores = np.array([float(score) for score in data["scores"]], float)
            if len(scores) != len(nodes):
                raise ValueError("scores and nodes differ in number")
        return Subgraph(self._ids("node", nodes), self._ids("triple", edges), scores)

    def _ranking(self, data: Mapping[str, Any]) -> Ranking:
        item_kind = self.value(Kind, data["kind"])
        items = data["items"]
        scores = None if data["scores"] is None else tuple(float(score) for score in data["scores"])
        if scores is not None and len(scores) != len(items):
            raise ValueError("scores and items differ in number")
        left_out = data.get("left_out", 0)
        if type(left_out) is not int or left_out < 0:
            raise ValueError(f"{left_out!r:.40} items cannot be left out")
        if item_kind == "path":
            values = tuple(map(self._path, items))
        elif item_kind in ("node", "triple", "relation") or all(type(i) is int for i in items):
            values = tuple(self._ids(item_kind, items).tolist())
        else:
            values = self.value(Any, items)
        return Ranking(item_kind, values, scores, left_out)

    def _path(self, row: int) -> Path:
        if type(row) is not int or row < 0:
            raise ValueError(f"{row!r:.40} is no row of a path")
        return self._paths[row]

    def _read_paths(self, columns: Mapping[str, Sequence[int]]) -> list[Path]:
        """Return the path that ends with each row. `StateWriter` describes the columns."""
        paths: list[Path] = []
        edges = columns["edge"]  # -1 for the first row of a path, which has only a node
        nodes = self._ids("node", columns["node"]).tolist()
        edge_ids = iter(self._ids("triple", [edge for edge in edges if edge != -1]).tolist())
        for previous_row, node, edge, forward in zip(
            columns["before"], nodes, edges, columns["forward"], strict=True
        ):
            if (
                not -1 <= previous_row < len(paths)
                or (previous_row == -1) != (edge == -1)
                or forward not in (0, 1)
            ):
                raise ValueError("a path has no beginning")
            if previous_row < 0:
                path = Path((node,))
            else:
                path = paths[previous_row].extended(node, next(edge_ids), bool(forward))
            if len(path) > MAX_SAVED_PATH_HOPS:
                raise ValueError(f"a path has more than {MAX_SAVED_PATH_HOPS} steps")
            paths.append(path)
        return paths


class _IdTranslation:
    """Translation of saved ids to the ids of a graph.

    Saved ids are of nodes, triples, relations, passages and communities of the original graph. An
    `ExcerptGraph` has ids of its own, and arrays of the original ids, in ascending order. For the
    original graph, ids are only checked.
    """

    def __init__(self, graph):
        self._origins: dict[str, np.ndarray] = {}
        self._counts: dict[str, int] = {}
        if isinstance(graph, ExcerptGraph):
            self._origins = {
                "node": graph.origin_nodes,
                "triple": graph.origin_edges,
                "relation": graph.origin_relations,
                "chunk": graph.origin_chunks,
                "community": graph.origin_communities,
            }
        elif graph is not None:
            self._counts = {
                "node": graph.n_nodes,
                "triple": graph.n_edges,
                "relation": graph.n_relations,
                "chunk": n_chunks(graph),
                "community": n_communities(graph),
            }

    def __call__(self, kind: str, values: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return the ids in the graph. Raises ValueError for one that the graph does not have."""
        if not isinstance(values, np.ndarray) and any(type(value) is not int for value in values):
            raise ValueError(f"a {kind} is not a whole number")
        ids = np.asarray(values, np.int64)
        if kind in self._origins:
            known_ids = self._origins[kind]
            if not np.isin(ids, known_ids).all():
                raise ValueError(f"a {kind} is not in the part of the graph that was saved")
            return np.searchsorted(known_ids, ids).astype(np.int64)
        if len(ids) and (ids.min() < 0 or ids.max() >= self._counts.get(kind, 1 << 62)):
            raise ValueError(f"a {kind} is not in the graph")
        return ids


def _array(data: Mapping[str, Any]) -> np.ndarray:
    """Return an array that `StateWriter.value` saved."""
    if data["dtype"] not in ("float32", "float64", "int32", "int64", "bool"):
        raise ValueError(f"{data['dtype']!r:.40} is no type of numbers")
    numbers = np.array([float(value) for value in data["values"]])
    return numbers.astype(data["dtype"]).reshape(data["shape"])
