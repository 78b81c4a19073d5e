"""A knowledge graph in memory-mapped files, which can be larger than memory.

A store is a folder with a description, `graph.json`, and a data folder. The data are the triples in
CSR form in both directions, the names of nodes, and tables of further columns.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.errors import StoreError, damage_error, with_command
from core.graph import columns, degrees
from core.graph.array_checks import check_ids, check_sizes
from core.graph.columns import Columns, advise
from core.graph.order import top_k
from core.graph.protocol import FetchedPart, KnowledgeGraph, Shape, Steps
from core.io import digests
from core.io.home import graphs_folder
from core.types import Direction

STORE_VERSION = 1
# File that describes the store and names the folder with its arrays.
GRAPH_META_FILE = "graph.json"
NAMES_FILE = "names.bin"
# int64 [n + 1, 2]: out_indptr and in_indptr in one file, so that both offsets of a node are on one
# page. Older stores have one file for out_indptr and one for in_indptr.
OFFSETS_FILE = "offsets.npy"
# Folder with the tables of a graph; absent if it has only triples.
TABLES_FOLDER = "columns"
# Kind of store of the graphs that earlier versions kept in a Ladybug database.
LADYBUG_STORE = "cypher"
# Last release of Ladybug with which they were written.
LADYBUG_PACKAGE = "ladybug==0.22.0"
# Degrees of the nodes, computed from the offsets; older stores lack the file.
DEGREES_FILE = "degree_bytes.npy"
# Size in bytes above which an array is opened without read-ahead.
RANDOM_ACCESS_BYTES = 1 << 28
PAGE_BYTES = 4096
# Number of nodes above which a name is searched by compiled code on the mapped arrays.
DISK_SEARCH_NAMES = 200_000
# Number of nodes with the highest degrees that `Graph.shape` returns.
BUSIEST_NODES = 8
# Number of triples above which `Graph.shape` does not count self-loops, which reads all triples.
MAX_LOOP_TRIPLES = 50_000_000
STORE_ARRAYS = (
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

    Edge `e` is the triple `(heads[e], relations[e], tails[e])`. Edges are sorted by (head,
    relation, tail). The edges out of node `v` are therefore the ids from `out_indptr[v]` to below
    `out_indptr[v + 1]`. The edges into it are `in_edges[in_indptr[v] : in_indptr[v + 1]]`,
    ascending. Two nodes may be connected by several edges with different relations.
    """

    name: str
    digest: str
    # Direction of the steps of a search, if the search does not set one.
    direction: Direction
    relation_names: tuple[str, ...]
    out_indptr: np.ndarray  # int64 [n + 1]
    heads: np.ndarray  # int32 [m]
    tails: np.ndarray  # int32 [m]
    relations: np.ndarray  # int16 or int32 [m]
    in_indptr: np.ndarray  # int64 [n + 1]
    in_edges: np.ndarray  # int32 or int64 [m]
    in_heads: np.ndarray  # int32 [m], heads[in_edges]
    # int64 [n + 1], offsets into names_utf8; [0] if the nodes have numbers instead of names.
    name_offsets: np.ndarray
    # int32 [n], node ids ordered by the bytes of their names; empty if the nodes have no names.
    name_order: np.ndarray
    names_utf8: np.ndarray  # uint8
    folder: FilePath | None = None
    # Folder of the array files, within `folder`.
    data: FilePath | None = None
    columns: Columns = columns.NO_TABLES
    # uint8 [n], the degrees as in `degree_bytes`; None if the store was written without them.
    stored_degree_bytes: np.ndarray | None = None
    edited_from: Any = None
    live: Any = None
    fetched: FetchedPart | None = None
    # Check of the digests of a large store, which runs in the background; None if there is none.
    digest_check: digests.DeferredCheck | None = None

    @classmethod
    def open(cls, folder: str | FilePath) -> Graph:
        """Open the graph stored in `folder`.

        Raises
        ------
        StoreError
            If it is absent, damaged or of another version.
        """
        folder = FilePath(folder)
        meta = read_meta(folder)
        while True:
            try:
                return cls._open(folder, meta)
            except StoreError:
                # A build may have replaced the store after its description was read.
                newer = read_meta(folder)
                if newer == meta:
                    raise
                meta = newer

    @classmethod
    def _open(cls, folder: FilePath, meta: dict) -> Graph:
        data = folder / meta["data"]
        try:
            check = digests.open_checked(data)
            arrays: dict[str, Any] = arrays_of(data, _map_array)
            blob = data / NAMES_FILE
            arrays["names_utf8"] = np.empty(0, np.uint8)
            if blob.stat().st_size:  # an empty file cannot be mapped
                arrays["names_utf8"] = np.asarray(np.memmap(blob, np.uint8, "r"))
            if (data / DEGREES_FILE).exists():
                arrays["stored_degree_bytes"] = _map_array(data / DEGREES_FILE)
            graph = cls(
                meta["name"],
                meta["digest"],
                meta["direction"],
                tuple(meta["relations"]),
                folder=folder,
                data=data,
                columns=open_columns(data),
                digest_check=check,
                **arrays,
            )
            check_sizes(graph)
            if not digests.read_digests(data):
                check_ids(graph)
        except (OSError, ValueError, EOFError, KeyError, TypeError, IndexError) as error:
            raise damage_error(f"The graph in {folder} is", error, "build it again") from None
        return graph

    def check_digests(self) -> None:
        """Start the background check of a large store.

        It is not started twice.

        Raises
        ------
        StoreError
            If the check has already found damage.
        """
        if self.digest_check is not None:
            self.digest_check.start()
            if self.digest_check.damage:
                raise StoreError(
                    f"The graph in {self.folder} is damaged ({self.digest_check.damage}); build it again."
                )

    @property
    def data_folder(self) -> FilePath:
        """Folder of the array files.

        Raises
        ------
        StoreError
            If the graph is not stored.
        """
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
        """True if no names are stored.

        The name of a node is then its number.
        """
        return len(self.name_offsets) == 1

    def node_name(self, node: int) -> str:
        """Return the name of a node."""
        if self.numbered:
            return str(int(node))
        return self._name_bytes(node).decode("utf-8")

    def names(self, nodes) -> list[str]:
        """Return the names of several nodes, in their order."""
        self.check_digests()
        if self.numbered:
            return [str(int(node)) for node in nodes]
        ids = np.fromiter(nodes, np.int64)
        starts, ends = self.name_offsets[ids].tolist(), self.name_offsets[ids + 1].tolist()
        text = self.names_utf8.data
        return [str(text[start:end], "utf-8") for start, end in zip(starts, ends)]

    def nodes_named(self, name: str) -> tuple[int, ...]:
        """Return the ids of the nodes with exactly this name, ascending."""
        self.check_digests()
        if self.numbered:
            is_number = name.isascii() and name.isdecimal() and len(name) < 20
            if is_number and str(int(name)) == name and int(name) < self.n_nodes:
                return (int(name),)
            return ()
        encoded_name, order = name.encode("utf-8", "surrogatepass"), self.name_order
        low = self._first_at_least(encoded_name)
        nodes = []
        while low < len(order) and self._name_bytes(int(order[low])) == encoded_name:
            nodes.append(int(order[low]))
            low += 1
        return tuple(sorted(nodes))

    def _first_at_least(self, name: bytes) -> int:
        """Return the first position in `name_order` whose name is at least `name`.

        Names are compared as bytes.
        """
        if self.n_nodes > DISK_SEARCH_NAMES:
            from core.graph.bytes.spelling import first_in_order  # imports numba

            names, offsets, order = map(
                np.asarray, (self.names_utf8, self.name_offsets, self.name_order)
            )
            return first_in_order(names, offsets, order, np.frombuffer(name, np.uint8))
        low, high = 0, self.n_nodes
        while low < high:
            middle = (low + high) // 2
            if self._name_bytes(int(self.name_order[middle])) < name:
                low = middle + 1
            else:
                high = middle
        return low

    def degrees(self, nodes: np.ndarray, direction: str = "both") -> np.ndarray:
        """Return the number of edges at each node, int64.

        With `both`, a self-loop counts twice.
        """
        sides = {
            "out": (self.out_indptr,),
            "in": (self.in_indptr,),
            "both": (self.out_indptr, self.in_indptr),
        }[self.resolve(direction)]
        return reduce(
            np.add, (np.asarray(indptr[nodes + 1] - indptr[nodes], np.int64) for indptr in sides)
        )

    def steps_from(self, nodes: np.ndarray, direction: str = "both") -> Steps:
        """Return every step from the nodes.

        Steps from head to tail come first, then those from tail to head. Both parts are ordered by
        position in `nodes`, then by edge id.
        """
        self.check_digests()
        direction, sides = self.resolve(direction), []
        if direction != "in":
            rows, edges = row_entries(self.out_indptr, nodes)
            sides.append((rows, self.tails[edges], edges, np.ones(len(edges), bool)))
        if direction != "out":
            rows, entries = row_entries(self.in_indptr, nodes)
            sides.append(
                (rows, self.in_heads[entries], self.in_edges[entries], np.zeros(len(entries), bool))
            )
        rows, neighbours, edges, forward = (
            sides[0] if len(sides) == 1 else (np.concatenate(parts) for parts in zip(*sides))
        )
        neighbours, edges = np.asarray(neighbours, np.int64), np.asarray(edges, np.int64)
        return Steps(rows, neighbours, edges, self.relations[edges].astype(np.int64), forward)

    def triples(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the (heads, relations, tails) of the edges, int64, in their order."""
        self.check_digests()
        return tuple(
            np.asarray(column[edges], np.int64)
            for column in (self.heads, self.relations, self.tails)
        )  # type: ignore[return-value]

    def adjacency(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return (out_indptr, tails, in_indptr, in_heads), the CSR arrays of the whole graph."""
        self.check_digests()
        return tuple(
            np.asarray(values)
            for values in (self.out_indptr, self.tails, self.in_indptr, self.in_heads)
        )  # type: ignore[return-value]

    @cached_property
    def degree_bytes(self) -> np.ndarray:
        """Degree of each node in one byte, uint8 [n]; see `core.graph.degrees`."""
        if self.stored_degree_bytes is None:
            return degrees.degree_bytes(self.out_indptr, self.in_indptr)
        # Reading one byte of each page makes the system load the whole file in the background.
        threading.Thread(target=self.stored_degree_bytes[::PAGE_BYTES].sum, daemon=True).start()
        return self.stored_degree_bytes

    def shape(self) -> Shape:
        """Return counts over the whole graph; reads the offsets and relations once."""
        self.check_digests()
        degrees = np.diff(self.out_indptr) + np.diff(self.in_indptr)
        node_counts = np.bincount(degrees, minlength=1)
        unique_degrees = np.flatnonzero(node_counts)
        busiest, _ = top_k(np.arange(len(degrees)), degrees, BUSIEST_NODES)
        loops = None
        if self.n_edges <= MAX_LOOP_TRIPLES:
            loops = int(np.count_nonzero(self.heads == self.tails))
        return Shape(
            unique_degrees,
            node_counts[unique_degrees],
            np.bincount(self.relations, minlength=self.n_relations),
            tuple(busiest.tolist()),
            loops,
        )

    def _name_bytes(self, node: int) -> bytes:
        return bytes(
            self.names_utf8[int(self.name_offsets[node]) : int(self.name_offsets[node + 1])]
        )


def row_entries(indptr: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the CSR entries of some nodes, one node after the other.

    The entries of node v are the positions from `indptr[v]` to below `indptr[v + 1]`.

    Returns
    -------
    Two int64 arrays, aligned: the position of the node in `nodes`, and the entry.
    """
    starts = np.asarray(indptr[nodes], np.int64)
    counts = np.asarray(indptr[nodes + 1], np.int64) - starts
    rows = np.repeat(np.arange(len(nodes)), counts)
    return rows, np.arange(len(rows)) + np.repeat(starts - np.cumsum(counts) + counts, counts)


def arrays_of(data: FilePath, load: Callable[[FilePath], np.ndarray]) -> dict[str, np.ndarray]:
    """Return the `STORE_ARRAYS` of a store by name.

    `load` reads a file of its data folder.
    """
    offsets = load(data / OFFSETS_FILE) if (data / OFFSETS_FILE).exists() else None
    sides = {} if offsets is None else {"out_indptr": offsets[:, 0], "in_indptr": offsets[:, 1]}
    return {key: sides[key] if key in sides else load(data / f"{key}.npy") for key in STORE_ARRAYS}


def open_columns(data: FilePath) -> Columns:
    """Open the tables in the data folder of a store.

    Raises
    ------
    StoreError
        If a table is damaged.
    """
    folder = data / TABLES_FOLDER
    return Columns.open(folder) if folder.is_dir() else columns.NO_TABLES


def _map_array(path: FilePath) -> np.ndarray:
    """Open an array as a memory map.

    Of a large array only the accessed pages are read, since read-ahead would delay the first
    question. The result is a plain array over the map, because slicing `np.memmap` itself takes ten
    times as long.
    """
    values = np.load(path, mmap_mode="r")
    if values.nbytes > RANDOM_ACCESS_BYTES:
        advise(values._mmap, "MADV_RANDOM")
    return np.asarray(values)


def read_meta(folder: FilePath) -> dict:
    """Return the description in `graph.json` of a graph that is stored as arrays.

    Raises
    ------
    StoreError
        If it is absent, unreadable, of another version, or the graph is in a Ladybug database.
    """
    meta = read_description(folder)
    if meta.get("store") == LADYBUG_STORE:
        name = folder.name if folder.parent == graphs_folder() else folder
        raise StoreError(
            with_command(
                f"The graph in {folder} is in a Ladybug database, which Hopscope no longer opens. "
                "A command carries it over to arrays.",
                f"pip install {LADYBUG_PACKAGE} && hopscope build --carry-over {name}",
            )
        )
    return meta


def read_description(folder: FilePath) -> dict:
    """Return the description in `graph.json` of a graph in any kind of store.

    Raises
    ------
    StoreError
        If it is absent, unreadable or of another version.
    """
    try:
        meta = digests.check_own_digest(json.loads((folder / GRAPH_META_FILE).read_text("utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"There is no graph in {folder}.") from None
    except (OSError, ValueError) as error:
        raise damage_error(
            f"The graph in {folder} ({GRAPH_META_FILE}) is", error, "build it again"
        ) from None
    if meta.get("version") != STORE_VERSION:
        raise StoreError(f"The graph in {folder} was written by another version; build it again.")
    if not isinstance(meta.get("data"), str) or FilePath(meta["data"]).name != meta["data"]:
        raise StoreError(
            f"The graph in {folder} is damaged ({GRAPH_META_FILE} names no data folder); build it again."
        )
    return meta
