"""Copies of graphs from databases into files, which the readers of graphs then read."""

from __future__ import annotations

from pathlib import Path

from core.databases import bolt, sparql
from core.databases.address import SPARQL, Address
from core.databases.limits import CopyLimits
from core.graph.readers.rdf import LITERAL_TRIPLES
from core.graph.readers.triple_file import TripleFile


def copy_graph(
    address: Address,
    folder: Path,
    limits: CopyLimits,
    key: str = "",
    query: str = "",
    language: str = "",
    literals: str = LITERAL_TRIPLES,
) -> TripleFile:
    """Write the triples of a database or query into a file.

    Nodes are named by their labels: in RDF rdfs:label and others, over Bolt the properties label,
    name or title.

    Parameters
    ----------
    address : address of the database, for SPARQL or Bolt.
    folder : folder of the new file.
    limits : limits of the copy.
    key : password or API key, or the name of the environment variable that holds it.
    query : query in the language of the database; empty for the whole database.
    language : code of the labels' language; for SPARQL only.
    literals : one of `core.graph.readers.rdf.LITERAL_USES`; for SPARQL only.

    Returns
    -------
    The file. Its tally has sentences on what was copied and left out.

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
