"""Reader of saved states, which checks the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from core.graph.storage.excerpt import ExcerptGraph, decode_gaps
from core.graph.texts import n_chunks, n_communities
from core.io import plain_data
from core.snapshot.writer import NODE_FIELDS, SHARED_TABLES
from core.types import AnswerPoint, ContextTable, Excerpt, Kind, Path, Ranking, State, Subgraph

MAX_SAVED_PATH_HOPS = 64  # most hops of a path
EARLIER_FIELD_NAMES = {
    "aside": "waiting"
}  # field names of earlier versions, with their present names


class StateReader(plain_data.PlainReader):
    """Reader of plain data into state objects, by the types that their classes declare."""

    def __init__(self, snapshot: Mapping[str, Any], graph):
        readers: dict[Any, Any] = {
            Path: self._path,
            State: self._state,
            Excerpt: self._excerpt,
            np.ndarray: _array,
        }
        readers |= {cls: partial(self._read_items, cls) for cls in (ContextTable, AnswerPoint)}
        readers |= {cls: partial(self._read_shared, cls) for cls in SHARED_TABLES}
        super().__init__(readers, EARLIER_FIELD_NAMES, strict=True)
        self._snapshot, self._ids = snapshot, _IdTranslation(graph)
        self._shared_values: dict[tuple[str, int], Any] = {}
        self._paths = self._all_paths(snapshot["paths"])

    def _state(self, data: Mapping[str, Any]) -> State:
        state = self.fields(State, data)
        return state.replace(
            **{
                name: tuple(self._ids("node", ids).tolist())
                for name in NODE_FIELDS
                if (ids := getattr(state, name))
            }
        )

    def _read_items(self, cls: type, data: Mapping[str, Any]) -> Any:
        value = self.fields(cls, data)
        return replace(value, items=tuple(self._ids(value.kind, value.items).tolist()))

    def _excerpt(self, data: Mapping[str, Any]) -> Excerpt:
        excerpt = self.fields(Excerpt, data)
        return replace(excerpt, chunk=int(self._ids("chunk", [excerpt.chunk])[0]))

    def _read_shared(self, cls: type, index: int) -> Any:
        table = SHARED_TABLES[cls]
        if type(index) is not int or index < 0:
            raise ValueError(f"{index!r:.40} is no place in {table}")
        if (table, index) not in self._shared_values:
            make = {Subgraph: self._subgraph, Ranking: self._ranking}.get(cls) or partial(
                self.fields, cls
            )
            self._shared_values[table, index] = make(self._snapshot[table][index])
        return self._shared_values[table, index]

    def _subgraph(self, data: Mapping[str, Any]) -> Subgraph:
        nodes, edges = decode_gaps(data["nodes"]), decode_gaps(data["edges"])
        if data["scores"] is None:
            scores = None
        else:
            scores = np.array([float(score) for score in data["scores"]], float)
        if scores is not None and len(scores) != len(nodes):
            raise ValueError("scores and nodes differ in number")
        return Subgraph(self._ids("node", nodes), self._ids("triple", edges), scores)

    def _ranking(self, data: Mapping[str, Any]) -> Ranking:
        item_kind, items = self.value(Kind, data["kind"]), data["items"]
        scores = None if data["scores"] is None else tuple(float(score) for score in data["scores"])
        if scores is not None and len(scores) != len(items):
            raise ValueError("scores and items differ in number")
        left_out = data.get("left_out", 0)
        if type(left_out) is not int or left_out < 0:
            raise ValueError(f"{left_out!r:.40} items cannot be left out")
        if item_kind == "path":
            return Ranking(item_kind, tuple(self._path(row) for row in items), scores, left_out)
        is_known_kind = (
            item_kind in ("node", "triple", "relation")
            or item_kind != "path"
            and all(type(item) is int for item in items)
        )
        return Ranking(
            item_kind,
            tuple(self._ids(item_kind, items).tolist())
            if is_known_kind
            else self.value(Any, items),
            scores,
            left_out,
        )

    def _path(self, row: int) -> Path:
        if type(row) is not int or row < 0:
            raise ValueError(f"{row!r:.40} is no row of a path")
        return self._paths[row]

    def _all_paths(self, columns: Mapping[str, Sequence[int]]) -> list[Path]:
        paths: list[Path] = []
        edges = columns["edge"]
        nodes = self._ids("node", columns["node"]).tolist()
        steps = iter(self._ids("triple", [edge for edge in edges if edge != -1]).tolist())
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
                path = paths[previous_row].extended(node, next(steps), bool(forward))
            if len(path) > MAX_SAVED_PATH_HOPS:
                raise ValueError(f"a path has more than {MAX_SAVED_PATH_HOPS} steps")
            paths.append(path)
        return paths


class _IdTranslation:
    """Translation of saved ids into the ids of the given graph.

    Saved ids are of nodes, triples, relations, passages and communities of the original graph. An
    excerpt has new ids; those of the whole graph are only checked.
    """

    def __init__(self, graph):
        self._origins: dict[str, np.ndarray] = {}
        self._counts: dict[str, int] = {}
        if isinstance(graph, ExcerptGraph):
            self._origins = {
                "node": graph.origin_nodes,
                "triple": graph.origin_edges,
                "relation": graph.origin_relations,
            }
            self._origins |= {"chunk": graph.origin_chunks, "community": graph.origin_communities}
        elif graph is not None:
            self._counts = {
                "node": graph.n_nodes,
                "triple": graph.n_edges,
                "relation": graph.n_relations,
            }
            self._counts |= {"chunk": n_chunks(graph), "community": n_communities(graph)}

    def __call__(self, kind: str, values: Sequence[int] | np.ndarray) -> np.ndarray:
        if not isinstance(values, np.ndarray) and any(type(value) is not int for value in values):
            raise ValueError(f"a {kind} is not a whole number")
        ids = np.asarray(values, np.int64)
        if kind in self._origins:
            known_ids = self._origins[kind]
            rows = np.searchsorted(known_ids, ids)
            if len(ids) and (
                not len(known_ids) or (known_ids[np.minimum(rows, len(known_ids) - 1)] != ids).any()
            ):
                raise ValueError(f"a {kind} is not in the part of the graph that was saved")
            return rows.astype(np.int64)
        if len(ids) and (ids.min() < 0 or ids.max() >= self._counts.get(kind, 1 << 62)):
            raise ValueError(f"a {kind} is not in the graph")
        return ids


def _array(data: Mapping[str, Any]) -> np.ndarray:
    if data["dtype"] not in ("float32", "float64", "int32", "int64", "bool"):
        raise ValueError(f"{data['dtype']!r:.40} is no type of numbers")
    return (
        np.array([float(value) for value in data["values"]])
        .astype(data["dtype"])
        .reshape(data["shape"])
    )
