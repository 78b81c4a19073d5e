"""Queries to databases over Bolt, in Cypher, and copies as GraphML.

Such databases are Neo4j, Memgraph, ArcadeDB and others.
"""

from __future__ import annotations

import importlib.util
import logging
import re
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from queue import Empty, Full, Queue
from typing import Any, TextIO

from core.databases.address import Address
from core.databases.limits import CONNECT_SECONDS, PIECE_WAIT_SECONDS, CopyLimits
from core.errors import BadInput, shorten, with_command
from core.graph.readers.graphml import (
    EDGE_ATTRIBUTES_READ,
    EDGE_LABELS,
    NODE_ATTRIBUTES_READ,
    NODE_LABELS,
)

DRIVER_ADVICE = with_command(
    "The driver of databases that speak Bolt is not installed here.", "pip install neo4j"
)
# Properties that name a node without a label, name or title, in lower case.
OTHER_NAMES = ("id", "uuid", "fullname", "code")
NODE_PROPERTIES = tuple(sorted({*NODE_LABELS, *OTHER_NAMES, *NODE_ATTRIBUTES_READ}))
EDGE_PROPERTIES = tuple(sorted({*EDGE_LABELS, *EDGE_ATTRIBUTES_READ} - {"type"}))
NODES_PER_REQUEST = 1_000  # in a request for their properties
RECORDS_PER_FETCH = 500  # records that the driver fetches at a time
CHECK_SECONDS = 0.2  # between two checks for cancellation
EDGES_PROGRESS_SHARE = 0.7  # of the progress of a copy; the nodes take the rest
MAX_PROPERTY_CHARACTERS = 20_000  # copied of a value
NON_XML_CHARACTERS = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Cypher functions that return the id of a node; the second is for older servers.
ID_FUNCTION = "elementId"
OLD_ID_FUNCTION = "id"
# The properties of a node or relationship whose keys are in a parameter, as pairs of key and value.
PROPERTIES_PATTERN = "[k IN keys({0}) WHERE toLower(k) IN ${1} | [k, {0}[k]]]"
ALL_EDGES_QUERY = "MATCH (a)-[r]->(b) RETURN {id}(a), type(r), {id}(b), {pairs} LIMIT $max_rows"
NODES_QUERY = "MATCH (n) WHERE {id}(n) IN $ids RETURN {id}(n), labels(n), keys(n), {pairs}"


def driver_fault() -> str:
    """Return why no database can be queried over Bolt. Empty if the driver is installed."""
    return "" if importlib.util.find_spec("neo4j") else DRIVER_ADVICE


