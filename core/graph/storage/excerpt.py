"""A small graph cut out of a large one, so that a finished run can be shown where the large one is not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.errors import BadInput
from core.graph.store import Graph

LARGEST = 1 << 62


def gaps(ascending: Iterable[int]) -> list[int]:
    """Ascending whole numbers as the first one and the steps from each to the next: small numbers, which compress well."""
    values = np.asarray(ascending if isinstance(ascending, np.ndarray) else list(ascending), np.int64)
    return np.diff(values, prepend=0).tolist()


def from_gaps(steps: Sequence[int], repeats: bool = False) -> np.ndarray:
    """The ascending numbers (int64) of `gaps`. Raises ValueError where they are not whole, at least 0 and ascending."""
    if any(type(step) is not int or not 0 <= step < LARGEST for step in steps) or (not repeats and 0 in steps[1:]):
        raise ValueError("numbers that should ascend do not")
    if sum(steps) >= LARGEST:
        raise ValueError("numbers are too large")
    return np.cumsum(np.asarray(steps, np.int64))


@dataclass(frozen=True, eq=False)
class ExcerptGraph(Graph):
    """Some nodes, edges and relations of a graph as a graph of its own, with ids 0, 1, ... in the order of the old ones.

    `origin_nodes`, `origin_edges` and `origin_relations` (int64, ascending) are the ids in the whole graph, whose digest
    is `origin` and whose counts are `whole` (nodes, edges, relations). `degrees` tells the number of edges in the whole
    graph; everything else is about the excerpt alone.
    """

    origin: str = ""
    whole: tuple[int, int, int] = (0, 0, 0)
    origin_nodes: np.ndarray = None  # type: ignore[assignment]
    origin_edges: np.ndarray = None  # type: ignore[assignment]
    origin_relations: np.ndarray = None  # type: ignore[assignment]
    whole_degrees: np.ndarray = None  # type: ignore[assignment]  # int64 [2, n]: out, in

    def degrees(self, nodes: np.ndarray, direction: str = "both") -> np.ndarray:
        """The number of edges at each node in the whole graph; in `both`, a self-loop counts twice."""
        out, into = self.whole_degrees[:, nodes]
        return {"out": out, "in": into, "both": out + into}[self.resolve(direction)]

    @classmethod
    def thaw(cls, frozen: Mapping[str, Any]) -> ExcerptGraph:
        """The graph that `cut` describes. Raises BadInput where the description is damaged."""
        try:
            return _made(frozen)
        except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
            raise BadInput(f"The part of the graph that was saved with it is damaged ({error}).") from None


def cut(graph: Graph, nodes: Iterable[int], edges: Iterable[int], relations: Iterable[int] = ()) -> dict[str, Any]:
    """The excerpt of a graph as JSON can hold it: these nodes, edges and relations, and those that the edges need."""
    edges = np.array(sorted(set(map(int, edges))), np.int64)
    heads, relation_ids, tails = graph.triples(edges)
    kept = np.union1d(np.union1d(heads, tails), np.array(sorted(set(map(int, nodes))), np.int64)).astype(np.int64)
    used = np.union1d(relation_ids, np.array(sorted(set(map(int, relations))), np.int64)).astype(np.int64)
    return {
        "name": graph.name,
        "digest": graph.digest,
        "direction": graph.direction,
        "whole": [int(graph.n_nodes), int(graph.n_edges), int(graph.n_relations)],
        "nodes": gaps(kept),
        "names": graph.names(kept),
        "degrees": [graph.degrees(kept, way).tolist() for way in ("out", "in")],
        "relations": gaps(used),
        "relation_names": [graph.relation_names[int(relation)] for relation in used],
        "edges": gaps(edges),
        "heads": gaps(np.searchsorted(kept, heads)),
        "tails": np.searchsorted(kept, tails).tolist(),
        "kinds": np.searchsorted(used, relation_ids).tolist(),
    }


def _made(frozen: Mapping[str, Any]) -> ExcerptGraph:
    nodes, edges, relations = from_gaps(frozen["nodes"]), from_gaps(frozen["edges"]), from_gaps(frozen["relations"])
    names, relation_names = _texts(frozen["names"], len(nodes)), _texts(frozen["relation_names"], len(relations))
    heads = _places(from_gaps(frozen["heads"], repeats=True).tolist(), len(edges), len(nodes))
    tails, relation_ids = _places(frozen["tails"], len(edges), len(nodes)), _places(frozen["kinds"], len(edges), len(relations))
    degrees = np.array([_places(frozen["degrees"][way], len(nodes), LARGEST) for way in (0, 1)], np.int64)
    whole = tuple(_places(frozen["whole"], 3, LARGEST).tolist())
    name, direction, origin = _texts([frozen["name"], frozen["direction"], frozen["digest"]], 3)
    if direction not in ("out", "in", "both"):
        raise ValueError(f"there is no direction “{direction}”")
    into = np.lexsort((np.arange(len(edges)), tails))
    utf8 = [text.encode("utf-8") for text in names]
    ends = lambda places: np.concatenate([[0], np.cumsum(np.bincount(places, minlength=len(nodes)))]).astype(np.int64)
    return ExcerptGraph(
        name=name,
        digest=hashlib.sha256(json.dumps(frozen, sort_keys=True).encode()).hexdigest(),
        direction=direction,  # type: ignore[arg-type]
        relation_names=relation_names,
        out_indptr=ends(heads),
        heads=heads.astype(np.int32),
        tails=tails.astype(np.int32),
        relations=relation_ids.astype(np.int32),
        in_indptr=ends(tails),
        in_edges=into.astype(np.int64),
        in_heads=heads[into].astype(np.int32),
        name_offsets=np.cumsum([0, *map(len, utf8)], dtype=np.int64),
        name_order=np.array(sorted(range(len(utf8)), key=lambda i: (utf8[i], i)), np.int32),
        names_utf8=np.frombuffer(b"".join(utf8), np.uint8),
        origin=origin,
        whole=whole,
        origin_nodes=nodes,
        origin_edges=edges,
        origin_relations=relations,
        whole_degrees=degrees,
    )


def _texts(values: Sequence[str], count: int) -> tuple[str, ...]:
    if not isinstance(values, list) or len(values) != count or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{count} texts were expected")
    return tuple(values)


def _places(values: Sequence[int], count: int, below: int) -> np.ndarray:
    if len(values) != count or any(type(value) is not int or not 0 <= value < below for value in values):
        raise ValueError(f"{count} numbers below {below} were expected")
    return np.array(values, np.int64)
