"""Copy a graph from a database into a file of triples."""

from __future__ import annotations

from pathlib import Path

from core.databases import bolt, sparql
from core.databases.address import SPARQL, Address
from core.databases.limits import CopyLimits
from core.graph.readers.triple_file import TripleFile


def copy_graph(
    address: Address,
    folder: Path,
    limits: CopyLimits,
    key: str = "",
    query: str = "",
    language: str = "",
    literals: str = "triples",
) -> TripleFile:
    """Return the triples of a database, or of a query, as a file in `folder`.

    The tally of the file has sentences on what was copied and left out. Things are named by their
    labels (rdfs:label and others; in Neo4j the properties label, name or title).

    Parameters
    ----------
    language : code of the labels' language.
    literals : the use of literals, as in the reader of the file.

    Raises
    ------
    BadInput
        If the database cannot be reached, refuses, breaks off, or has no data.
    """
    if address.kind == SPARQL:
        file = TripleFile(
            folder / "copy.nt", "ntriples", keep=False, language=language, literals=literals
        )
        notes = sparql.copy_endpoint(
            sparql.SparqlEndpoint(address, key, limits), file.path, query, language, literals
        )
    else:
        file = TripleFile(folder / "copy.graphml", "graphml", keep=False)
        notes = bolt.copy_bolt(address, key, limits, file.path, query)
    file.tally.copied = tuple(notes)
    return file
