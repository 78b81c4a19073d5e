"""Tables of nodes that accompany a file of edges.

They have ids, labels, types and descriptions. The ends of edges are named by their labels.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from core.errors import BadInput, shorten
from core.graph.readers.attributes import text_of
from core.graph.readers.delimited import HEADS, TAILS, bare_key, rows_of, space_of
from core.graph.readers.json_graphs import holds_links
from core.graph.readers.naming import Namer
from core.graph.readers.networks import TABLES, columns_of
from core.graph.readers.source import Triple, TripleSource, bare_suffix
from core.io.json_rows import numbered_rows

IDS = (":id", "id", "~id", "node_id", "nodeid", "entity_id", "_id", "key", "curie", "iri", "uri")
LABELS = ("label", "name", "title", "entity_name", "entity", "preflabel", "display_name")
ID_SHOWN = 3  # largest number of ids in a sentence
DELIMITED = (".csv", ".tsv", ".tab", ".txt")
UNKNOWN = "ids of edges are not in the table of nodes, and are called as they are"
JSON = (".json", ".jsonl", ".ndjson")


def named(
    source: TripleSource, triples: Iterable[tuple[TripleSource, Triple]]
) -> Generator[Triple, None, None]:
    """Yield triples with the labels of their ends, from the source's tables of nodes.

    Each triple comes with the source of its file. The node attributes in the tables go to the
    source's attributes. An end is an id of a table, else a label in it (as in microsoft/graphrag's
    relationships). Other ends keep their text, which the tally counts. Nodes with the same label
    are distinguished by their ids.

    Raises
    ------
    BadInput
        If a table has neither ids nor labels.
    """
    known, whole = NodeNames(source), False
    try:
        for file, (head, relation, tail) in triples:
            yield known.name(head, file.spaces[0]), relation, known.name(tail, file.spaces[1])
        whole = True
    finally:
        for sentence in known.sentences(whole):
            source.tally.note(sentence)


@dataclass
class NodeNames:
    """Names of the nodes in a source's tables, by id and by label."""

    source: TripleSource
    by_id: dict[tuple[str, str], str] = field(default_factory=dict)  # (space, id) -> name
    # label -> name of the first node that has it
    by_label: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)  # an end that no table has -> its name
    used: set[str] = field(default_factory=set)  # names of nodes with edges

    def __post_init__(self) -> None:
        self._namer = Namer()
        for path in self.source.nodes:
            self._read(
                replace(
                    self.source,
                    path=path,
                    watch=self.source.watch.quiet,
                    format="auto",
                    columns=None,
                    line=0,
                )
            )

    def name(self, end: str, space: str = "") -> str:
        """Return the name of an edge's end, by the rules of `named`."""
        found = self.by_id.get((space, end)) or (self.by_id.get(("", end)) if space else None)
        if found is None and end in self.by_label:
            found = self.by_label[end]
        if found is None:
            if end not in self.unknown:
                self.unknown[end] = self._namer.name(f"? {space} {end}", (end, f"{end} (id)"))
            return self.unknown[end]
        self.used.add(found)
        return found

    def sentences(self, whole: bool) -> Iterator[str]:
        """Yield sentences about ends and nodes that did not match.

        `whole` is True if all edges were read.
        """
        if self.unknown:
            shown = ", ".join(
                f"“{shorten(end, 30)}”" for end in islice(self.unknown, ID_SHOWN)
            ) + " …" * (len(self.unknown) > ID_SHOWN)
            one = len(self.unknown) == 1
            words = UNKNOWN
            if one:
                words = "id of edges is not in the table of nodes, and is called as it is"
            yield f"{len(self.unknown):,} {words}: {shown}."
        idle = len(self.by_id) - len(self.used)
        if idle > 0 and whole:
            have, are = ("has", "is") if idle == 1 else ("have", "are")
            yield (
                f"{idle:,} node{'s' * (idle != 1)} of the table {have} no edge and {are} left out."
            )

    def _read(self, table: TripleSource) -> None:
        keys: tuple[str, str] | None = None
        space = ""
        for row, spaces in rows(table):
            if keys is None:
                keys = _keys(table, row)
                space = spaces.get(keys[0], "")
            id, label = text_of(row.get(keys[0])), text_of(row.get(keys[1])) if keys[1] else ""
            id = id or label
            if not id:
                table.bad(
                    "a node without an id",
                    table.line,
                    f"the column “{keys[0]}” is empty; expected the node's id.",
                )
                continue
            if (space, id) in self.by_id:
                continue
            key = f"{space} {id}" if space else id
            name = self._namer.name(
                key, (label, f"{label} ({id})") if label else (id, f"{id} (id)")
            )
            self.by_id[space, id] = name
            if label:
                self.by_label.setdefault(label, name)
            self.source.attributes.node(name, row, keys[1] or keys[0])
        if keys is None:
            raise BadInput(f"{table.name} holds no nodes.")


