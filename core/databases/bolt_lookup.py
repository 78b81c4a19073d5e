"""Look up nodes by name, and their relationships, in a database over Bolt."""

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
MAX_ID_NAMES = 20  # with more names, none is looked up as an id
NAME_WITH_ID = re.compile(r".{1,500} \(([^\s()]{1,200})\)")
MAX_ALIKE_NODES = 50  # nodes whose names differ only in case
EXACT_NAME_QUERY = "MATCH (n) WHERE {tests} RETURN {id}(n), [{properties}] LIMIT 10000"
ANY_CASE_QUERY = (
    "MATCH (n) WITH n, [k IN keys(n) WHERE toLower(k) IN $keys | toString(n[k])] AS said "
    "WHERE any(one IN said WHERE toLower(one) IN $names) RETURN {id}(n), said LIMIT $most"
)
IDS_QUERY = "MATCH (n) WHERE {id}(n) IN $ids RETURN {id}(n)"
DEGREES_QUERY = "MATCH (n)-[r]-() WHERE {id}(n) IN $ids RETURN {id}(n), count(r)"
OUT_EDGES_QUERY = (
    "MATCH (a)-[r]->(b) WHERE {id}(a) IN $ids WITH a, collect([{id}(r), type(r), {id}(b), "
    "{taken}])[..$most] AS some RETURN {id}(a), some"
)
IN_EDGES_QUERY = OUT_EDGES_QUERY.replace("-[r]->", "<-[r]-")


class BoltLookup(DatabaseLookup):
    """A database over Bolt. Ids are those of its own function."""

    def __init__(self, database: BoltDatabase):
        self.database = database
        self.limits = database.limits
        self.things_per_request = NODES_PER_EDGE_REQUEST
        self._id = id_function(database)

    def find_named(self, names: Sequence[str]) -> Mapping[str, Collection[Any]]:
        """Return nodes whose property label, name or title is one of these texts."""
        tests = " OR ".join(f"n.{key} IN $names" for key in NODE_LABELS)
        query = EXACT_NAME_QUERY.format(
            id=self._id, tests=tests, properties=", ".join(f"n.{key}" for key in NODE_LABELS)
        )
        return self._by_name(self.database.records(query, names=list(names)), set(names), str)

    def find_alike(self, names: Sequence[str]) -> Mapping[str, Collection[Any]]:
        """Return nodes by name, ignoring case, in any property that names nodes.

        A name that is an id, or ends in one as `Paris (4:a:7)`, is looked up as this id.
        """
        by_id = self._find_by_ids(names) if len(names) <= MAX_ID_NAMES else {}
        names = [name for name in names if name not in by_id]
        if not names:
            return by_id
        lower = {name.lower() for name in names}
        keys = [*NODE_LABELS, *OTHER_NAMES]
        records = self.database.records(
            ANY_CASE_QUERY.format(id=self._id), keys=keys, names=list(lower), most=MAX_ALIKE_NODES
        )
        return {**by_id, **self._by_name(records, lower, lambda name: str(name).lower())}

    def _find_by_ids(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Return the nodes whose ids are the names, or are at the end of the names.

        The result is empty if the database does not accept one of the texts as an id.
        """
        name_by_id: dict[str, str] = {}
        for name in names:
            match = NAME_WITH_ID.fullmatch(name)
            name_by_id[match[1] if match else name] = name
        ids: list[Any] = list(name_by_id)
        if self._id != ID_FUNCTION:
            ids = [int(id) for id in ids if id.isdecimal()]
        if not ids:
            return {}
        with suppress(BadInput):
            records = self.database.records(IDS_QUERY.format(id=self._id), ids=ids)
            return {name_by_id[str(id)]: [id] for [id] in records if str(id) in name_by_id}
        return {}

    @staticmethod
    def _by_name(
        records: Iterable[list[Any]], keys: set[str], form: Any
    ) -> Mapping[str, Collection[Any]]:
        """Return the nodes of records by their first name whose `form` is one of the keys."""
        nodes_by_name: dict[str, dict[Any, None]] = {}
        for node, node_names in records:
            names = [name for name in node_names if name is not None and form(name) in keys]
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

    def edges(self, things: Sequence[Any], each: int) -> tuple[list[DatabaseEdge], set[Any]]:
        """Return the relationships out of nodes, then those into them."""
        edges: list[DatabaseEdge] = []
        full: set[Any] = set()
        for query in (OUT_EDGES_QUERY, IN_EDGES_QUERY):
            text = query.format(id=self._id, taken=PROPERTIES_PATTERN.format("r", "wanted"))
            for node, rows in self.database.records(
                text, ids=list(things), wanted=list(EDGE_PROPERTIES), most=each + 1
            ):
                if len(rows) > each:
                    full.add(node)
                for key, kind, other, properties in rows[:each]:
                    head, tail = (node, other) if query is OUT_EDGES_QUERY else (other, node)
                    edges.append(DatabaseEdge(key, head, tail, (head, kind, tail, properties)))
        return edges, full

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