class BoltDatabase:
    """A database over Bolt, which is only read: each query is rolled back.

    Methods raise BadInput with a sentence that names the database, and the errors of the limits.

    Parameters
    ----------
    address : address of the database.
    key : `name:password` or a token; empty for none.
    limits : limits of all replies together.
    """

    def __init__(self, address: Address, key: str, limits: CopyLimits):
        if driver_fault():
            raise BadInput(DRIVER_ADVICE)
        self.address = address
        self.limits = limits
        self._key = key
        # The driver logs warnings about properties that no node has.
        logging.getLogger("neo4j").setLevel(logging.CRITICAL)

    def records(self, query: str, **parameters: Any) -> Iterator[list[Any]]:
        """Yield the records of a query, each a list of its values.

        Another thread reads them, so that waiting for a silent database can be cancelled.
        """
        # Batches of records, then None or an error. Few batches are read ahead, to save memory.
        batches: Queue[list[list[Any]] | Exception | None] = Queue(4)
        abandoned = threading.Event()
        threading.Thread(
            target=self._read, args=(query, parameters, batches, abandoned), daemon=True
        ).start()
        max_wait = min(PIECE_WAIT_SECONDS, self.limits.seconds)
        waited = 0.0
        try:
            while True:
                self.limits.count_bytes(0, self.address.title)
                try:
                    batch = batches.get(timeout=CHECK_SECONDS)
                except Empty:
                    waited += CHECK_SECONDS
                    if waited > max_wait:
                        raise BadInput(
                            f"{self.address.title} did not answer within {max_wait:g} s."
                        ) from None
                    continue
                waited = 0.0
                if batch is None:
                    return
                if isinstance(batch, Exception):
                    raise BadInput(self._fault(batch)) from None
                self.limits.count_bytes(sum(map(_size, batch)), self.address.title)
                yield from batch
        finally:
            abandoned.set()

    def _read(
        self, query: str, parameters: Mapping[str, Any], batches: Queue, abandoned: threading.Event
    ) -> None:
        """Put the records into the queue in batches, then None or the error."""

        def put(item: Any) -> None:
            while not abandoned.is_set():
                with suppress(Full):
                    return batches.put(item, timeout=CHECK_SECONDS)

        try:
            with self._transaction() as transaction:
                batch: list[list[Any]] = []
                for record in transaction.run(query, **parameters):
                    batch.append(list(record.values()))
                    if len(batch) >= RECORDS_PER_FETCH:
                        put(batch)
                        batch = []
                    if abandoned.is_set():
                        return
                put(batch)
            put(None)
        except Exception as error:  # the waiting thread reports the driver's error
            put(error)

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        """Yield a transaction that is rolled back at the end of the block."""
        import neo4j

        name, colon, password = self._key.partition(":")
        auth: Any = None
        if colon:
            auth = (name, password)
        elif self._key:
            auth = neo4j.bearer_auth(self._key)
        with (
            neo4j.GraphDatabase.driver(
                self.address.url,
                auth=auth,
                connection_timeout=CONNECT_SECONDS,
                user_agent="Hopscope",
            ) as driver,
            driver.session(
                database=self.address.database or None,
                default_access_mode=neo4j.READ_ACCESS,
                fetch_size=RECORDS_PER_FETCH,
            ) as session,
        ):
            transaction = session.begin_transaction(timeout=self.limits.seconds)
            try:
                yield transaction
            finally:
                with suppress(Exception):  # a broken transaction has nothing to roll back
                    transaction.rollback()

    def _fault(self, error: Exception) -> str:
        """Return a sentence on an error of the driver. The query and the key are left out."""
        from neo4j import exceptions

        title = self.address.title
        is_auth_error = isinstance(error, exceptions.AuthError | exceptions.AuthConfigurationError)
        if is_auth_error or "Unauthorized" in str(getattr(error, "code", "")):
            return (
                f"{title} wants a name and password, or refuses those given: "
                f"{self.address.key_advice}."
            )
        if isinstance(error, exceptions.Neo4jError):
            return (
                f"{title} refuses the query: "
                f"{shorten(error.message or error.code or 'without a reason', 300)}"
            )
        if isinstance(error, exceptions.DriverError | OSError):
            return (
                f"{title} cannot be reached, or broke off. Is the address right, and does it run?"
            )
        return f"{title} answers with what cannot be read: {type(error).__name__}."


def copy_bolt(
    address: Address, key: str, limits: CopyLimits, file: Path, query: str = ""
) -> list[str]:
    """Write relationships and their nodes as GraphML.

    They are those of a database, or of a query. Only the properties that
    `core.graph.readers.graphml` reads are requested. A node without the property label, name or
    title is named by its property id, uuid, fullName or code.

    Parameters
    ----------
    address : address of the database.
    key : `name:password` or a token; empty for none.
    limits : limits of the copy.
    file : the file to write.
    query : a Cypher query that returns relationships or paths; empty for all relationships.

    Returns
    -------
    Sentences on what was copied and left out.

    Raises
    ------
    BadInput
        If the database cannot be reached, refuses, breaks off, sends too much or has no data. The
        errors of the limits' `watch` are raised too.
    """
    database = BoltDatabase(address, key, limits)
    id = id_function(database)
    total = None if query else _query_number(database, "MATCH ()-[r]->() RETURN count(r)")
    n_written, nodes, notes = write_edges_graphml(
        file, database, id, islice(_edges(database, id, query), limits.triples), total
    )
    if not n_written:
        hint = ""
        if query:
            hint = (
                " for this query. It has to return relationships or paths, as in MATCH "
                "(a)-[r]->(b) RETURN r"
            )
        raise BadInput(f"{address.title} gives no relationships{hint}.")
    of_total = f" of {total:,}" if total is not None and total > n_written else ""
    is_cut = n_written >= limits.triples and (query or of_total)
    cut_note = ", the most that were to be copied" if is_cut else ""
    plural = "" if n_written == 1 and not of_total else "s"
    note = (
        f"{n_written:,}{of_total} relationship{plural} and {nodes:,} nodes copied from "
        f"{address.title}{cut_note}."
    )
    return [note, *notes]


