"""Export of a graph, with a table of formats.

The command line and the page use the table.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path as FilePath

from core.errors import BadInput, StoreError, nearest
from core.graph.protocol import KnowledgeGraph
from core.graph.writers.graphml import write_graphml
from core.graph.writers.tables import write_neo4j, write_parquet
from core.graph.writers.turtle import write_turtle
from core.io.durable import move
from core.watch import NO_WATCH, Watch

SAID_OF_EDGES = {"description": "descriptions", "keywords": "keywords", "weight": "weights"}
# Suffix of the file or folder until it is complete.
PARTIAL = ".partial"


@dataclass(frozen=True)
class Written:
    """An export format.

    It is one file, or a folder of two tables if there is no `suffix`. `read_by` names tools that
    read it. `left` describes the contents of a graph that it cannot hold.
    """

    title: str
    suffix: str
    write: Callable[[KnowledgeGraph, FilePath, Watch], None]
    read_by: str
    left: str


WRITTEN: dict[str, Written] = {
    "graphml": Written(
        "GraphML",
        ".graphml",
        write_graphml,
        "networkx 3.6.1, igraph 1.0.0, Gephi, yEd, Cytoscape",
        "characters that XML cannot hold",
    ),
    "turtle": Written(
        "Turtle",
        ".ttl",
        write_turtle,
        "pyoxigraph 0.5.13, any RDF store",
        "descriptions, keywords and weights of edges",
    ),
    "neo4j": Written(
        "CSV for Neo4j's import",
        "",
        write_neo4j,
        "pandas 3.1.1, neo4j-admin database import",
        "nothing",
    ),
    "parquet": Written(
        "Parquet, nodes and edges", "", write_parquet, "pyarrow 26.0.1, pandas 3.1.1", "nothing"
    ),
}


def export(
    graph: KnowledgeGraph, format: str, out: FilePath, watch: Watch = NO_WATCH
) -> list[FilePath]:
    """Write a graph to a new file or folder, and return the files.

    Parts of about 65,000 rows are in memory at a time. The output has another name until it is
    complete, and is removed if the export fails. Exceptions of `watch` pass through.

    Raises
    ------
    BadInput
        If the format is unknown or the name is taken.
    StoreError
        If the disk cannot be written.
    """
    if format not in WRITTEN:
        raise BadInput(
            f"There is no format “{format}” to write.{nearest(format, WRITTEN)} Known are "
            f"{', '.join(WRITTEN)}."
        )
    if out.exists():
        raise BadInput(f"{out} is there already; name another file or folder.")
    one, partial = WRITTEN[format], out.with_name(out.name + PARTIAL)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove(partial)
        one.write(graph, partial, watch.part(text=f"Writing {one.title}"))
        move(partial, out)
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror or error}.") from None
    finally:
        _remove(partial)
    return [out] if one.suffix else sorted(out.iterdir())


def left_out(graph: KnowledgeGraph, format: str) -> list[str]:
    """Return sentences about the contents of this graph that the format cannot hold."""
    found, edges = [], graph.columns.edges
    if graph.columns.of_texts:
        found.append(
            "Texts, communities and reports of the documents are not written; nodes and edges are."
        )
    if format == "turtle" and edges is not None:
        columns = [words for name, words in SAID_OF_EDGES.items() if edges.has(name)]
        if columns:
            found.append(
                f"Of edges {', '.join(columns)} are not written: a triple of RDF has none."
            )
    return found


def written_page() -> str:
    """Return the table in docs/formats.md, with a row for each format."""
    rows = [
        f"| `{name}`: {one.title} | {one.read_by} | {one.left} |" for name, one in WRITTEN.items()
    ]
    return "\n".join(["| format | read by | what it cannot hold |", "|---|---|---|", *rows])


def usual_name(name: str, format: str) -> str:
    """Return the default file or folder name for a graph."""
    return f"{name}{WRITTEN[format].suffix}" if WRITTEN[format].suffix else f"{name}-{format}"


def _remove(path: FilePath) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
