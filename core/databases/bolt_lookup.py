"""Look-ups of nodes by name, and of their relationships, in a database over Bolt."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.databases.bolt import (
    EDGE_PROPERTIES,
    ID_FUNCTION,
    OTHER_NAMES,
    PROPERTIES_PATTERN,
    BoltDatabase,
    id_function,
    write_edges_graphml,
)
from core.databases.neighbourhood import START_RELATION, DatabaseEdge, DatabaseLookup
from core.errors import BadInput
from core.graph.readers.graphml import NODE_LABELS
from core.graph.readers.triple_file import TripleFile

NODES_PER_EDGE_REQUEST = 64  # nodes per request for relationships
MAX_ID_NAMES = 20  # more names are spans of a question, and none of them is looked up as an id
NAME_WITH_ID = re.compile(r".{1,500} \(([^\s()]{1,200})\)")
MAX_ALIKE_NODES = 50  # nodes returned for names that differ only in case
EXACT_NAME_QUERY = "MATCH (n) WHERE {tests} RETURN {id}(n), [{properties}] LIMIT 10000"
ANY_CASE_QUERY = (
    "MATCH (n) WITH n, [k IN keys(n) WHERE toLower(k) IN $keys | toString(n[k])] AS spellings "
    "WHERE any(spelling IN spellings WHERE toLower(spelling) IN $names) "
    "RETURN {id}(n), spellings LIMIT $max_rows"
)
IDS_QUERY = "MATCH (n) WHERE {id}(n) IN $ids RETURN {id}(n)"
DEGREES_QUERY = "MATCH (n)-[r]-() WHERE {id}(n) IN $ids RETURN {id}(n), count(r)"
OUT_EDGES_QUERY = (
    "MATCH (a)-[r]->(b) WHERE {id}(a) IN $ids WITH a, collect([{id}(r), type(r), {id}(b), "
    "{pairs}])[..$max_rows] AS some_edges RETURN {id}(a), some_edges"
)
IN_EDGES_QUERY = OUT_EDGES_QUERY.replace("-[r]->", "<-[r]-")


class BoltLookup(DatabaseLookup):
    """Look-ups in a database over Bolt. Ids of nodes are those that `id_function` returns."""

    def __init__(self, database: BoltDatabase):
        self.database = database
        self.limits = database.limits
        self.things_per_request = NODES_PER_EDGE_REQUEST
        self._id = id_function(database)  # name of a Cypher function

    def find_named(self, names: Sequence[str]) -> Mapping[str, Collection[Any]]:
        """Return nodes whose property label, name or title is one of these texts."""
        tests = " OR ".join(f"n.{key} IN $names" for key in NODE_LABELS)
        query = EXACT_NAME_QUERY.format(
            id=self._id, tests=tests, properties=", ".join(f"n.{key}" for key in NODE_LABELS)
        )
        return self._by_name(self.database.records(query, names=list(names)), set(names), str)

    def find_alike(self, names: Sequence[str]) -> Mapping[str, Collection[Any]]:
        """Return nodes by name, ignoring case, in any property that names nodes.

        A name that is an id, or ends in one, as `Paris (4:a:7)` does, is looked up as this id.
        """
        by_id = self._find_by_ids(names) if len(names) <= MAX_ID_NAMES else {}
        names = [name for name in names if name not in by_id]
        if not names:
            return by_id
        lower = {name.lower() for name in names}
        keys = [*NODE_LABELS, *OTHER_NAMES]
        query = ANY_CASE_QUERY.format(id=self._id)
        records = self.database.records(
            query, keys=keys, names=list(lower), max_rows=MAX_ALIKE_NODES
        )
        return {**by_id, **self._by_name(records, lower, lambda name: str(name).lower())}

    def _find_by_ids(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return the nodes whose ids are the names or end them in brackets.

        The result is empty if the database refuses one of the texts as an id.
        """
        name_by_id: dict[str, str] = {}
        for name in names:
            match = NAME_WITH_ID.fullmatch(name)
            name_by_id[match[1] if match else name] = name
        ids: list[Any] = list(name_by_id)
        if self._id != ID_FUNCTION:
            ids = [int(id) for id in ids if id.isdecimal()]  # the older function returns numbers
        if not ids:
            return {}
        with suppress(BadInput):
            records = self.database.records(IDS_QUERY.format(id=self._id), ids=ids)
            return {name_by_id[str(id)]: [id] for [id] in records if str(id) in name_by_id}
        return {}

    @staticmethod
    def _by_name(
        records: Iterable[list[Any]], keys: set[str], make_key: Any
    ) -> Mapping[str, Collection[Any]]:
        """Return the nodes of records by name.

        A record has a node and its names. The first name for which `make_key` returns one of `keys`
        is used.
        """
        nodes_by_name: dict[str, dict[Any, None]] = {}
        for node, node_names in records:
            names = [name for name in node_names if name is not None and make_key(name) in keys]
            if names:
                nodes_by_name.setdefault(str(names[0]), {})[node] = None
        return {name: list(nodes) for name, nodes in nodes_by_name.items()}

    def degrees(self, things: Sequence[Any]) -> Mapping[Any, int]:
        """Return the number of relationships of each node."""
        query = DEGREES_QUERY.format(id=self._id)
        records = self.database.records(query, ids=list(things))
        return {node: int(number) for node, number in records}

    def has_requestable_edges(self, thing: Any) -> bool:
        """Return True, as every node can be queried."""
        return True

    def edges(self, things: Sequence[Any], max_each: int) -> tuple[list[DatabaseEdge], set[Any]]:
        """Return the relationships out of nodes, then those into them."""
        edges: list[DatabaseEdge] = []
        cut_nodes: set[Any] = set()
        for query in (OUT_EDGES_QUERY, IN_EDGES_QUERY):
            text = query.format(id=self._id, pairs=PROPERTIES_PATTERN.format("r", "keys"))
            for node, rows in self.database.records(
                text, ids=list(things), keys=list(EDGE_PROPERTIES), max_rows=max_each + 1
            ):
                if len(rows) > max_each:
                    cut_nodes.add(node)
                for key, kind, other, properties in rows[:max_each]:
                    head, tail = (node, other) if query is OUT_EDGES_QUERY else (other, node)
                    edges.append(DatabaseEdge(key, head, tail, (head, kind, tail, properties)))
        return edges, cut_nodes

    def write(
        self, folder: Path, edges: Iterable[DatabaseEdge], starts: Sequence[Any]
    ) -> TripleFile:
        """Write the relationships and their nodes as GraphML."""
        file = TripleFile(folder / "near.graphml", "graphml", keep=False)
        rows = [
            *(edge.row for edge in edges),
            *((start, START_RELATION, start, []) for start in starts),
        ]
        _, _, notes = write_edges_graphml(file.path, self.database, self._id, rows)
        file.tally.notes += notes
        return file