def write_edges_graphml(
    file: Path,
    database: BoltDatabase,
    id: str,
    edges: Iterable[tuple[Any, str, Any, list[Any]]],
    total: int | None = None,
) -> tuple[int, int, list[str]]:
    """Write edges and their nodes as GraphML. The nodes are requested from the database.

    Parameters
    ----------
    file : the file to write.
    database : the database.
    id : name of the Cypher function that returns ids.
    edges : source, type, target and properties of each.
    total : the expected number of edges, if known.

    Returns
    -------
    The numbers of edges and nodes, and sentences on the nodes.
    """
    nodes: dict[Any, None] = {}
    n_written = 0
    limits = database.limits
    with file.open("w", encoding="utf-8") as out:
        out.write(
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph '
            'edgedefault="directed">\n'
        )
        for edge in edges:
            _write_edge(out, *edge)
            n_written += 1
            nodes |= {edge[0]: None, edge[2]: None}  # a dict keeps the order
            if not n_written % RECORDS_PER_FETCH:
                expected = min(limits.triples, total or limits.triples)
                limits.watch.report(
                    f"{n_written:,} relationships",
                    EDGES_PROGRESS_SHARE * min(1.0, n_written / expected),
                )
        notes = _write_nodes(out, database, id, list(nodes))
        out.write("</graph></graphml>\n")
    return n_written, len(nodes), notes


def id_function(database: BoltDatabase) -> str:
    """Return the name of the server's Cypher function for ids."""
    try:
        next(database.records(f"MATCH (n) RETURN {ID_FUNCTION}(n) LIMIT 1"), None)
    except BadInput as error:
        if "refuses the query" not in str(error):
            raise
        return OLD_ID_FUNCTION
    return ID_FUNCTION


def _query_number(database: BoltDatabase, query: str) -> int | None:
    """Return the number that a query returns. None if it fails or returns anything else."""
    with suppress(BadInput, ValueError, TypeError):
        [[number]] = database.records(query)
        return int(number)
    return None


def _edges(
    database: BoltDatabase, id: str, query: str
) -> Iterator[tuple[Any, str, Any, list[Any]]]:
    """Yield source, type, target and properties of each relationship, without repetitions."""
    if not query:
        all_edges = ALL_EDGES_QUERY.format(id=id, pairs=PROPERTIES_PATTERN.format("r", "keys"))
        for record in database.records(
            all_edges, keys=list(EDGE_PROPERTIES), max_rows=database.limits.triples + 1
        ):
            yield record[0], record[1], record[2], record[3]
        return
    seen_ids: set[str] = set()
    for record in database.records(query):
        for relationship in _relationships(record):
            if relationship.element_id in seen_ids or None in relationship.nodes:
                continue
            seen_ids.add(relationship.element_id)
            source, target = (
                node.element_id if id == ID_FUNCTION else node.id for node in relationship.nodes
            )
            properties = [
                [key, value]
                for key, value in relationship.items()
                if key.lower() in EDGE_PROPERTIES
            ]
            yield source, relationship.type, target, properties


def _relationships(value: Any) -> Iterator[Any]:
    """Yield the relationships in a value of a record. Those in paths and lists are included."""
    from neo4j.graph import Path as GraphPath
    from neo4j.graph import Relationship

    if isinstance(value, Relationship):
        yield value
    elif isinstance(value, GraphPath):
        yield from value.relationships
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _relationships(item)


def _write_edge(out: TextIO, source: Any, kind: str, target: Any, pairs: list[Any]) -> None:
    attributes = f"source={_quoted(source)} target={_quoted(target)}"
    out.write(f"<edge {attributes}>{_data('type', kind)}{_properties(pairs)}</edge>\n")


