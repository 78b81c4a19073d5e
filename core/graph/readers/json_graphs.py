"""Reader of triples in JSON: rows of triples or graphs, nodes and links, and OpenIE files.

Readers of GraphSON and of network files turn their contents into nodes and links, too, and name
them by `link_triples`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from core.errors import BadInput, shorten
from core.graph.readers.edge_list import DEFAULT_RELATION
from core.graph.readers.graphml import EDGE_ATTRIBUTES_READ, EDGE_LABELS, NODE_LABELS
from core.graph.readers.header_columns import (
    HEAD_COLUMN_NAMES,
    RELATION_COLUMN_NAMES,
    TAIL_COLUMN_NAMES,
)
from core.graph.readers.list_cells import cell_names, name_combinations
from core.graph.readers.source import Triple, TripleSource
from core.graph.readers.unique_names import Namer
from core.io.files import UnpackedBytes, size_text
from core.io.json_rows import ROW_HOLDER_KEYS, numbered_rows, read_start

# Largest size in bytes of a file with nodes and links, which is read whole.
MAX_LINKS_FILE_BYTES = 1 << 28
# Key of a passage's triples by OpenIE, as HippoRAG writes them.
EXTRACTED_TRIPLES_KEY = "extracted_triples"
NODE_ID_KEYS = ("id", "key", "_id", "name", "label")  # of nodes; the first one that exists is used
# Keys of the links in an object with nodes.
LINK_LIST_KEYS = ("links", "edges", "rels", "relationships")
READ_FORMS = (
    "rows with head, relation and tail; rows with a “graph” of [head, relation, tail]; one object "
    "with “nodes” and “links” or “edges” (networkx, D3, Cytoscape.js, vis.js); HippoRAG's file of "
    "OpenIE, with “docs”"
)
JsonRow = Mapping[str, Any]


def read(source: TripleSource) -> Iterator[Triple]:
    """Yield the triples of a JSON file, in its order.

    Rows may be one per line, an array, or an object that holds one. These forms are read:
    - rows with head, relation and tail under one of their usual names;
    - rows with a `graph` of triples, or with HippoRAG's `extracted_triples`;
    - one object with nodes and links, or nodes and relationships in rows, as APOC exports them.

    The relation of a link is its relation, label, predicate, interaction, type, keywords or name,
    else “connected_to”. The tally notes which keys were used.

    Raises
    ------
    BadInput
        For other forms, and for a row that is not of one of these forms, unless the source leaves
        out bad lines.
    """
    nodes_and_links = _read_links_file(source)
    if nodes_and_links is not None:
        yield from link_triples(source, *nodes_and_links)
        return
    has_known_row, keys = False, Counter[str]()
    rows = numbered_rows(
        source.text, source.watch, source.most, (*ROW_HOLDER_KEYS, "docs"), single=True
    )
    first = list(islice(rows, 1))
    if first and is_property_graph(first[0][2]):
        yield from link_triples(source, *property_graph(row for _, _, row in chain(first, rows)))
        return
    for number, where, row in chain(first, rows):
        source.line = number
        try:
            triples, is_known = _read_row(source, where, row)
        except BadInput as error:
            source.report_bad_line("no list of triples", number, error)
            continue
        has_known_row = has_known_row or is_known
        keys.update(row.keys())
        yield from triples
    if not has_known_row and keys:
        key_text = ", ".join(shorten(str(key), 30) for key, _ in keys.most_common(8))
        raise BadInput(
            f"{source.name} holds no triples; its rows have {key_text}. What is read: {READ_FORMS}."
        )


def row_triples(name: str, where: str, row: JsonRow) -> list[Triple]:
    """Return the triples of a row's `graph`, none if the row has no graph.

    `name` is the file and `where` the position of the row, for the message of an error.

    Raises
    ------
    BadInput
        If the graph is not a list of triples of three texts each.
    """
    triples = []
    graph = row.get("graph") or []
    for triple in graph if isinstance(graph, list) else [graph]:
        if not _is_triple(triple):
            raise BadInput(
                f"{name}, {where}: “graph” should be a list of [head, relation, tail], three texts "
                "each."
            )
        triples.append((triple[0], triple[1], triple[2]))
    return triples


def _read_row(source: TripleSource, where: str, row: JsonRow) -> tuple[Iterable[Triple], bool]:
    """Return the triples of a row.

    The second result is True if the row has a known form. `where` is the position of the row, for
    the message of an error.

    Raises
    ------
    BadInput
        If a part of a triple is missing.
    """
    if "graph" in row:
        return row_triples(source.name, where, row), True
    if EXTRACTED_TRIPLES_KEY in row:
        return _extracted_triples(source, row[EXTRACTED_TRIPLES_KEY]), True
    keys = triple_keys(row)
    if keys is None:
        return [], "question" in row
    source.tally.note(
        f"Each row is a triple: head from “{keys[0]}”, relation from “{keys[1]}”, tail from "
        f"“{keys[2]}”."
    )
    names = tuple(names_in(row[key]) for key in keys)
    if not all(names):
        raise BadInput(f"{source.name}, {where}: head, relation or tail is empty.")
    # A part may be an object with attributes of the node.
    for part, key in zip(names, keys):
        if isinstance(row[key], Mapping):
            source.attributes.add_node(part[0], _fold_keys(row[key]))
    return _with_attributes(source, name_combinations(source, names), row, keys), True


def _with_attributes(
    source: TripleSource, triples: Iterable[Triple], row: JsonRow, keys: Sequence[str]
) -> Iterator[Triple]:
    """Yield the triples of a row, and pass its attributes to the source.

    The `keys` of head, relation and tail are left out.
    """
    for triple in triples:
        source.attributes.set_next_edge(_fold_keys(row), *(key.casefold() for key in keys))
        yield triple


def names_in(value: Any) -> list[str]:
    """Return the names in a cell.

    The cell holds a value, a list, or a list written as text.
    """
    values = value if isinstance(value, list) else [value]
    if isinstance(value, str) and "[" in value:
        values = cell_names(value)
    return [name for item in values if (name := _part_text(item)).strip()]


def _part_text(value: Any) -> str:
    """Return a part of a triple as text: the name of an object, or the value itself."""
    if isinstance(value, Mapping | str):
        return _text_of(value)
    return "" if value is None else str(value)


def triple_keys(row: JsonRow) -> tuple[str, str, str] | None:
    """Return the keys of a row's head, relation and tail.

    The result is None if one is missing.
    """
    folded = {str(key).casefold(): key for key in row}  # in lower case -> as written
    part_keys = [
        next((folded[name] for name in names if name in folded), None)
        for names in (HEAD_COLUMN_NAMES, RELATION_COLUMN_NAMES, TAIL_COLUMN_NAMES)
    ]
    return None if None in part_keys else (part_keys[0], part_keys[1], part_keys[2])  # type: ignore[return-value]


def _fold_keys(row: JsonRow) -> dict[str, Any]:
    """Return a row with its keys in lower case."""
    return {str(key).casefold(): value for key, value in row.items()}


def _text_of(value: Any) -> str:
    """Return a text, a number or the name of an object as text.

    Other values give an empty text.
    """
    if isinstance(value, Mapping):
        value = next((value[key] for key in (*NODE_LABELS, *NODE_ID_KEYS) if key in value), "")
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return " ".join(str(value).split())
    return ""


def _is_triple(parts: Any) -> bool:
    return (
        isinstance(parts, list)
        and len(parts) == 3
        and all(isinstance(part, str) and part.strip() for part in parts)
    )


def _extracted_triples(source: TripleSource, triples: Any) -> list[Triple]:
    """Return the triples that a language model extracted from a passage.

    They have the form in which HippoRAG stores them. Models sometimes write lists without exactly
    three parts. The tally counts these as left out.
    """
    items = triples if isinstance(triples, list) else []
    complete = [(item[0], item[1], item[2]) for item in items if _is_triple(item)]
    if len(complete) < len(items):
        source.tally.drop(
            "(not of three parts, as models write them now and then)", len(items) - len(complete)
        )
    return complete


def _read_links_file(source: TripleSource) -> tuple[list[JsonRow], list[JsonRow]] | None:
    """Return the nodes and links of a file.

    The result is None if the file is not one object with both.

    Raises
    ------
    BadInput
        If the file is too large.
    """
    if read_start(source.text, 1, source.most) != "{":
        return None
    # A cheap test of the beginning, so that large files of rows are not read whole.
    start = read_start(source.text, 4096, source.most)
    graph_keys = ("nodes", *LINK_LIST_KEYS, "elements", "directed", "multigraph")
    if not any(f'"{key}"' in start for key in graph_keys):
        return None
    with source.open_text() as stream:
        data = read_whole(stream, MAX_LINKS_FILE_BYTES + 1)
    try:
        content = json.loads(data.decode("utf-8")) if len(data) <= MAX_LINKS_FILE_BYTES else None
    except (ValueError, RecursionError):
        # A file of several objects, or damaged JSON: reading it as rows will report the error.
        return None
    if content is None:
        raise BadInput(
            f"{source.name}: a file of nodes and links may hold {size_text(MAX_LINKS_FILE_BYTES)}; this one holds "
            "more."
        )
    return _nodes_and_links(content)


def read_whole(stream: UnpackedBytes, limit: int) -> bytes:
    """Return the bytes of a file, at most `limit` of them."""
    data = b""
    while len(data) < limit:
        more = stream.read(limit - len(data))
        if not more:
            break
        data += more
    return data


def holds_links(source: TripleSource) -> bool:
    """Return whether a file is one object with nodes and links."""
    return _read_links_file(source) is not None


def _nodes_and_links(content: JsonRow) -> tuple[list[JsonRow], list[JsonRow]] | None:
    """Return the nodes and links of one object.

    The result is None if the object lacks one of them. The object may have the form of networkx,
    D3, Cytoscape.js, vis.js or the JSON Graph Format.
    """
    graph = _inner_graph(content)
    nodes = _listed_nodes(graph.get("nodes"))
    links = next((graph[key] for key in LINK_LIST_KEYS if key in graph), None)
    if isinstance(links, Mapping):
        links = list(links.values())
    if not isinstance(nodes, list) or not isinstance(links, list):
        return None
    node_rows = [_inner_row(node) for node in nodes]
    link_rows = [_inner_row(link) for link in links]
    if link_rows and isinstance(link_rows[0], Mapping) and is_property_graph(link_rows[0]):
        return property_graph([*node_rows, *link_rows])
    return node_rows, link_rows


def _inner_graph(content: JsonRow) -> JsonRow:
    """Return the part of an object that holds its nodes and links.

    It is the `elements` of Cytoscape.js, the `graph` of the JSON Graph Format, or the object
    itself.
    """
    if isinstance(content.get("elements"), Mapping):
        return content["elements"]
    if isinstance(content.get("graph"), Mapping) and "nodes" in content["graph"]:
        return content["graph"]
    return content


def _listed_nodes(nodes: Any) -> Any:
    """Return an object of nodes by id as a list, and other values unchanged."""
    if not isinstance(nodes, Mapping):
        return nodes
    return [
        {"id": id, **node} if isinstance(node, Mapping) else {"id": id}
        for id, node in nodes.items()
    ]


def _inner_row(row: Any) -> Any:
    """Return the `data` of a node or link, else the row itself.

    Cytoscape.js writes such `data`.
    """
    if isinstance(row, Mapping) and isinstance(row.get("data"), Mapping):
        return row["data"]
    return row


def is_property_graph(row: JsonRow) -> bool:
    """Return whether a row is an exported node or relationship.

    The exports of Neo4j's APOC and of Memgraph are recognised.

    >>> from core.graph.readers.json_graphs import is_property_graph
    >>> is_property_graph({"type": "node", "id": "0", "labels": ["Boat"]})
    True
    >>> is_property_graph({"type": "node", "name": "a"})
    False
    """
    kind = row.get("type")
    return "id" in row and (
        (kind == "node" and ("labels" in row or "properties" in row))
        or (kind == "relationship" and "start" in row and "end" in row)
    )


def property_graph(rows: Iterable[JsonRow]) -> tuple[list[JsonRow], list[JsonRow]]:
    """Return the nodes and links of exported nodes and relationships, in any order.

    Ends that are not among the nodes of the file become nodes, too.
    """
    nodes, edges = dict[str, JsonRow](), list[JsonRow]()
    for row in rows:
        if row.get("type") != "relationship":
            id = str(row.get("id"))
            nodes[id] = {**nodes.get(id, {}), **_with_flat_properties(row)}
            continue
        link = _with_flat_properties(row)
        for end, name in (("start", "source"), ("end", "target")):
            end_row = row[end] if isinstance(row.get(end), Mapping) else {"id": row.get(end)}
            id = link[name] = str(end_row.get("id"))
            nodes[id] = {**_with_flat_properties(end_row), **nodes.get(id, {})}
        edges.append(
            {key: value for key, value in link.items() if key not in ("start", "end", "id")}
        )
    return list(nodes.values()), edges


def _with_flat_properties(row: JsonRow) -> dict[str, Any]:
    """Return a node or relationship with its properties among its keys.

    The keys of the row take precedence over its properties, and labels become types.
    """
    properties = row.get("properties")
    values = {**properties} if isinstance(properties, Mapping) else {}
    values |= {key: value for key, value in row.items() if key not in ("properties", "type")}
    labels = values.pop("labels", None)
    return {**values, "type": labels} if labels else values


def link_triples(
    source: TripleSource, nodes: Sequence[JsonRow], edges: Sequence[JsonRow]
) -> Iterator[Triple]:
    """Yield the links between nodes as triples.

    A node is named by its label, name or title, else by its id. Nodes with the same name are
    distinguished by their ids. The relation of a link is the first existing key of `EDGE_LABELS`,
    else “connected_to”. The tally notes which keys were used. The `line` of the source is the
    number of the link.
    """
    names = _name_nodes(source, nodes)
    links_by_position = _lacks_ids(nodes)
    end_keys = (*HEAD_COLUMN_NAMES, *TAIL_COLUMN_NAMES)
    read_keys = (*end_keys, *(EDGE_ATTRIBUTES_READ if source.attributes.is_wanted else ()))
    relation_keys, ignored_keys = Counter[str](), Counter[str]()
    try:
        for number, link in enumerate(edges, 1):
            source.line = number
            end_names = _end_names(link, names, links_by_position)
            if end_names is None:
                fault = (
                    f"link {number:,} lacks an end, or names a node that the file does not hold."
                )
                source.report_bad_line("a link to an unknown node", number, fault)
                continue
            fields = _fold_keys(link)
            key = _first_filled(fields, EDGE_LABELS)
            relation_keys[key] += 1
            source.attributes.set_next_edge(fields, *end_keys, key)
            ignored_keys.update(name for name in fields if name not in (*read_keys, key))
            yield end_names[0], _text_of(fields[key]) if key else DEFAULT_RELATION, end_names[1]
    finally:
        _note_link_keys(source, relation_keys, ignored_keys)


def _name_nodes(source: TripleSource, nodes: Sequence[JsonRow]) -> dict[str, str]:
    """Map the ids of nodes to their names.

    The attributes of the nodes are passed to the source. A node's position counts as an id, too,
    such as `#0`.
    """
    namer, names = Namer(), dict[str, str]()
    for position, node in enumerate(nodes):
        row = node if isinstance(node, Mapping) else {"id": node}
        id = _first_text(row, NODE_ID_KEYS) or str(position)
        label = _first_text(row, NODE_LABELS)
        names[id] = namer.name(id, (label, f"{label} ({id})") if label else (id, f"{id} (id)"))
        names.setdefault(f"#{position}", names[id])  # D3 may refer to nodes by position
        source.attributes.add_node(names[id], _fold_keys(row), _first_filled(row, NODE_LABELS))
    return names


def _first_text(row: JsonRow, keys: Sequence[str]) -> str:
    """Return the text under the first key that a row has.

    The text is empty if the row has none of the keys.
    """
    return next((_text_of(row[key]) for key in keys if key in row), "")


def _first_filled(row: JsonRow, keys: Sequence[str]) -> str:
    """Return the first key under which a row has a text.

    The result is empty if there is none.
    """
    return next((key for key in keys if _text_of(row.get(key))), "")


def _lacks_ids(nodes: Sequence[JsonRow]) -> bool:
    """Return whether there are nodes and none has an id.

    Links then give the positions of nodes.
    """
    return bool(nodes) and not any(
        isinstance(node, Mapping) and ("id" in node or "key" in node) for node in nodes
    )


def _note_link_keys(
    source: TripleSource, relation_keys: Counter[str], ignored_keys: Counter[str]
) -> None:
    """Note in the tally which keys of the links are relations.

    The note also says which keys are ignored. The key in `relation_keys` is empty for links without
    a relation.
    """
    if not relation_keys:
        return
    source.attributes.ignored_keys = [name for name, _ in ignored_keys.most_common(12)]
    relation_text = (
        " or ".join(f"“{name}”" for name, _ in relation_keys.most_common() if name)
        or f"no key: each is “{DEFAULT_RELATION}”"
    )
    ignored_text = ""
    if ignored_keys:
        ignored_text = (
            f" Keys of links that are not read: {', '.join(source.attributes.ignored_keys)}."
        )
    source.tally.note(f"Nodes and links: relations are called by {relation_text}.{ignored_text}")


def _end_names(
    link: Any, names: Mapping[str, str], links_by_position: bool
) -> tuple[str, str] | None:
    """Return the names of a link's two ends.

    The result is None if one is missing or unknown. `names` maps ids to names, and `#` with a
    position to the name of the node there.
    """
    if not isinstance(link, Mapping):
        return None
    fields, end_names = _fold_keys(link), []
    for keys in (HEAD_COLUMN_NAMES, TAIL_COLUMN_NAMES):
        value = next((fields[name] for name in keys if name in fields), None)
        id = f"#{value}" if links_by_position and isinstance(value, int) else _text_of(value)
        end_names.append(names.get(id))
    return None if None in end_names else (end_names[0], end_names[1])  # type: ignore[return-value]
