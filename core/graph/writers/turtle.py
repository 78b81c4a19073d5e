"""Export of a graph as Turtle (RDF): numbered entities and relations, with names as labels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path as FilePath

from core.graph.protocol import KnowledgeGraph
from core.graph.writers.parts import edge_parts, node_parts
from core.watch import NO_WATCH, Watch

TURTLE_HEADER = """@prefix e: <urn:hopscope:entity:> .
@prefix r: <urn:hopscope:relation:> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <http://schema.org/> .

"""
# Column of nodes -> predicate.
PREDICATES = {"type": "schema:additionalType", "description": "schema:description"}
ESCAPED_CHARACTER = re.compile('[\x00-\x1f"\\\\\x7f]')


def write_turtle(graph: KnowledgeGraph, file: FilePath, watch: Watch = NO_WATCH) -> None:
    """Write a graph as Turtle.

    Every triple is written. The names, types and descriptions of entities and the names of
    relations are literals. Descriptions, keywords and weights of edges are left out, since a triple
    of RDF has no attributes.
    """
    with open(file, "w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(_lines(graph, watch))


def _lines(graph: KnowledgeGraph, watch: Watch = NO_WATCH) -> Iterator[str]:
    yield TURTLE_HEADER
    for id, name in enumerate(graph.relation_names):
        yield f"r:{id} rdfs:label {_literal(name)} .\n"
    for nodes in node_parts(graph, watch.part(0.0, 0.5)):
        for position, name in enumerate(nodes.names):
            attribute_text = "".join(
                f" ; {PREDICATES[key]} {_literal(values[position])}"
                for key, values in nodes.columns.items()
                if values[position]
            )
            yield f"e:{nodes.first + position} rdfs:label {_literal(name)}{attribute_text} .\n"
    for edges in edge_parts(graph, watch.part(0.5, 1.0)):
        for head, relation, tail in zip(
            edges.heads.tolist(), edges.relations.tolist(), edges.tails.tolist()
        ):
            yield f"e:{head} r:{relation} e:{tail} .\n"


def _literal(text: str) -> str:
    return f'"{ESCAPED_CHARACTER.sub(_escape, text)}"'


def _escape(match: re.Match) -> str:
    character = match[0]
    return f"\\{character}" if character in '"\\' else f"\\u{ord(character):04X}"
