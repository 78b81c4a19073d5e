"""Export of a graph to a file or folder.

The module has the table of export formats. The command line and the page of graphs offer these
formats.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath

from core.errors import BadInput, StoreError, suggest_name
from core.graph.protocol import KnowledgeGraph
from core.graph.writers.graphml import write_graphml
from core.graph.writers.tables import write_neo4j, write_parquet
from core.graph.writers.turtle import write_turtle
from core.io.durable_files import move_into_place
from core.watch import NO_WATCH, Watch

EDGE_COLUMN_WORDS = {"description": "descriptions", "keywords": "keywords", "weight": "weights"}
# Suffix of the file or folder until it is complete.
PARTIAL_SUFFIX = ".partial"


@dataclass(frozen=True)
class ExportFormat:
    """A format in which a graph can be exported.

    An export is one file, or a folder of two tables if the `suffix` is empty. `read_by` names tools
    that read the format; those with a version are tested. `omissions` describes the
    contents of a graph that the format cannot hold.
    """

    title: str
    suffix: str
    write: Callable[[KnowledgeGraph, FilePath, Watch], None]
    read_by: str
    omissions: str


EXPORT_FORMATS: dict[str, ExportFormat] = {
    "graphml": ExportFormat(
        "GraphML",
        ".graphml",
        write_graphml,
        "networkx 3.6.1, igraph 1.0.0, Gephi, yEd, Cytoscape",
        "characters that XML cannot hold",
    ),
    "turtle": ExportFormat(
        "Turtle",
        ".ttl",
        write_turtle,
        "pyoxigraph 0.5.13, any RDF store",
        "descriptions, keywords and weights of edges",
    ),
    "neo4j": ExportFormat(
        "CSV for Neo4j's import",
        "",
        write_neo4j,
        "pandas 3.1.1, neo4j-admin database import",
        "nothing",
    ),
    "parquet": ExportFormat(
        "Parquet, nodes and edges", "", write_parquet, "pyarrow 26.0.1, pandas 3.1.1", "nothing"
    ),
}


def export_graph(
    graph: KnowledgeGraph, format: str, out: FilePath, watch: Watch = NO_WATCH
) -> list[FilePath]:
    """Write a graph to the new file or folder `out`, and return the files.

    One part of about 65,000 rows is in memory at a time. The output has another name until it is
    complete, and is removed if the export fails. Exceptions of `watch` pass through.

    Raises
    ------
    BadInput
        If the format is unknown or the name is taken.
    StoreError
        If the disk cannot be written.
    """
    if format not in EXPORT_FORMATS:
        raise BadInput(
            f"There is no format “{format}” to write."
            f"{suggest_name(format, EXPORT_FORMATS)} Known are "
            f"{', '.join(EXPORT_FORMATS)}."
        )
    if out.exists():
        raise BadInput(f"{out} is there already; name another file or folder.")
    export_format, partial = EXPORT_FORMATS[format], out.with_name(out.name + PARTIAL_SUFFIX)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove(partial)
        export_format.write(graph, partial, watch.part(text=f"Writing {export_format.title}"))
        move_into_place(partial, out)
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror or error}.") from None
    finally:
        _remove(partial)
    return [out] if export_format.suffix else sorted(out.iterdir())


def unwritten_sentences(graph: KnowledgeGraph, format: str) -> list[str]:
    """Return sentences about the contents of this graph that the format cannot hold."""
    sentences, edges = [], graph.columns.edges
    if graph.columns.has_texts:
        sentences.append(
            "Texts, communities and reports of the documents are not written; nodes and edges are."
        )
    if format == "turtle" and edges is not None:
        columns = [words for name, words in EDGE_COLUMN_WORDS.items() if edges.has_column(name)]
        if columns:
            sentences.append(
                f"Of edges {', '.join(columns)} are not written: a triple of RDF has none."
            )
    return sentences


def export_formats_table() -> str:
    """Return the table in docs/formats.md, with a row for each format."""
    rows = [
        f"| `{name}`: {format.title} | {format.read_by} | {format.omissions} |"
        for name, format in EXPORT_FORMATS.items()
    ]
    return "\n".join(["| format | read by | what it cannot hold |", "|---|---|---|", *rows])


def default_export_name(name: str, format: str) -> str:
    """Return the default file or folder name for the export of the graph `name`."""
    return f"{name}{EXPORT_FORMATS[format].suffix or f'-{format}'}"


def _remove(path: FilePath) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
