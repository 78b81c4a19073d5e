"""Triples of JSON: rows that hold a triple or a graph each, graphs as nodes and links, and files of open information extraction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.errors import BadInput, shorten
from core.graph.readers.delimited import HEADS, LINKED, RELATIONS, TAILS
from core.graph.readers.graphml import EDGE_LABELS, NODE_LABELS, READ_OF_EDGES
from core.graph.readers.naming import Namer
from core.graph.readers.source import Triple, TripleSource
from core.io.files import size_text
from core.io.json_rows import HOLDS_ROWS, beginning, numbered_rows

WHOLE = 1 << 28  # bytes of a file with nodes and links, which is read at once
EXTRACTED = "extracted_triples"  # what OpenIE gives of a passage, as HippoRAG writes it
IDS = ("id", "key", "_id", "name", "label")  # of nodes, the first that is there
READ = (
    "rows with head, relation and tail; rows with a “graph” of [head, relation, tail]; one object with “nodes” and “links” or “edges” "
    "(networkx, D3, Cytoscape.js, vis.js); HippoRAG's file of OpenIE, with “docs”"
)
Row = Mapping[str, Any]


def read(source: TripleSource) -> Iterator[Triple]:
    """The triples of a JSON file, in its order: of rows (one a line, an array, or an object that holds one) that have a head, a relation
    and a tail under one of their usual names, a `graph` of triples, or HippoRAG's `extracted_triples`; or the links of one object that
    has nodes. A link's relation is its relation, label, predicate, interaction, type, keywords or name, else `connected_to`. The tally says
    what was taken how. Raises BadInput for what is none of these."""
    whole = _whole(source)
    if whole is not None:
        yield from links(source, *whole)
        return
    read_any, keys = False, Counter[str]()
    for number, where, row in numbered_rows(
        source.path, source.progress, source.most, (*HOLDS_ROWS, "docs"), single=True
    ):
        source.line = number
        try:
            triples, known = _of_row(source, where, row)
        except BadInput as error:
            source.bad("no list of triples", number, error)
            continue
        read_any = read_any or known
        keys.update(row.keys())
        yield from triples
    if not read_any and keys:
        found = ", ".join(shorten(str(key), 30) for key, _ in keys.most_common(8))
        raise BadInput(
            f"{source.name} holds no triples; its rows have {found}. What is read: {READ}."
        )


def row_triples(name: str, where: str, row: Row) -> list[Triple]:
    """The triples of a row's `graph`, none where it has none. Raises BadInput naming file and place where it is no list of
    three texts each."""
    return _list_of(name, where, row, "graph")


def _of_row(source: TripleSource, where: str, row: Row) -> tuple[list[Triple], bool]:
    """The triples of a row, and whether it is one of those that have some. Raises BadInput."""
    if "graph" in row:
        return row_triples(source.name, where, row), True
    if EXTRACTED in row:
        return _extracted(source, row[EXTRACTED]), True
    keys = _columns(row)
    if keys is None:
        return [], "question" in row
    source.tally.note(
        f"Each row is a triple: head from “{keys[0]}”, relation from “{keys[1]}”, tail from “{keys[2]}”."
    )
    parts = tuple(_text(row[key]) for key in keys)
    if not all(parts):
        raise BadInput(f"{source.name}, {where}: head, relation or tail is empty.")
    source.attributes.edge(_folded(row), *(key.casefold() for key in keys))
    for part, key in zip(parts, keys):
        if isinstance(row[key], Mapping):
            source.attributes.node(part, _folded(row[key]))
    return [parts], True  # type: ignore[list-item]


def _columns(row: Row) -> tuple[str, str, str] | None:
    """The keys of a row's head, relation and tail; None where it lacks one."""
    folded = {str(key).casefold(): key for key in row}
    found = [
        next((folded[name] for name in names if name in folded), None)
        for names in (HEADS, RELATIONS, TAILS)
    ]
    return None if None in found else (found[0], found[1], found[2])  # type: ignore[return-value]


def _folded(row: Row) -> dict[str, Any]:
    """A row with its keys in lower case."""
    return {str(key).casefold(): value for key, value in row.items()}


def _text(value: Any) -> str:
    """A part of a triple as text: a text, a number, or the name of an object; empty for another."""
    if isinstance(value, Mapping):
        value = next((value[key] for key in (*NODE_LABELS, *IDS) if key in value), "")
    return (
        " ".join(str(value).split())
        if isinstance(value, str | int | float) and not isinstance(value, bool)
        else ""
    )


def _list_of(name: str, where: str, row: Row, key: str) -> list[Triple]:
    found = []
    graph = row.get(key) or []
    for triple in graph if isinstance(graph, list) else [graph]:
        if not _is_triple(triple):
            raise BadInput(
                f"{name}, {where}: “{key}” should be a list of [head, relation, tail], three texts each."
            )
        found.append((triple[0], triple[1], triple[2]))
    return found


def _is_triple(parts: Any) -> bool:
    return (
        isinstance(parts, list)
        and len(parts) == 3
        and all(isinstance(part, str) and part.strip() for part in parts)
    )


