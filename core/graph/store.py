"""A knowledge graph on disk, opened by memory map: triples in CSR both ways, names, relation names."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath

import numpy as np

from core.errors import StoreError
from core.types import Direction, Path

VERSION = 1
META = "graph.json"  # says what the store is and which folder beside it holds the arrays
BLOB = "names.bin"
ARRAYS = ("out_indptr", "heads", "tails", "relations", "in_indptr", "in_edges", "in_heads", "name_offsets", "name_order")


@dataclass(frozen=True, eq=False)
class Graph:
    """A directed multigraph of triples.

    Edge `e` is the triple `(heads[e], relations[e], tails[e])`; edges are sorted by (head, relation, tail, line), so the
    edges out of node `v` are the ids `out_indptr[v] .. out_indptr[v + 1]`, and those into it are
    `in_edges[in_indptr[v] : in_indptr[v + 1]]`, ascending. Parallel edges are kept.
    """

    name: str
    digest: str
    direction: Direction  # the way a search should run where an instance leaves it to the graph
    relation_names: tuple[str, ...]
    out_indptr: np.ndarray  # int64 [n + 1]
    heads: np.ndarray  # int32 [m]
    tails: np.ndarray  # int32 [m]
    relations: np.ndarray  # int16 or int32 [m]
    in_indptr: np.ndarray  # int64 [n + 1]
    in_edges: np.ndarray  # int32 or int64 [m]
    in_heads: np.ndarray  # int32 [m], heads[in_edges]
    name_offsets: np.ndarray  # int64 [n + 1] into names_utf8
    name_order: np.ndarray  # int32 [n], node ids ordered by the bytes of their names
    names_utf8: np.ndarray  # uint8
    folder: FilePath | None = None

    @classmethod
    def open(cls, folder: str | FilePath) -> Graph:
        """The graph stored in `folder`. Raises StoreError where it is absent, damaged or of another version."""
        folder = FilePath(folder)
        meta = _meta(folder)
        while True:
            try:
                return cls._open(folder, meta)
            except StoreError:
                newer = _meta(folder)  # a build may have put a new store in place between our two looks
                if newer == meta:
                    raise
                meta = newer

    @classmethod
    def _open(cls, folder: FilePath, meta: dict) -> Graph:
        data = folder / meta["data"]
        try:
            arrays = {key: np.load(data / f"{key}.npy", mmap_mode="r") for key in ARRAYS}
            blob = data / BLOB
            names = np.memmap(blob, np.uint8, "r") if blob.stat().st_size else np.empty(0, np.uint8)
            graph = cls(
                meta["name"], meta["digest"], meta["direction"], tuple(meta["relations"]), names_utf8=names, folder=folder, **arrays
            )
            graph._check_sizes()
        except (OSError, ValueError, EOFError, KeyError, TypeError, IndexError) as error:
            raise StoreError(f"The graph in {folder} is damaged ({error}); build it again.") from None
        return graph

    def _check_sizes(self) -> None:
        """Raises ValueError where the arrays do not fit each other; looks at their ends only, so costs nothing."""
        n, m = self.n_nodes, self.n_edges
        sizes = {"heads": m, "relations": m, "in_edges": m, "in_heads": m, "in_indptr": n + 1, "name_offsets": n + 1, "name_order": n}
        for key, size in sizes.items():
            if len(getattr(self, key)) != size:
                raise ValueError(f"{key} holds {len(getattr(self, key))} values, not {size}")
        if int(self.out_indptr[-1]) != m or int(self.in_indptr[-1]) != m:
            raise ValueError("the edge offsets do not end at the last edge")
        if int(self.name_offsets[-1]) != len(self.names_utf8):
            raise ValueError("the name offsets do not end at the last name")

    @property
    def data_folder(self) -> FilePath:
        """The folder of the array files. Raises StoreError for a graph that is not stored."""
        if self.folder is None:
            raise StoreError(f"The graph “{self.name}” is not stored in a folder.")
        return FilePath(self.heads.filename).parent if isinstance(self.heads, np.memmap) else self.folder

    @property
    def n_nodes(self) -> int:
        return len(self.out_indptr) - 1

    @property
    def n_edges(self) -> int:
        return len(self.tails)

    @property
    def n_relations(self) -> int:
        return len(self.relation_names)

    @cached_property
    def relation_ids(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.relation_names)}

    def node_name(self, node: int) -> str:
        """The name of a node."""
        start, end = int(self.name_offsets[node]), int(self.name_offsets[node + 1])
        return bytes(self.names_utf8[start:end]).decode("utf-8")

    def names(self, nodes) -> list[str]:
        """The names of several nodes, in their order."""
        return [self.node_name(int(node)) for node in nodes]

    def relation_name(self, edge: int) -> str:
        """The relation of an edge, as a name."""
        return self.relation_names[int(self.relations[edge])]

    def resolve(self, direction: str) -> Direction:
        """`direction`, or this graph's own where it is "graph"."""
        return self.direction if direction == "graph" else direction  # type: ignore[return-value]

    def degree(self, node: int, direction: str = "both") -> int:
        """The number of edges at a node; in `both`, a self-loop counts twice."""
        out = int(self.out_indptr[node + 1] - self.out_indptr[node])
        into = int(self.in_indptr[node + 1] - self.in_indptr[node])
        return {"out": out, "in": into, "both": out + into}[self.resolve(direction)]

    def steps(self, node: int, direction: str = "both") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Every step from a node: (neighbours, edges, forward), out-edges first, each part by ascending edge id.

        A self-loop is one step forward and, in `both`, one backward.
        """
        direction = self.resolve(direction)
        start, end = int(self.out_indptr[node]), int(self.out_indptr[node + 1])
        out = np.arange(start, end, dtype=np.int64) if direction != "in" else np.empty(0, np.int64)
        here = slice(*self.in_indptr[node : node + 2]) if direction != "out" else slice(0)
        into, sources = np.asarray(self.in_edges[here], np.int64), self.in_heads[here]
        neighbours = np.concatenate([self.tails[out], sources]).astype(np.int64)
        forward = np.concatenate([np.ones(len(out), bool), np.zeros(len(into), bool)])
        return neighbours, np.concatenate([out, into]), forward

    def text(self, path: Path) -> str:
        """A path in words: `A -> r1 -> B`, a backward step as `A -> r1_reverse -> B` (paths as LEGO-GraphRAG
        prints them, backward steps with Retrieve-Rewrite-Answer's suffix)."""
        parts = [self.node_name(path.nodes[0])]
        for node, edge, forward in zip(path.nodes[1:], path.edges, path.forward):
            parts += [self.relation_name(edge) + ("" if forward else "_reverse"), self.node_name(node)]
        return " -> ".join(parts)

    def triple_text(self, edge: int) -> str:
        """A triple in words: `A -> r -> B`."""
        return f"{self.node_name(int(self.heads[edge]))} -> {self.relation_name(edge)} -> {self.node_name(int(self.tails[edge]))}"


def _meta(folder: FilePath) -> dict:
    """What `graph.json` says. Raises StoreError where it is absent, unreadable or of another version."""
    try:
        meta = json.loads((folder / META).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"There is no graph in {folder}.") from None
    except (OSError, ValueError) as error:
        raise StoreError(f"The graph in {folder} cannot be read: {error}.") from None
    if not isinstance(meta, dict) or meta.get("version") != VERSION:
        raise StoreError(f"The graph in {folder} was written by another version; build it again.")
    if not isinstance(meta.get("data"), str) or FilePath(meta["data"]).name != meta["data"]:
        raise StoreError(f"The graph in {folder} is damaged ({META} names no data folder); build it again.")
    return meta
