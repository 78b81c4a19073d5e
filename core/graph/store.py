"""A knowledge graph on disk, opened by memory map: triples in CSR both ways, names, relation names."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.errors import StoreError, damage
from core.graph import columns, degrees
from core.graph.columns import Columns, advise
from core.graph.fitting import check_ids, check_sizes
from core.graph.protocol import Fetched, KnowledgeGraph, Shape, Steps
from core.io import digests
from core.io.home import graphs_folder
from core.types import Direction

VERSION = 1
META = "graph.json"  # says what the store is and which folder beside it holds the arrays
BLOB = "names.bin"
OFFSETS = "offsets.npy"  # int64 [n + 1, 2], out_indptr and in_indptr: both of a node on one page; stores of before hold two files
COLUMNS = "columns"  # the folder of the tables of a graph made of texts; absent for one of triples
LADYBUG = "cypher"  # the kind of store of graphs that earlier versions kept in a Ladybug database
LADYBUG_PACKAGE = "ladybug==0.22.0"  # the last release that such graphs were written with
DEGREES = "degree_bytes.npy"  # made from other arrays, and absent from stores of before
AT_RANDOM = 1 << 28  # bytes of an array from which on it is not read ahead
PAGE = 4096  # bytes
LARGE = 200_000  # names; those of a graph of more are searched on disk, by compiled code
BUSIEST = 8  # nodes told as the best connected
LOOPS_UP_TO = 50_000_000  # triples; counting self-loops reads them all
ARRAYS = (
    "out_indptr",
    "heads",
    "tails",
    "relations",
    "in_indptr",
    "in_edges",
    "in_heads",
    "name_offsets",
    "name_order",
)


@dataclass(frozen=True, eq=False)
class Graph(KnowledgeGraph):
    """A directed multigraph of triples, as arrays.

    Edge `e` is the triple `(heads[e], relations[e], tails[e])`; edges are sorted by (head, relation, tail), so the
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
    name_offsets: np.ndarray  # int64 [n + 1] into names_utf8; [0] where the nodes are only numbered
    name_order: (
        np.ndarray
    )  # int32 [n], node ids ordered by the bytes of their names; empty where they are only numbered
    names_utf8: np.ndarray  # uint8
    folder: FilePath | None = None
    data: FilePath | None = None  # the folder of the array files within it
    columns: Columns = columns.NONE
    stored_degree_bytes: np.ndarray | None = (
        None  # uint8 [n], what `degree_bytes` tells; None where the store was written without it
    )
    edited_from: Any = None
    live: Any = None
    fetched: Fetched | None = None
    later: digests.Later | None = (
        None  # what reads the files of a large one whole; None where they are none
    )

    @classmethod
    def open(cls, folder: str | FilePath) -> Graph:
        """The graph stored in `folder`. Raises StoreError where it is absent, damaged or of another version."""
        folder = FilePath(folder)
        meta = read_meta(folder)
        while True:
            try:
                return cls._open(folder, meta)
            except StoreError:
                newer = read_meta(
                    folder
                )  # a build may have put a new store in place between our two looks
                if newer == meta:
                    raise
                meta = newer

    @classmethod
    def _open(cls, folder: FilePath, meta: dict) -> Graph:
        data = folder / meta["data"]
        try:
            later = digests.opened(data)
            arrays: dict[str, Any] = arrays_of(data, _mapped)
            blob = data / BLOB
            arrays["names_utf8"] = (
                np.asarray(np.memmap(blob, np.uint8, "r"))
                if blob.stat().st_size
                else np.empty(0, np.uint8)
            )
            rest = {
                **arrays,
                "columns": columns_in(data),
                "stored_degree_bytes": _mapped(data / DEGREES)
                if (data / DEGREES).exists()
                else None,
            }
            graph = cls(
                meta["name"],
                meta["digest"],
                meta["direction"],
                tuple(meta["relations"]),
                folder=folder,
                data=data,
                later=later,
                **rest,
            )
            check_sizes(graph)
            if not digests.noted(data):
                check_ids(graph)
        except (OSError, ValueError, EOFError, KeyError, TypeError, IndexError) as error:
            raise damage(f"The graph in {folder} is", error, "build it again") from None
        return graph

    def check_sound(self) -> None:
        """Has a large store read in the background, once it is used. Raises StoreError where damage was found in it."""
        if self.later is not None:
            self.later.begin()
            if self.later.damage:
                raise StoreError(
                    f"The graph in {self.folder} is damaged ({self.later.damage}); build it again."
                )

    @property
    def data_folder(self) -> FilePath:
        """The folder of the array files. Raises StoreError for a graph that is not stored."""
        if self.folder is None:
            raise StoreError(f"The graph “{self.name}” is not stored in a folder.")
        return self.data or self.folder

    @property
    def n_nodes(self) -> int:
        return len(self.out_indptr) - 1

    @property
    def n_edges(self) -> int:
        return len(self.tails)

    @property
    def numbered(self) -> bool:
        """Whether no names are stored: a node's name is its number."""
        return len(self.name_offsets) == 1

    def node_name(self, node: int) -> str:
        """The name of a node."""
        if self.numbered:
            return str(int(node))
        return self._name_bytes(node).decode("utf-8")

    def names(self, nodes) -> list[str]:
        """The names of several nodes, in their order."""
        self.check_sound()
        return [self.node_name(int(node)) for node in nodes]

    def nodes_named(self, name: str) -> tuple[int, ...]:
        """The nodes of this very name, ascending."""
        self.check_sound()
        if self.numbered:
            number = (
                int(name)
                if name.isascii() and name.isdecimal() and len(name) < 20
                else self.n_nodes
            )
            return (number,) if number < self.n_nodes and str(number) == name else ()
        wanted, order = name.encode("utf-8", "surrogatepass"), self.name_order
        low = self._first_at_least(wanted)
        found = []
        while low < len(order) and self._name_bytes(int(order[low])) == wanted:
            found.append(int(order[low]))
            low += 1
        return tuple(sorted(found))

    def _first_at_least(self, wanted: bytes) -> int:
        """The first place in the order of names whose name is not below `wanted`."""
        if self.n_nodes > LARGE:
            from core.graph.bytes.spelling import first_in_order  # brings numba

            names, offsets, order = map(
                np.asarray, (self.names_utf8, self.name_offsets, self.name_order)
            )
            return first_in_order(names, offsets, order, np.frombuffer(wanted, np.uint8))
        low, high = 0, self.n_nodes
        while low < high:
            middle = (low + high) // 2
            if self._name_bytes(int(self.name_order[middle])) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def degrees(self, nodes: np.ndarray, direction: str = "both") -> np.ndarray:
        """The number of edges at each node, int64; in `both`, a self-loop counts twice."""
        ways = {
            "out": (self.out_indptr,),
            "in": (self.in_indptr,),
            "both": (self.out_indptr, self.in_indptr),
        }[self.resolve(direction)]
        return reduce(
            np.add, (np.asarray(indptr[nodes + 1] - indptr[nodes], np.int64) for indptr in ways)
        )

    def steps_from(self, nodes: np.ndarray, direction: str = "both") -> Steps:
        """Every step from the nodes: those along triples first, node by node as they are given, each by ascending edge."""
        self.check_sound()
        direction, found = self.resolve(direction), []
        if direction != "in":
            rows, edges = slices(self.out_indptr, nodes)
            found.append((rows, self.tails[edges], edges, np.ones(len(edges), bool)))
        if direction != "out":
            rows, places = slices(self.in_indptr, nodes)
            found.append(
                (rows, self.in_heads[places], self.in_edges[places], np.zeros(len(places), bool))
            )
        rows, near, edges, forward = (
            found[0] if len(found) == 1 else (np.concatenate(parts) for parts in zip(*found))
        )
        edges = np.asarray(edges, np.int64)
        return Steps(
            rows, np.asarray(near, np.int64), edges, self.relations[edges].astype(np.int64), forward
        )

    def triples(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(heads, relations, tails) of the edges, int64, in their order."""
        self.check_sound()
        return tuple(
            np.asarray(column[edges], np.int64)
            for column in (self.heads, self.relations, self.tails)
        )  # type: ignore[return-value]

    def adjacency(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(out_indptr, tails, in_indptr, in_heads) of the whole graph, without memory maps around them."""
        self.check_sound()
        return tuple(
            np.asarray(values)
            for values in (self.out_indptr, self.tails, self.in_indptr, self.in_heads)
        )  # type: ignore[return-value]

    @cached_property
    def degree_bytes(self) -> np.ndarray:
        """The degree of each node in one byte, uint8 [n]; see `core.graph.degrees`."""
        if self.stored_degree_bytes is None:
            return degrees.degree_bytes(self.out_indptr, self.in_indptr)
        threading.Thread(
            target=self.stored_degree_bytes[::PAGE].sum, daemon=True
        ).start()  # has the system read all of them
        return self.stored_degree_bytes

    def shape(self) -> Shape:
        """Counts of the whole graph; reads the offsets and relations once."""
        self.check_sound()
        degrees = np.diff(self.out_indptr) + np.diff(self.in_indptr)
        each = np.bincount(degrees, minlength=1)
        shown = np.flatnonzero(each)
        bar = np.partition(degrees, -BUSIEST)[-BUSIEST] if len(degrees) > BUSIEST else 0
        best = np.flatnonzero(degrees >= bar)
        best = best[np.lexsort((best, -degrees[best]))][:BUSIEST]
        loops = (
            int(np.count_nonzero(self.heads == self.tails)) if self.n_edges <= LOOPS_UP_TO else None
        )
        return Shape(
            shown,
            each[shown],
            np.bincount(self.relations, minlength=self.n_relations),
            tuple(best.tolist()),
            loops,
        )

    def _name_bytes(self, node: int) -> bytes:
        return bytes(
            self.names_utf8[int(self.name_offsets[node]) : int(self.name_offsets[node + 1])]
        )


def slices(indptr: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entries `indptr[v] .. indptr[v + 1]` of each node, one after the other: (place of the node, entry)."""
    starts = np.asarray(indptr[nodes], np.int64)
    counts = np.asarray(indptr[nodes + 1], np.int64) - starts
    rows = np.repeat(np.arange(len(nodes)), counts)
    return rows, np.arange(len(rows)) + np.repeat(starts - np.cumsum(counts) + counts, counts)


def arrays_of(data: FilePath, load: Callable[[FilePath], np.ndarray]) -> dict[str, np.ndarray]:
    """The `ARRAYS` of a store whose files lie in `data`, loaded by `load`."""
    offsets = load(data / OFFSETS) if (data / OFFSETS).exists() else None
    sides = {} if offsets is None else {"out_indptr": offsets[:, 0], "in_indptr": offsets[:, 1]}
    return {key: sides[key] if key in sides else load(data / f"{key}.npy") for key in ARRAYS}


def columns_in(data: FilePath) -> Columns:
    """The tables that lie with the files of a store. Raises StoreError for a damaged one."""
    return Columns.open(data / COLUMNS) if (data / COLUMNS).is_dir() else columns.NONE


def _mapped(path: FilePath) -> np.ndarray:
    """An array by memory map. Of a large one only what is touched is read: reading ahead would make a first question wait.

    A plain array over the map: a slice of `np.memmap` itself costs ten times as much.
    """
    values = np.load(path, mmap_mode="r")
    if values.nbytes > AT_RANDOM:
        advise(values._mmap, "MADV_RANDOM")
    return np.asarray(values)


def read_meta(folder: FilePath) -> dict:
    """Return what `graph.json` says of a graph in arrays.

    Raises
    ------
    StoreError
        If it is absent, unreadable, of another version, or the graph is in a Ladybug database.
    """
    meta = read_description(folder)
    if meta.get("store") == LADYBUG:
        name = folder.name if folder.parent == graphs_folder() else folder
        raise StoreError(
            f"The graph in {folder} is in a Ladybug database, which Hopscope no longer opens. Carry it over "
            f"to arrays: pip install {LADYBUG_PACKAGE}, then python -m core build --carry-over {name}"
        )
    return meta


def read_description(folder: FilePath) -> dict:
    """Return what `graph.json` says of a graph in any kind of store.

    Raises
    ------
    StoreError
        If it is absent, unreadable or of another version.
    """
    try:
        meta = digests.check_marked(json.loads((folder / META).read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"There is no graph in {folder}.") from None
    except (OSError, ValueError) as error:
        raise damage(f"The graph in {folder} ({META}) is", error, "build it again") from None
    if meta.get("version") != VERSION:
        raise StoreError(f"The graph in {folder} was written by another version; build it again.")
    if not isinstance(meta.get("data"), str) or FilePath(meta["data"]).name != meta["data"]:
        raise StoreError(
            f"The graph in {folder} is damaged ({META} names no data folder); build it again."
        )
    return meta