def _extracted(source: TripleSource, triples: Any) -> list[Triple]:
    """The triples that a model extracted from a passage; those of other lengths, as models write them now and then, are left out."""
    listed = triples if isinstance(triples, list) else []
    found = [(one[0], one[1], one[2]) for one in listed if _is_triple(one)]
    if len(found) < len(listed):
        source.tally.drop(
            "(not of three parts, as models write them now and then)", len(listed) - len(found)
        )
    return found


def _whole(source: TripleSource) -> tuple[list[Row], list[Row]] | None:
    """The nodes and the links of a file that is one object with both; None for another file. Raises BadInput for one that is too large."""
    if beginning(source.path, 1, source.most) != "{":
        return None
    head = beginning(source.path, 4096, source.most)
    if not any(
        f'"{key}"' in head
        for key in ("nodes", "links", "edges", "elements", "directed", "multigraph")
    ):
        return None
    with source.opened() as stream:
        data = stream.read(WHOLE + 1)
        while len(data) <= WHOLE and (more := stream.read(WHOLE + 1 - len(data))):
            data += more
    try:
        found = json.loads(data.decode("utf-8-sig")) if len(data) <= WHOLE else None
    except (ValueError, RecursionError):
        return None  # several objects, or none: it is read as rows, which says what is wrong
    if found is None:
        raise BadInput(
            f"{source.name}: a file of nodes and links may hold {size_text(WHOLE)}; this one holds more."
        )
    return _nodes_and_links(found)


def holds_links(source: TripleSource) -> bool:
    """Whether a file is one object with nodes and links."""
    return _whole(source) is not None


def _nodes_and_links(found: Any) -> tuple[list[Row], list[Row]] | None:
    """The nodes and links of an object of networkx, D3, Cytoscape.js, vis.js or the JSON Graph Format."""
    if isinstance(found.get("elements"), Mapping):
        found = found["elements"]
    elif isinstance(found.get("graph"), Mapping) and "nodes" in found["graph"]:
        found = found["graph"]
    nodes, edges = found.get("nodes"), found.get("links", found.get("edges"))
    if isinstance(nodes, Mapping):
        nodes = [
            {"id": id, **(one if isinstance(one, Mapping) else {})} for id, one in nodes.items()
        ]
    if not isinstance(nodes, list) or not isinstance(edges, list):
        return None
    inner = lambda one: (
        one["data"] if isinstance(one, Mapping) and isinstance(one.get("data"), Mapping) else one
    )
    return [inner(one) for one in nodes], [inner(one) for one in edges]


def links(source: TripleSource, nodes: Sequence[Row], edges: Sequence[Row]) -> Iterator[Triple]:
    """The links between nodes, as triples: a node is called by its label, name or title, else by its id; those that share one are told
    apart by their ids. A link's relation is the first of `EDGE_LABELS` that it has, else `connected_to`. The tally says which."""
    namer, names = Namer(), dict[str, str]()
    for place, node in enumerate(nodes):
        row = node if isinstance(node, Mapping) else {"id": node}
        id = next((_text(row[key]) for key in IDS if key in row), "") or str(place)
        label = next((_text(row[key]) for key in NODE_LABELS if key in row), "")
        names[id] = namer.name(id, (label, f"{label} ({id})") if label else (id, f"{id} (id)"))
        names.setdefault(f"#{place}", names[id])  # links of D3 may count nodes
        source.attributes.node(
            names[id], _folded(row), next((key for key in NODE_LABELS if _text(row.get(key))), "")
        )
    relations, ignored = Counter[str](), Counter[str]()
    by_place = bool(nodes) and not any(
        isinstance(one, Mapping) and ("id" in one or "key" in one) for one in nodes
    )
    read = READ_OF_EDGES if source.attributes.wanted else ()
    try:
        for number, link in enumerate(edges, 1):
            source.line = number
            ends = _ends(link, names, by_place)
            if ends is None:
                fault = (
                    f"link {number:,} lacks an end, or names a node that the file does not hold."
                )
                source.bad("a link to an unknown node", number, fault)
                continue
            folded = _folded(link)
            key = next((name for name in EDGE_LABELS if _text(folded.get(name))), "")
            relations[key] += 1
            source.attributes.edge(folded, *HEADS, *TAILS, key)
            ignored.update(name for name in folded if name not in (*HEADS, *TAILS, *read, key))
            yield ends[0], _text(folded[key]) if key else LINKED, ends[1]
    finally:
        if relations:
            source.attributes.ignored = [name for name, _ in ignored.most_common(12)]
            called = (
                " or ".join(f"“{name}”" for name, _ in relations.most_common() if name)
                or f"no key: each is “{LINKED}”"
            )
            left = (
                f" Keys of links that are not read: {', '.join(source.attributes.ignored)}."
                if ignored
                else ""
            )
            source.tally.note(f"Nodes and links: relations are called by {called}.{left}")


def _ends(link: Any, names: Mapping[str, str], by_place: bool) -> tuple[str, str] | None:
    """The names of a link's two ends; None where one is missing."""
    if not isinstance(link, Mapping):
        return None
    folded, found = _folded(link), []
    for keys in (HEADS, TAILS):
        value = next((folded[name] for name in keys if name in folded), None)
        id = f"#{value}" if by_place and isinstance(value, int) else _text(value)
        found.append(names.get(id))
    return None if None in found else (found[0], found[1])  # type: ignore[return-value]
