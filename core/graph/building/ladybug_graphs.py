"""Conversion of graphs that earlier versions stored in Ladybug, an embedded graph database."""

from __future__ import annotations

import shutil
from contextlib import suppress
from importlib import import_module
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.errors import StoreError, damage_error, with_command
from core.graph.building.build import arrays_and_names
from core.graph.columns import Columns
from core.graph.storage.digest import digest_of, digest_with_columns
from core.graph.storage.store_files import clean_store, install_store, lock_store, write_store
from core.graph.store import LADYBUG_PACKAGE, LADYBUG_STORE, Graph, open_columns, read_description
from core.io import digests
from core.io.folders import TEMPORARY

DATABASE_FILE = "graph.lbug"
# Keys that are copied from graph.json.
COPIED_META_KEYS = ("version", "name", "digest", "direction", "relations")
NAMES_QUERY = "MATCH (a:Entity) RETURN a.name ORDER BY a.id"
EDGES_QUERY = "MATCH (a:Entity)-[t:Triple]->(b:Entity) RETURN a.id, t.relation, b.id"


def convert_ladybug_graph(folder: FilePath) -> Graph:
    """Replace the database of a graph by arrays with the same ids and digest.

    If the conversion fails, the database stays unchanged.

    Raises
    ------
    StoreError
        If the graph is not in such a database, ladybug is not installed, the disk cannot be
        written, or the contents do not match the digest.
    """
    folder = folder.absolute()
    with lock_store(folder, wait=False):
        meta = read_description(folder)
        if meta.get("store") != LADYBUG_STORE:
            raise StoreError(f"The graph in {folder} is not in a Ladybug database.")
        try:
            digests.check_digests(folder / meta["data"])
            columns = open_columns(folder / meta["data"])
            arrays, names = _read_database(folder / meta["data"] / DATABASE_FILE, meta, columns)
        except (OSError, ValueError, RuntimeError) as error:
            raise damage_error(f"The graph in {folder} is", error, "build it again") from None
        try:
            clean_store(folder)
            write_store(folder / TEMPORARY, arrays, names, None, columns)
            install_store(folder, folder / TEMPORARY, {key: meta[key] for key in COPIED_META_KEYS})
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(f"The graph cannot be stored in {folder}: {reason}.") from None
        finally:
            shutil.rmtree(folder / TEMPORARY, ignore_errors=True)
    return Graph.open(folder)


def _read_database(
    file: FilePath, meta: dict, columns: Columns
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the arrays and the bytes of the names, checked against the digest.

    Raises
    ------
    ValueError
        If the digest differs.
    StoreError
        If ladybug is not installed.
    """
    try:
        ladybug: Any = import_module("ladybug")
        # If ladybug loads this module itself, its symbols replace those of other compiled
        # libraries.
        with suppress(ImportError):  # its compiled part may have another name
            import_module("ladybug._lbug")
    except ImportError:
        raise StoreError(
            with_command(f"Reading {file} needs ladybug.", f"pip install {LADYBUG_PACKAGE}")
        ) from None
    with ladybug.Database(str(file), read_only=True) as database:
        with ladybug.Connection(database) as connection:
            names = connection.execute(NAMES_QUERY).get_as_arrow().column(0).to_pylist()
            edges = connection.execute(EDGES_QUERY).get_as_arrow()
    triples = tuple(column.to_numpy().astype(np.int64) for column in edges.columns)
    arrays, blob = arrays_and_names(names, triples, len(meta["relations"]))
    if _digest(arrays, blob, meta, columns) == meta["digest"]:
        return arrays, blob
    # A graph built with --integers has no names in its arrays.
    arrays |= {"name_offsets": np.zeros(1, np.int64), "name_order": np.empty(0, np.int32)}
    if _digest(arrays, blob[:0], meta, columns) == meta["digest"]:
        return arrays, blob[:0]
    raise ValueError(f"{DATABASE_FILE} holds another graph than was written")


def _digest(arrays: dict[str, np.ndarray], names: np.ndarray, meta: dict, columns: Columns) -> str:
    digest = digest_of(arrays, names, meta["relations"], meta["direction"])
    return digest_with_columns(digest, columns)
