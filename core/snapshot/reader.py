"""Plain data back to carriers, checked on the way."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from core.graph.storage.excerpt import ExcerptGraph, from_gaps
from core.graph.texts import n_chunks, n_communities
from core.snapshot.writer import NODE_FIELDS, SHARED
from core.types import ContextTable, Excerpt, Path, Point, Ranking, State, Subgraph

LONGEST_PATH = 64  # steps
EARLIER = {"aside": "waiting"}  # names that fields had when states were saved by an earlier version


class Reader:
    """Plain data back to carriers, by the types that their classes declare."""

    def __init__(self, saved: Mapping[str, Any], graph):
        self._saved, self._ids = saved, _Ids(graph)
        self._made: dict[tuple[str, int], Any] = {}
        self._paths = self._all_paths(saved["paths"])

    def fields(self, cls: type, saved: Mapping[str, Any]) -> Any:
        """A carrier from its fields."""
        hints, saved = _hints(cls), {EARLIER.get(name, name): value for name, value in saved.items()}
        unknown = set(saved) - set(hints)
        if unknown:
            raise ValueError(f"{cls.__name__} has no field {min(unknown)!r}")
        made = {name: self.value(hints[name], value) for name, value in saved.items()}
        if issubclass(cls, State):
            made |= {name: tuple(self._ids("node", made[name]).tolist()) for name in NODE_FIELDS if made.get(name)}
        if issubclass(cls, (ContextTable, Point)):
            made["items"] = tuple(self._ids(made["kind"], made["items"]).tolist())
        if issubclass(cls, Excerpt):
            made["chunk"] = int(self._ids("chunk", [made["chunk"]])[0])
        return cls(**made)

    def value(self, hint: Any, saved: Any) -> Any:
        """A value of the type `hint`."""
        origin, parts = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            return None if saved is None else self.value(next(part for part in parts if part is not type(None)), saved)
        if hint is Any:
            return tuple(self.value(Any, item) for item in saved) if isinstance(saved, list) else saved
        if origin is tuple:
            item_types = [parts[0]] * len(saved) if len(parts) == 2 and parts[1] is ... else parts
            return tuple(self.value(item_type, item) for item_type, item in zip(item_types, saved, strict=True))
        if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
            return {str(key): self.value(parts[1], item) for key, item in saved.items()}
        if hint is Path:
            return self._path(saved)
        if hint in SHARED:
            return self._shared(hint, saved)
        if hint is np.ndarray:
            return np.array([float(v) for v in saved["values"]]).astype(_dtype(saved["dtype"])).reshape(saved["shape"])
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            return self.fields(hint, saved)
        if hint is float:
            return float(saved)
        if (hint in (int, str, bool) and type(saved) is not hint) or (origin is typing.Literal and saved not in parts):
            raise ValueError(f"{saved!r:.40} was not expected")
        return saved

    def _shared(self, cls: type, place: int) -> Any:
        table = SHARED[cls]
        if type(place) is not int or place < 0:
            raise ValueError(f"{place!r:.40} is no place in {table}")
        if (table, place) not in self._made:
            saved = self._saved[table][place]
            make = {"subgraphs": self._subgraph, "rankings": self._ranking}.get(table)
            self._made[table, place] = make(saved) if make else self.fields(cls, saved)
        return self._made[table, place]

    def _subgraph(self, saved: Mapping[str, Any]) -> Subgraph:
        nodes, edges = from_gaps(saved["nodes"]), from_gaps(saved["edges"])
        scores = None if saved["scores"] is None else np.array([float(score) for score in saved["scores"]], float)
        if scores is not None and len(scores) != len(nodes):
            raise ValueError("scores and nodes differ in number")
        return Subgraph(self._ids("node", nodes), self._ids("triple", edges), scores)

    def _ranking(self, saved: Mapping[str, Any]) -> Ranking:
        item_kind, items = self.value(_hints(Ranking)["kind"], saved["kind"]), saved["items"]
        scores = None if saved["scores"] is None else tuple(float(score) for score in saved["scores"])
        if scores is not None and len(scores) != len(items):
            raise ValueError("scores and items differ in number")
        if item_kind == "path":
            return Ranking(item_kind, tuple(self._path(row) for row in items), scores)
        known = item_kind in ("node", "triple", "relation") or item_kind != "path" and all(type(item) is int for item in items)
        return Ranking(item_kind, tuple(self._ids(item_kind, items).tolist()) if known else self.value(Any, items), scores)

    def _path(self, row: int) -> Path:
        if type(row) is not int or row < 0:
            raise ValueError(f"{row!r:.40} is no row of a path")
        return self._paths[row]

    def _all_paths(self, columns: Mapping[str, Sequence[int]]) -> list[Path]:
        paths: list[Path] = []
        edges = columns["edge"]
        nodes = self._ids("node", columns["node"]).tolist()
        steps = iter(self._ids("triple", [edge for edge in edges if edge != -1]).tolist())
        for before, node, edge, forward in zip(columns["before"], nodes, edges, columns["forward"], strict=True):
            if not -1 <= before < len(paths) or (before == -1) != (edge == -1) or forward not in (0, 1):
                raise ValueError("a path has no beginning")
            path = Path((node,)) if before < 0 else paths[before].extended(node, next(steps), bool(forward))
            if len(path) > LONGEST_PATH:
                raise ValueError(f"a path has more than {LONGEST_PATH} steps")
            paths.append(path)
        return paths


class _Ids:
    """Ids of nodes, triples or relations of the graph a run was made on, as the given graph has them."""

    def __init__(self, graph):
        self._known: dict[str, np.ndarray] = {}
        self._counts: dict[str, int] = {}
        if isinstance(graph, ExcerptGraph):
            self._known = {"node": graph.origin_nodes, "triple": graph.origin_edges, "relation": graph.origin_relations}
            self._known |= {"chunk": graph.origin_chunks, "community": graph.origin_communities}
        elif graph is not None:
            self._counts = {"node": graph.n_nodes, "triple": graph.n_edges, "relation": graph.n_relations}
            self._counts |= {"chunk": n_chunks(graph), "community": n_communities(graph)}

    def __call__(self, of: str, values: Sequence[int] | np.ndarray) -> np.ndarray:
        if not isinstance(values, np.ndarray) and any(type(value) is not int for value in values):
            raise ValueError(f"a {of} is not a whole number")
        ids = np.asarray(values, np.int64)
        if of in self._known:
            known = self._known[of]
            places = np.searchsorted(known, ids)
            if len(ids) and (not len(known) or (known[np.minimum(places, len(known) - 1)] != ids).any()):
                raise ValueError(f"a {of} is not in the part of the graph that was saved")
            return places.astype(np.int64)
        if len(ids) and (ids.min() < 0 or ids.max() >= self._counts.get(of, 1 << 62)):
            raise ValueError(f"a {of} is not in the graph")
        return ids


@cache
def _hints(cls: type) -> dict[str, Any]:
    known = typing.get_type_hints(cls)
    return {field.name: known[field.name] for field in dataclasses.fields(cls)}


def _dtype(name: str) -> np.dtype:
    if name not in ("float32", "float64", "int32", "int64", "bool"):
        raise ValueError(f"{name!r:.40} is no type of numbers")
    return np.dtype(name)