@dataclass
class _CopiedProperties:
    """Counts of the properties that were not copied, and of those that name nodes."""

    uncopied: Counter[str] = field(default_factory=Counter)
    naming: Counter[str] = field(default_factory=Counter)

    def notes(self) -> list[str]:
        """Return a sentence on each property that names nodes.

        There is one more on those not copied.
        """
        notes = [
            f"{number:,} without a label, name or title: called by the property {key}."
            for key, number in self.naming.most_common()
        ]
        if self.uncopied:
            names = ", ".join(key for key, _ in self.uncopied.most_common(8))
            more = " …" * (len(self.uncopied) > 8)
            notes.append(f"Properties of nodes that were not copied: {names}{more}.")
        return notes


def _write_nodes(out: TextIO, database: BoltDatabase, id: str, ids: list[Any]) -> list[str]:
    """Write the nodes of these ids.

    Returns sentences on their names, and on properties that were not copied.
    """
    query = NODES_QUERY.format(id=id, pairs=PROPERTIES_PATTERN.format("n", "keys"))
    tally = _CopiedProperties()
    for start in range(0, len(ids), NODES_PER_REQUEST):
        progress = EDGES_PROGRESS_SHARE + (1 - EDGES_PROGRESS_SHARE) * start / len(ids)
        database.limits.watch.report("Nodes", progress)
        _write_batch(out, database, query, ids[start : start + NODES_PER_REQUEST], tally)
    return tally.notes()


def _write_batch(
    out: TextIO, database: BoltDatabase, query: str, ids: list[Any], tally: _CopiedProperties
) -> None:
    """Write a batch of nodes.

    Nodes that were deleted meanwhile are written without data, as edges refer to them.
    """
    records = database.records(query, ids=ids, keys=list(NODE_PROPERTIES))
    seen_ids: set[Any] = set()
    for node_id, labels, keys, properties in records:
        if node_id in seen_ids:
            continue
        seen_ids.add(node_id)
        tally.uncopied.update(key for key in keys if key.lower() not in NODE_PROPERTIES)
        naming_key, name_data = _naming_property(properties)
        if naming_key:
            tally.naming[naming_key] += 1
        label_data = _data("labels", "".join(f":{label}" for label in labels)) if labels else ""
        other_properties = [
            [key, value] for key, value in properties if str(key).lower() not in OTHER_NAMES
        ]
        data = f"{label_data}{name_data}{_properties(other_properties)}"
        out.write(f"<node id={_quoted(node_id)}>{data}</node>\n")
    for node_id in ids:
        if node_id not in seen_ids:
            out.write(f"<node id={_quoted(node_id)}/>\n")


def _naming_property(properties: list[Any]) -> tuple[str, str]:
    """Return the property that names a node without a usual name, and its data.

    Both are empty for a node with a usual name, or without any name.
    """
    values = {str(key).lower(): value for key, value in properties if value is not None}
    if not any(key in values for key in NODE_LABELS):
        for key in OTHER_NAMES:
            if key in values:
                return key, _data("name", values[key])
    return "", ""


def _properties(pairs: list[Any]) -> str:
    """Return the data elements of properties with texts, numbers or lists as values."""
    return "".join(
        _data(str(key).lower(), value)
        for key, value in pairs
        if isinstance(value, str | int | float | list) and value != ""
    )


def _data(key: str, value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else value
    return f"<data key={_quoted(key)}>{_escape(_text(text))}</data>"


def _quoted(value: Any) -> str:
    """Return a value as a quoted attribute."""
    from xml.sax.saxutils import quoteattr  # imported late, since it loads ssl and more

    return quoteattr(_text(value))


def _escape(text: str) -> str:
    """Return a text as the content of an element."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text(value: Any) -> str:
    """Return a value as text that XML can hold, cut to `MAX_PROPERTY_CHARACTERS`."""
    return NON_XML_CHARACTERS.sub("", str(value))[:MAX_PROPERTY_CHARACTERS]


def _size(value: Any) -> int:
    """Return roughly how many bytes of a reply a value takes."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, list | tuple):
        return 8 + sum(map(_size, value))
    return 16
