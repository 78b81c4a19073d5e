"""A knowledge graph in an embedded property-graph database, asked in Cypher: nothing is read that a question does not need.

    (:Entity {id, name, outdegree, indegree}) -[:Triple {id, relation}]-> (:Entity)
    (:Name {name, entity})   (:Relation {id, name})

Ids are those of the array store, so that every result is the same. The database is Ladybug, which needs no server.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.errors import StoreError, damage
from core.graph.protocol import KnowledgeGraph, Shape, Steps
from core.graph.storage.triple_cache import Seen
from core.graph.store import BUSIEST, columns_in, read_meta, slices
from core.io import digests

STORE_KIND, FILE = (
    "cypher",
    "graph.lbug",
)  # what graph.json says of such a store, and the database in its data folder
MEMORY = 1 << 30  # bytes that the database may keep of its pages
BATCH = 20_000  # nodes a query
NAMES_HELD = 200_000

AT = "UNWIND $nodes AS i MATCH (a:Entity {id: i}) "
# OPTIONAL has the planner begin at the nodes found by their keys; without it, it reads every triple to join them.
OUT = AT + "OPTIONAL MATCH (a)-[t:Triple]->(b:Entity) RETURN a.id, b.id, t.id, t.relation"
IN = AT + "OPTIONAL MATCH (a)<-[t:Triple]-(b:Entity) RETURN a.id, b.id, t.id, t.relation"
DEGREES = AT + "RETURN a.id, a.outdegree, a.indegree"
NAMES = AT + "RETURN a.id, a.name"
EVERY_NAME = "MATCH (a:Entity) RETURN a.id, a.name"
NAMED = "MATCH (n:Name {name: $name}) RETURN n.entity"
EDGES = "MATCH (a:Entity)-[t:Triple]->(b:Entity) WHERE t.id >= $low AND t.id <= $high RETURN t.id, a.id, t.relation, b.id"
ENDS = "MATCH (a:Entity)-[t:Triple]->(b:Entity) RETURN t.id, a.id, b.id"
SPREAD = "MATCH (a:Entity) RETURN a.outdegree + a.indegree AS degree, count(*) ORDER BY degree"
BEST = f"MATCH (a:Entity) RETURN a.id, a.outdegree + a.indegree AS degree ORDER BY degree DESC, a.id LIMIT {BUSIEST}"
KINDS = "MATCH (:Entity)-[t:Triple]->(:Entity) RETURN t.relation, count(*)"
LOOPS = "MATCH (a:Entity)-[t:Triple]->(b:Entity) WHERE a.id = b.id RETURN count(*)"


class DatabaseGraph(KnowledgeGraph):
    """The graph in a folder that `export` filled. Threads may share it; any number of processes may read it at once."""

    at_hand = False

    def __init__(self, folder: FilePath, meta: dict):
        try:
            self.name, self.digest, self.direction = meta["name"], meta["digest"], meta["direction"]
            self.relation_names: tuple[str, ...] = tuple(meta["relations"])
            self._nodes, self._edges = int(meta["nodes"]), int(meta["edges"])
            self.folder, self._file = folder, folder / meta["data"] / FILE
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError(
                f"The graph in {folder} is damaged ({error}); build it again."
            ) from None
        if not self._file.is_file():
            raise StoreError(
                f"The graph in {folder} is damaged ({FILE} is missing); build it again."
            )
        try:
            self._later = digests.opened(self._file.parent)
        except (ValueError, OSError) as error:
            raise damage(f"The graph in {folder} is", error, "build it again") from None
        self.columns = columns_in(self._file.parent)
        self._local, self._guard = threading.local(), threading.RLock()
        self._names: dict[int, str] = {}
        self._seen = Seen()

    @classmethod
    def open(cls, folder: str | FilePath) -> DatabaseGraph:
        """The graph stored in `folder`; the database itself is opened by the first query. Raises StoreError."""
        folder = FilePath(folder)
        meta = read_meta(folder)
        if meta.get("store") != STORE_KIND:
            raise StoreError(f"The graph in {folder} is not in a database.")
        return cls(folder, meta)

    @property
    def n_nodes(self) -> int:
        return self._nodes

    @property
    def n_edges(self) -> int:
        return self._edges

    def names(self, nodes: Iterable[int]) -> list[str]:
        """The names of several nodes, in their order."""
        wanted = [int(node) for node in nodes]
        fresh = [node for node in dict.fromkeys(wanted) if node not in self._names]
        if len(fresh) > NAMES_HELD:
            found = dict(zip(*(column.tolist() for column in self.ask(EVERY_NAME))))
            return [found[node] for node in wanted]
        held = self._names
        if fresh:
            held = (
                dict(held)
                if len(held) + len(fresh) <= NAMES_HELD
                else {node: held[node] for node in wanted if node in held}
            )
            held |= zip(*(column.tolist() for column in self._at(NAMES, np.array(fresh))))
            self._names = held
        return [held[node] for node in wanted]

    def nodes_named(self, name: str) -> tuple[int, ...]:
        """The node of this very name, or none."""
        if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
            return ()  # no text that the database could hold
        return tuple(self.ask(NAMED, name=name)[0].tolist())

    def degrees(self, nodes: np.ndarray, direction: str = "both") -> np.ndarray:
        """The number of edges at each node, int64; in `both`, a self-loop counts twice."""
        ids, place = np.unique(np.asarray(nodes, np.int64), return_inverse=True)
        found, out, into = self._at(DEGREES, ids)
        order = np.argsort(found)
        return {"out": out, "in": into, "both": out + into}[self.resolve(direction)][order][place]

    def steps_from(self, nodes: np.ndarray, direction: str = "both") -> Steps:
        """Every step from the nodes: those along triples first, node by node as they are given, each by ascending edge."""
        direction, nodes = self.resolve(direction), np.asarray(nodes, np.int64)
        parts = [
            self._way(nodes, forward)
            for forward, other in ((True, "in"), (False, "out"))
            if direction != other
        ]
        return parts[0] if len(parts) == 1 else Steps(*map(np.concatenate, zip(*parts)))

    def _way(self, nodes: np.ndarray, forward: bool) -> Steps:
        ids, place = np.unique(nodes, return_inverse=True)
        sources, ends, edges, relations = self._at(OUT if forward else IN, ids)
        order = np.lexsort((edges, sources))
        sources, ends, edges, relations = (
            sources[order],
            ends[order],
            edges[order],
            relations[order],
        )
        self._seen.add(
            edges, *((sources, relations, ends) if forward else (ends, relations, sources))
        )
        starts = np.searchsorted(sources, np.append(ids, self.n_nodes))
        rows, at = slices(starts, place)
        return Steps(rows, ends[at], edges[at], relations[at], np.full(len(at), forward))

    def triples(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(heads, relations, tails) of the edges, int64, in their order; of edges not met before, all are read that lie between."""
        edges = np.asarray(edges, np.int64)
        known, columns = self._seen.find(edges)
        if not known.all():
            low, high = int(edges[~known].min()), int(edges[~known].max())
            ids, *read = self.ask(EDGES, low=low, high=high)
            order = np.argsort(ids)
            at = order[np.searchsorted(ids, edges[~known], sorter=order)]
            self._seen.add(edges[~known], *(column[at] for column in read))
            for column, values in zip(columns, read):
                column[~known] = values[at]
        return columns

    def adjacency(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(out_indptr, tails, in_indptr, in_heads) of the whole graph, read once: 8 bytes an edge, 16 a node."""
        with self._guard:
            return self._adjacency

    @cached_property
    def _adjacency(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        ids, heads, tails = self.ask(ENDS)
        order = np.argsort(ids)
        heads, tails = heads[order].astype(np.int32), tails[order].astype(np.int32)
        offsets = lambda ends: np.concatenate(
            [[0], np.cumsum(np.bincount(ends, minlength=self.n_nodes))]
        ).astype(np.int64)
        return offsets(heads), tails, offsets(tails), heads[np.argsort(tails, kind="stable")]

    def shape(self) -> Shape:
        """Counts of the whole graph."""
        degrees, nodes = self.ask(SPREAD)
        relations = np.zeros(self.n_relations, np.int64)
        found, counts = self.ask(KINDS)
        relations[found] = counts
        return Shape(
            degrees, nodes, relations, tuple(self.ask(BEST)[0].tolist()), int(self.ask(LOOPS)[0][0])
        )

    def ask(self, query: str, **given: Any) -> list[np.ndarray]:
        """The columns of a query's answer, rows that lack a value left out. Raises StoreError where the database fails or is damaged."""
        self._later.begin()
        if self._later.damage:
            raise StoreError(
                f"The graph in {self.folder} is damaged ({self._later.damage}); build it again."
            )
        try:
            table = self._connection().execute(query, given).get_as_arrow().drop_null()
        except RuntimeError as error:
            raise StoreError(
                f"The graph database in {self.folder} failed: {str(error).splitlines()[0]}"
            ) from None
        return [column.to_numpy() for column in table.columns]

    def _at(self, query: str, nodes: np.ndarray) -> list[np.ndarray]:
        """As `ask`, for a query about some nodes, in batches."""
        parts = [
            self.ask(query, nodes=nodes[at : at + BATCH].tolist())
            for at in range(0, max(1, len(nodes)), BATCH)
        ]
        return parts[0] if len(parts) == 1 else [np.concatenate(columns) for columns in zip(*parts)]

    def _connection(self):
        """This thread's connection; the database is opened once a graph."""
        if not hasattr(self._local, "connection"):
            with self._guard:
                self._local.connection = library().Connection(self._database)
        return self._local.connection

    @cached_property
    def _database(self):
        return opened(self._file, read_only=True)


def library():
    """ladybug, with the symbols of its compiled part kept to themselves; loaded its own way, they take the place of those of
    llama.cpp, which then aborts the process."""
    import ladybug

    with suppress(ImportError):  # elsewhere it has a part of another name
        import_module("ladybug._lbug")
    return ladybug


def opened(file: FilePath, read_only: bool):
    """The database in a file. Raises StoreError where it cannot be opened."""
    try:
        return library().Database(str(file), read_only=read_only, buffer_pool_size=MEMORY)
    except RuntimeError as error:
        raise StoreError(
            f"The graph database {file} cannot be opened: {str(error).splitlines()[0]}"
        ) from None
