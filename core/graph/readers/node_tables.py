"""Tables of nodes that accompany a file of edges.

They hold ids, labels, types and descriptions. In the file of edges, the ends are ids or labels of
such a table.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from core.errors import BadInput, shorten
from core.graph.readers.attributes import one_line_text
from core.graph.readers.delimited_rows import read_rows
from core.graph.readers.header_columns import (
    HEAD_COLUMN_NAMES,
    TAIL_COLUMN_NAMES,
    bare_key,
    id_space,
)
from core.graph.readers.json_graphs import holds_links
from core.graph.readers.networks import COLUMNAR_TITLES, open_columnar
from core.graph.readers.source import Triple, TripleSource, bare_suffix
from core.graph.readers.unique_names import Namer
from core.io.json_rows import numbered_rows

ID_COLUMN_NAMES = (
    ":id",
    "id",
    "~id",
    "node_id",
    "nodeid",
    "entity_id",
    "_id",
    "key",
    "curie",
    "iri",
    "uri",
)
LABEL_COLUMN_NAMES = (
    "label",
    "name",
    "title",
    "entity_name",
    "entity",
    "preflabel",
    "display_name",
)
MAX_SHOWN_IDS = 3  # largest number of ids in a sentence
DELIMITED_SUFFIXES = (".csv", ".tsv", ".tab", ".txt")
UNKNOWN_IDS_WORDS = "ids of edges are not in the table of nodes, and are called as they are"
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")


def name_ends(
    source: TripleSource, triples: Iterable[tuple[TripleSource, Triple]]
) -> Generator[Triple, None, None]:
    """Replace the ends of triples by the labels in the source's tables of nodes.

    Each triple comes with the source of its file. The node attributes in the tables go to the
    attributes of `source`. An end is looked up as an id, then as a label (as in
    microsoft/graphrag's relationships). Other ends stay unchanged, and the tally notes them. Nodes
    with the same label are distinguished by their ids.

    Raises
    ------
    BadInput
        If a table has neither ids nor labels.
    """
    node_names, is_complete = NodeNames(source), False
    try:
        for file, (head, relation, tail) in triples:
            yield (
                node_names.name_of(head, file.spaces[0]),
                relation,
                node_names.name_of(tail, file.spaces[1]),
            )
        is_complete = True
    finally:
        for sentence in node_names.sentences(is_complete):
            source.tally.note(sentence)


@dataclass
class NodeNames:
    """Names of the nodes in a source's tables, by id and by label.

    Ids are unique within an id space, as in the headers of Neo4j's import. It is empty for other
    tables.
    """

    source: TripleSource
    by_id: dict[tuple[str, str], str] = field(default_factory=dict)  # (id space, id) -> name
    # label -> name of the first node that has it
    by_label: dict[str, str] = field(default_factory=dict)
    # (id space, end of an edge that no table has) -> its name
    unknown_ends: dict[tuple[str, str], str] = field(default_factory=dict)
    used_names: set[str] = field(default_factory=set)  # names of nodes with edges

    def __post_init__(self) -> None:
        self._namer = Namer()
        for path in self.source.nodes:
            self._read(
                replace(
                    self.source,
                    path=path,
                    watch=self.source.watch.without_reports,
                    format="auto",
                    columns=None,
                    line=0,
                )
            )

    def name_of(self, end: str, space: str = "") -> str:
        """Return the name of an edge's end in an id space.

        The name follows the rules of `name_ends`.
        """
        node_name = self.by_id.get((space, end)) or self.by_id.get(("", end))
        node_name = node_name or self.by_label.get(end)
        if node_name is None:
            if (space, end) not in self.unknown_ends:
                # The mark makes the identifier differ from those of nodes in tables.
                self.unknown_ends[space, end] = self._namer.name(
                    f"? {space} {end}", (end, f"{end} (id)")
                )
            return self.unknown_ends[space, end]
        self.used_names.add(node_name)
        return node_name

    def sentences(self, is_complete: bool) -> Iterator[str]:
        """Yield sentences about ends and nodes that did not match.

        `is_complete` is True if all edges were read.
        """
        if self.unknown_ends:
            ids_text = ", ".join(
                f"“{shorten(end, 30)}”" for _, end in islice(self.unknown_ends, MAX_SHOWN_IDS)
            ) + " …" * (len(self.unknown_ends) > MAX_SHOWN_IDS)
            is_single = len(self.unknown_ends) == 1
            words = UNKNOWN_IDS_WORDS
            if is_single:
                words = "id of edges is not in the table of nodes, and is called as it is"
            yield f"{len(self.unknown_ends):,} {words}: {ids_text}."
        n_idle = len(self.by_id) - len(self.used_names)
        if n_idle > 0 and is_complete:
            have, are = ("has", "is") if n_idle == 1 else ("have", "are")
            yield (
                f"{n_idle:,} node{'s' * (n_idle != 1)} of the table {have} no edge and {are} left "
                "out."
            )

    def _read(self, table: TripleSource) -> None:
        """Add the nodes of a table. Of several rows with the same id, the first one counts."""
        keys: tuple[str, str] | None = None
        space = ""
        for row, spaces in table_rows(table):
            if keys is None:
                keys = _find_keys(table, row)
                space = spaces.get(keys[0], "")
            id = one_line_text(row.get(keys[0]))
            label = one_line_text(row.get(keys[1])) if keys[1] else ""
            id = id or label
            if not id:
                table.report_bad_line(
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
            self.source.attributes.add_node(name, row, keys[1] or keys[0])
        if keys is None:
            raise BadInput(f"{table.name} holds no nodes.")


def _find_keys(table: TripleSource, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the keys of a node's id and of its label.

    Without ids, labels serve as ids. Without labels, the second key is empty.

    Raises
    ------
    BadInput
        If the table has neither.
    """
    id, label = (
        next((key for key in keys if key in row), "")
        for keys in (ID_COLUMN_NAMES, LABEL_COLUMN_NAMES)
    )
    if not id and not label:
        key_text = ", ".join(shorten(str(key), 30) for key in islice(row, 12))
        raise BadInput(
            f"{table.name} is no table of nodes: it has {key_text}; expected columns such as id, "
            "label, type, description."
        )
    label_text = f", called by “{label}”" if label and label != id else ""
    table.tally.note(f"Nodes are read from {table.name}: known by “{id or label}”{label_text}.")
    return id or label, label


def is_node_table(source: TripleSource) -> bool:
    """Return whether a file is a table of nodes, by its columns or keys.

    Such a table has an id or a label, and not the two ends of edges.
    """
    suffix = bare_suffix(source.path)
    if suffix not in (*COLUMNAR_TITLES, *JSON_SUFFIXES, *DELIMITED_SUFFIXES):
        return False
    if suffix in JSON_SUFFIXES and holds_links(source):
        return False
    try:
        if suffix in DELIMITED_SUFFIXES:
            keys = _header(next(read_rows(source), (0, []))[1])
        else:
            keys = list(next(table_rows(source))[0])
    except (StopIteration, BadInput):
        return False
    return not all(
        any(key in keys for key in names) for names in (HEAD_COLUMN_NAMES, TAIL_COLUMN_NAMES)
    ) and any(key in keys for key in (*ID_COLUMN_NAMES, *LABEL_COLUMN_NAMES))


def table_rows(source: TripleSource) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yield the rows of a table with a header, as values by key.

    Keys are in lower case. The table may be delimited text, Parquet, Arrow or JSON. Each row comes
    with the id spaces by key, as Neo4j's headers name them.

    Raises
    ------
    BadInput
        If the file is no such table.
    """
    suffix = bare_suffix(source.path)
    if suffix in COLUMNAR_TITLES:
        names, batches = open_columnar(source)
        keys = [bare_key(name) for name in names]
        for batch in batches:
            for values in zip(*batch):
                source.line += 1
                yield dict(zip(keys, values)), {}
    elif suffix in JSON_SUFFIXES:
        for number, _, row in numbered_rows(
            source.text, source.watch, source.most, ("nodes", "entities", "data"), single=True
        ):
            source.line = number
            yield {bare_key(str(key)): value for key, value in row.items()}, {}
    else:
        yield from _delimited_rows(source)


def _delimited_rows(source: TripleSource) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    lines = read_rows(source)
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
    spaces = {key: space for key, cell in zip(keys, header) if (space := id_space(cell))}
    for number, row in lines:
        source.line = number
        yield dict(zip(keys, row)), spaces


def _header(cells: list[str]) -> list[str]:
    """Return the keys in the header of a node table.

    There are none if the first line is not a header.
    """
    keys = [bare_key(cell) for cell in cells]
    return keys if {*ID_COLUMN_NAMES, *LABEL_COLUMN_NAMES} & set(keys) else []
