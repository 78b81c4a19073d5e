"""Triples of question rows that hold a graph each."""

from __future__ import annotations

from collections.abc import Iterator

from core.errors import BadInput
from core.graph.readers.source import Triple, TripleSource
from core.io.json_rows import numbered_rows


def read(source: TripleSource) -> Iterator[Triple]:
    """The triples of the `graph` of every row, in the order of the rows."""
    for number, where, row in numbered_rows(source.path, source.progress, source.most):
        source.line = number
        try:
            triples = row_triples(source.name, where, row)
        except BadInput as error:
            source.bad("no list of triples", number, error)
            continue
        yield from triples


def row_triples(name: str, where: str, row: dict) -> list[Triple]:
    """The triples of a row's `graph`, none where it has none. Raises BadInput naming file and place where it is no list of
    three texts each."""
    found = []
    graph = row.get("graph") or []
    for triple in graph if isinstance(graph, list) else [graph]:
        if not (isinstance(triple, list) and len(triple) == 3 and all(isinstance(part, str) and part.strip() for part in triple)):
            raise BadInput(f"{name}, {where}: “graph” should be a list of [head, relation, tail], three texts each.")
        found.append((triple[0], triple[1], triple[2]))
    return found
