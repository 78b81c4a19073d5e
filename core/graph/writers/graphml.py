"""Export of a graph as GraphML, which networkx, igraph, Gephi, yEd and Cytoscape read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path as FilePath
from xml.sax.saxutils import escape, quoteattr

from core.graph.protocol import KnowledgeGraph
from core.graph.writers.parts import edge_columns, edge_parts, node_columns, node_parts
from core.watch import NO_WATCH, Watch

GRAPHML_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
)
# Characters that XML cannot hold.
NON_XML_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(graph: KnowledgeGraph, file: FilePath, watch: Watch = NO_WATCH) -> None:
    """Write a graph as GraphML.

    The names of nodes are the attribute `label`, and the relations of edges are the attribute
    `relation`. The other attributes are the columns of the graph. Characters that XML cannot hold
    are written as U+FFFD.
    """
    with open(file, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(_lines(graph, watch))


def _lines(graph: KnowledgeGraph, watch: Watch = NO_WATCH) -> Iterator[str]:
    relations = [_text(name) for name in graph.relation_names]
    yield GRAPHML_HEAD
    for element_kind, names in (
        ("node", ["label", *node_columns(graph)]),
        ("edge", ["relation", *edge_columns(graph)]),
    ):
        for name in names:
            kind = "double" if name == "weight" else "string"
            yield f'  <key id="{element_kind}-{name}" for="{element_kind}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield f'  <graph id={quoteattr(_replace_non_xml(graph.name))} edgedefault="directed">\n'
    for nodes in node_parts(graph, watch.part(0.0, 0.5)):
        for position, name in enumerate(nodes.names):
            columns = {key: values[position] for key, values in nodes.columns.items()}
            data = _data("node", {"label": name, **columns})
            yield f'    <node id="n{nodes.first + position}">{data}</node>\n'
    for edges in edge_parts(graph, watch.part(0.5, 1.0)):
        triples = zip(edges.heads.tolist(), edges.relations.tolist(), edges.tails.tolist())
        for position, (head, relation, tail) in enumerate(triples):
            data = _data("edge", {key: values[position] for key, values in edges.columns.items()})
            relation_data = f'<data key="edge-relation">{relations[relation]}</data>'
            yield f'    <edge source="n{head}" target="n{tail}">{relation_data}{data}</edge>\n'
    yield "  </graph>\n</graphml>\n"


def _data(element: str, values: dict[str, str | float]) -> str:
    """Return the values of a node or edge as `data` elements.

    Empty values are left out. `element` is “node” or “edge”.
    """
    return "".join(
        f'<data key="{element}-{key}">{_text(str(value))}</data>'
        for key, value in values.items()
        if value != ""
    )


def _text(text: str) -> str:
    return escape(_replace_non_xml(text))


def _replace_non_xml(text: str) -> str:
    return NON_XML_CHARACTER.sub("\ufffd", text)
