"""Reader of triples in GraphSON, TinkerPop's JSON, typed or untyped.

A file has one vertex with its outgoing edges per line, or one object of vertices and edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.errors import BadInput
from core.graph.readers.json_graphs import JsonRow, link_triples
from core.graph.readers.source import Triple, TripleSource
from core.io.json_rows import numbered_rows

# Keys of versions 1, 2 and 3 -> keys of nodes and links in `json_graphs`.
GRAPHSON_KEYS = {
    "_id": "id",
    "_outV": "source",
    "outV": "source",
    "_inV": "target",
    "inV": "target",
    "_label": "label",
}


def read(source: TripleSource) -> Iterator[Triple]:
    """Yield the edges of a GraphSON file of version 1, 2 or 3.

    The ends and relations are named as in `json_graphs.link_triples`. A vertex is named by its
    property “name”, and its label becomes its type.

    Raises
    ------
    BadInput
        If the file is not GraphSON.
    """
    nodes, edges = list[JsonRow](), list[JsonRow]()
    for number, where, row in numbered_rows(
        source.text, source.watch, source.most, (), single=True
    ):
        source.line = number
        content = untyped_value(row)
        content = content.get("graph", content) if isinstance(content, Mapping) else {}
        content = content if isinstance(content, Mapping) else {}
        if isinstance(content.get("vertices"), list):
            nodes += [_vertex(row) for row in content["vertices"] if isinstance(row, Mapping)]
            edges += [
                _edge(row) for row in _as_list(content.get("edges")) if isinstance(row, Mapping)
            ]
        elif "id" in content:
            nodes.append(_vertex(content))
            edges += _outgoing(content)
        else:
            source.report_bad_line(
                "no vertex",
                number,
                BadInput(
                    f"{source.name}, {where}: expected a vertex of GraphSON, with an “id” and "
                    "“outE”."
                ),
            )
    yield from link_triples(source, nodes, edges)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def untyped_value(value: Any) -> Any:
    """Return a JSON value without its type information, at any depth.

    Versions 2 and 3 of GraphSON have such information.

    >>> from core.graph.readers.graphson import untyped_value
    >>> untyped_value({"id": {"@type": "g:Int32", "@value": 1}})
    {'id': 1}
    >>> untyped_value({"@type": "g:Map", "@value": ["a", {"@type": "g:List", "@value": [2]}]})
    {'a': [2]}
    """
    if isinstance(value, list):
        return [untyped_value(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    if set(value) == {"@type", "@value"}:
        inner = untyped_value(value["@value"])
        if value["@type"] == "g:Map" and isinstance(inner, list):
            return dict(zip(map(str, inner[::2]), inner[1::2]))
        return inner
    return {key: untyped_value(item) for key, item in value.items()}


def _vertex(vertex: JsonRow) -> JsonRow:
    """Return a vertex as a node, with its label as type.

    Of each property, the node has the first value.
    """
    node = {
        GRAPHSON_KEYS.get(key, key): value
        for key, value in vertex.items()
        if key not in ("outE", "inE", "properties", "label")
    }
    properties = vertex.get("properties")
    for key, values in (properties if isinstance(properties, Mapping) else {}).items():
        first = values[0] if isinstance(values, list) and values else values
        node[key] = first.get("value") if isinstance(first, Mapping) else first
    label = vertex.get("label")
    if label and label != "vertex":  # TinkerPop's default label says nothing
        node["type"] = label
    return node


def _edge(edge: JsonRow) -> JsonRow:
    """Return an edge as a link, with its properties among its keys."""
    properties = edge.get("properties")
    plain_properties = {
        key: value.get("value") if isinstance(value, Mapping) else value
        for key, value in (properties if isinstance(properties, Mapping) else {}).items()
    }
    return {
        **plain_properties,
        **{
            GRAPHSON_KEYS.get(key, key): value
            for key, value in edge.items()
            if key not in ("properties", "id", "_id", "_type")
        },
    }


def _outgoing(vertex: JsonRow) -> list[JsonRow]:
    """Return the edges that leave a vertex, each with its relation as `label`."""
    out = vertex.get("outE")
    rows: list[JsonRow] = []
    for relation, edges in out.items() if isinstance(out, Mapping) else ():
        for edge in _as_list(edges):
            if isinstance(edge, Mapping):
                rows.append({**_edge(edge), "source": vertex["id"], "label": relation})
    return rows
