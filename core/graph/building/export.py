"""A graph put into a property-graph database: by bulk copies of columns, a part at a time, aside, and only then in place."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.errors import StoreError
from core.graph.building.build import Source, build
from core.graph.storage.database import FILE, STORE_KIND, DatabaseGraph, library, opened
from core.graph.storage.write import clean, locked, place
from core.graph.store import COLUMNS, META, VERSION, Graph
from core.io.folders import TEMPORARY
from core.types import Direction
from core.watch import NO_WATCH, Watch

ROWS = 1_000_000  # of a column held at once
ARRAYS, COPY = (
    "arrays",
    "rows.parquet",
)  # what lies there for a while: the array store, and what is being copied
TABLES = (
    "CREATE NODE TABLE Entity(id INT64 PRIMARY KEY, name STRING, outdegree INT64, indegree INT64)",
    "CREATE NODE TABLE Name(name STRING PRIMARY KEY, entity INT64)",
    "CREATE NODE TABLE Relation(id INT64 PRIMARY KEY, name STRING)",
    "CREATE REL TABLE Triple(FROM Entity TO Entity, id INT64, relation INT64)",
)


def build_database(
    triples: Source,
    folder: str | FilePath,
    name: str,
    direction: Direction = "both",
    watch: Watch = NO_WATCH,
    wait: bool = False,
    **how: Any,
) -> DatabaseGraph:
    """The graph of some triples in a database in `folder`, opened; ids, names and digest are those of the array store.

    That store is built first, inside the folder, by `build` with what `how` says, and removed in the end. Raises as `build`
    and `export` do.
    """
    folder = FilePath(folder).absolute()
    existed = folder.exists()
    try:
        graph = build(triples, folder / ARRAYS, name, direction, watch.part(0.0, 0.5), wait, **how)
        return export(graph, folder, watch.part(0.5, 1.0), wait)
    finally:
        shutil.rmtree(folder / ARRAYS, ignore_errors=True)
        (folder / f"{ARRAYS}.lock").unlink(missing_ok=True)
        if not existed and not (folder / META).exists():
            shutil.rmtree(folder, ignore_errors=True)


def export(
    graph: Graph, folder: str | FilePath, watch: Watch = NO_WATCH, wait: bool = False
) -> DatabaseGraph:
    """A graph put into a database in `folder`, opened; what was there stays readable until the new one is whole.

    Raises StoreError where another process builds there (unless `wait`), the disk or the database refuses, and what `watch` raises.

    >>> import tempfile
    >>> from core.graph.building.export import export
    >>> export(toy, tempfile.mkdtemp()).digest == toy.digest
    True
    """
    folder = FilePath(folder).absolute()
    temporary = folder / TEMPORARY
    meta = {
        "version": VERSION,
        "store": STORE_KIND,
        "name": graph.name,
        "digest": graph.digest,
        "direction": graph.direction,
    }
    meta |= {
        "relations": list(graph.relation_names),
        "nodes": graph.n_nodes,
        "edges": graph.n_edges,
    }
    with locked(folder, wait, watch):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            clean(folder)
            temporary.mkdir()
            fill(graph, temporary / FILE, watch)
            if graph.columns:
                graph.columns.save(temporary / COLUMNS)
            place(folder, temporary, meta)
        except OSError as error:
            raise StoreError(
                f"The graph cannot be stored in {folder}: {error.strerror or error}."
            ) from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    watch.report("Done", 1.0)
    return DatabaseGraph.open(folder)


def fill(graph: Graph, file: FilePath, watch: Watch = NO_WATCH) -> None:
    """Writes a graph into a new database file. Raises StoreError where the database refuses, and what `watch` raises."""
    rows = graph.n_nodes * 2 + graph.n_edges + graph.n_relations
    done = 0
    database = opened(file, read_only=False)
    connection = library().Connection(database)
    try:
        for table in TABLES:
            connection.execute(table)
        for table, columns in _tables(graph):
            watch.check()
            _copy(connection, table, columns, file.parent / COPY)
            done += len(next(iter(columns.values())))
            watch.report("Filling the database", done / rows)
        connection.execute("CHECKPOINT")
    except RuntimeError as error:
        raise StoreError(
            f"The graph database {file} cannot be filled: {str(error).splitlines()[0]}"
        ) from None
    finally:
        connection.close()
        database.close()
        (file.parent / COPY).unlink(missing_ok=True)


def _tables(graph: Graph) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is copied into each table, in parts of `ROWS` rows."""
    relations = np.arange(graph.n_relations)
    yield "Relation", {"id": relations, "name": list(graph.relation_names)}
    for first in range(0, graph.n_nodes, ROWS):
        ids = np.arange(first, min(first + ROWS, graph.n_nodes))
        names = graph.names(ids)
        yield (
            "Entity",
            {
                "id": ids,
                "name": names,
                "outdegree": graph.degrees(ids, "out"),
                "indegree": graph.degrees(ids, "in"),
            },
        )
        yield "Name", {"name": names, "entity": ids}
    for first in range(0, graph.n_edges, ROWS):
        ids = np.arange(first, min(first + ROWS, graph.n_edges))
        heads, relations, tails = graph.triples(ids)
        yield "Triple", {"from": heads, "to": tails, "id": ids, "relation": relations}


def _copy(connection, table: str, columns: dict[str, Any], file: FilePath) -> None:
    """Appends rows to a table by way of a Parquet file, which the database reads in bulk."""
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), file)
    path = str(file).replace("\\", "\\\\").replace("'", "\\'")
    connection.execute(f"COPY {table} FROM '{path}'")
