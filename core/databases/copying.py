"""A graph in a database, copied into a file that is read as any other."""

from __future__ import annotations

from pathlib import Path

from core.databases import bolt, sparql
from core.databases.address import SPARQL, Address
from core.databases.limits import Limits
from core.graph.readers.triple_file import TripleFile


def copied(
    address: Address,
    folder: Path,
    limits: Limits,
    key: str = "",
    query: str = "",
    language: str = "",
    literals: str = "triples",
) -> TripleFile:
    """The triples of a database, or of a query to it, as a file in `folder`; its tally says what was copied and what was left out.

    Things are called by their labels (rdfs:label and others; of Neo4j by the properties label, name or title). Raises BadInput where the
    database cannot be reached, refuses, breaks off, or gives nothing.
    """
    if address.kind == SPARQL:
        file = TripleFile(
            folder / "copy.nt", "ntriples", keep=False, language=language, literals=literals
        )
        notes = sparql.copy(
            sparql.Endpoint(address, key, limits), file.path, query, language, literals
        )
    else:
        file = TripleFile(folder / "copy.graphml", "graphml", keep=False)
        notes = bolt.copy(address, key, limits, file.path, query)
    file.tally.copied = tuple(notes)
    return file