def _keys(table: TripleSource, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the keys of a node's id and of its label.

    The latter is empty if there is none.

    Raises
    ------
    BadInput
        If the table has neither.
    """
    id, label = (next((key for key in keys if key in row), "") for keys in (IDS, LABELS))
    if not id and not label:
        found = ", ".join(shorten(str(key), 30) for key in islice(row, 12))
        raise BadInput(
            f"{table.name} is no table of nodes: it has {found}; expected columns such as id, "
            "label, type, description."
        )
    called = f", called by “{label}”" if label and label != id else ""
    table.tally.note(f"Nodes are read from {table.name}: known by “{id or label}”{called}.")
    return id or label, label


def is_node_table(source: TripleSource) -> bool:
    """Return whether a file is a table of nodes, by its columns or keys.

    Such a table has an id or a label, and not the two ends of edges.
    """
    suffix = bare_suffix(source.path)
    if suffix in JSON and holds_links(source) or suffix not in (*TABLES, *JSON, *DELIMITED):
        return False
    try:
        if suffix in DELIMITED:
            keys = _header(next(rows_of(source), (0, []))[1])
        else:
            keys = list(next(rows(source))[0])
    except (StopIteration, BadInput):
        return False
    return not all(any(key in keys for key in ends) for ends in (HEADS, TAILS)) and any(
        key in keys for key in (*IDS, *LABELS)
    )


def rows(source: TripleSource) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield the rows of a table with a header, as values by key.

    Keys are in lower case. The table may be delimited text, Parquet, Arrow or JSON. Each row comes
    with the id spaces of its keys, as named in Neo4j's headers.

    Raises
    ------
    BadInput
        If the file is no such table.
    """
    suffix = bare_suffix(source.path)
    if suffix in TABLES:
        names, batches = columns_of(source)
        keys = [bare_key(name) for name in names]
        for batch in batches:
            for values in zip(*batch):
                source.line += 1
                yield dict(zip(keys, values)), {}
    elif suffix in JSON:
        for number, _, row in numbered_rows(
            source.text, source.watch, source.most, ("nodes", "entities", "data"), single=True
        ):
            source.line = number
            yield {bare_key(str(key)): value for key, value in row.items()}, {}
    else:
        yield from _delimited_rows(source)


def _delimited_rows(source: TripleSource) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    lines = rows_of(source)
    number, header = next(lines, (0, []))
    keys = _header(header)
    if not keys and len(header) == 2:
        source.tally.note(
            f"{source.name} has no header: its two columns are taken as id and label."
        )
        keys, lines = ["id", "label"], chain([(number, header)], lines)
    elif not keys:
        raise BadInput(
            f"{source.name}, line {number or 1}: expected a header that names columns such as id, "
            "label, type, description."
        )
    spaces = {key: space for key, cell in zip(keys, header) if (space := space_of(cell))}
    for number, row in lines:
        source.line = number
        yield dict(zip(keys, row)), spaces


def _header(cells: list[str]) -> list[str]:
    """Return the keys that a first line names.

    There are none if the line is no header of a table of nodes.
    """
    keys = [bare_key(cell) for cell in cells]
    return keys if {*IDS, *LABELS} & set(keys) else []
