"""Construction of a graph store from triples.

A graph is built in memory, or in steps for large files. The store is written to a temporary folder,
flushed to disk, and then installed in one step.
"""

from __future__ import annotations

import copy
import json
import shutil
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from core.errors import BadInput, StoreError
from core.graph.columns import NO_TABLES, row_offsets
from core.graph.large import NumberSource, TextSource, prepare_block_source
from core.graph.order import in_name_order
from core.graph.readers.attributes import ONLY_TRIPLES_READ, Attributes
from core.graph.readers.formats import format_named, format_of
from core.graph.readers.rdf import PYOXIGRAPH_FORMATS
from core.graph.readers.triple_file import TripleFile
from core.graph.storage.digest import digest_of, digest_with_columns, file_digest, file_stamp
from core.graph.storage.store_files import (
    SOURCE_FILE,
    UNFINISHED_FOLDER,
    clean_store,
    install_store,
    lock_store,
    write_store,
)
from core.graph.store import GRAPH_META_FILE, STORE_ARRAYS, STORE_VERSION, Graph, read_meta
from core.io.durations import with_time_left
from core.io.folders import TEMPORARY
from core.types import Direction
from core.watch import NO_WATCH, Watch

TripleColumns = tuple[np.ndarray, ...]  # ids of heads, of relations and of tails, one per triple
TripleInput = Iterable[tuple[str, str, str]] | str | FilePath | TripleFile | NumberSource

# Number of triples between two checks for a cancellation.
TRIPLES_PER_CHECK = 1 << 14


def build(
    triples: TripleInput,
    folder: str | FilePath,
    name: str,
    direction: Direction = "both",
    watch: Watch = NO_WATCH,
    wait: bool = False,
) -> Graph:
    """Build a graph from triples, store it in `folder` and open it.

    `triples` is an iterable, a path, a TripleFile with settings, or a NumberSource. `watch`
    receives the progress, and its exceptions pass through.

    A file of more than 128 MB of text, or one with a memory limit, is built in steps within that
    limit (by default a quarter of the machine's memory). After a kill, the same call continues with
    the next step. A smaller file is read whole, at about 10 MB a second. After a kill, the same
    call starts over and reports this.

    In both cases, the ids of nodes and relations are in the order of their names. The same triples
    in any order therefore give the same store and the same results. Only numbered nodes keep their
    numbers as ids. A triple that occurs twice is stored once; triples between the same nodes with
    different relations are all stored. An existing store stays readable until the new one is
    complete, and remains if the build fails.

    Raises
    ------
    BadInput
        If the triples are invalid.
    StoreError
        If another process builds the same folder (unless `wait`), or the disk cannot be written.

    >>> import tempfile
    >>> from core.graph.building.build import build
    >>> graph = build([("a", "near", "b"), ("b", "near", "c")], tempfile.mkdtemp(), "small")
    >>> graph.triple_texts([0, 1]), graph.folder is None
    (['a -> near -> b', 'b -> near -> c'], False)
    """
    folder = FilePath(folder).absolute()
    with lock_store(folder, wait, watch):
        return _build(triples, folder, name, direction, watch)


def open_or_build(
    source: str | FilePath,
    folder: str | FilePath,
    name: str,
    direction: Direction = "both",
    watch: Watch = NO_WATCH,
    wait: bool = True,
) -> Graph:
    """Open the stored graph of a file, and build it first if necessary.

    The graph is built if it is absent or damaged, if the file has changed, or if the name or
    direction differs.

    Raises
    ------
    BadInput, StoreError
        As `build` does.
    """
    source, folder = FilePath(source), FilePath(folder).absolute()
    graph = _open_current(source, folder, name, direction)
    if graph is not None:
        return graph
    with lock_store(folder, wait, watch):
        # Another process may have built it in the meantime.
        graph = _open_current(source, folder, name, direction)
        return graph or _build(source, folder, name, direction, watch)


def build_in_memory(
    triples: Iterable[tuple[str, str, str]],
    name: str,
    direction: Direction = "both",
    attributes: Attributes | None = None,
) -> Graph:
    """Build the graph of some triples in memory.

    It is equal to the one that `build` would store. `attributes` are those that the reader of the
    triples has collected, if any.

    Raises
    ------
    BadInput
        If the triples are invalid.

    >>> from core.graph.building.build import build_in_memory
    >>> # given twice, stored once
    >>> graph = build_in_memory([("b", "near", "a"), ("b", "near", "a")], "small")
    >>> graph.names([0, 1]), graph.n_edges, graph.folder
    (['a', 'b'], 1, None)
    """
    names, relations, columns = sort_by_name(*number_triples(triples))
    arrays, blob = arrays_and_names(names, columns, len(relations))
    tables = NO_TABLES
    if attributes is not None and attributes.has_any():
        tables = attributes.columns(names, edge_ids(columns), len(arrays["heads"]))
    parts: dict[str, Any] = {**arrays, "names_utf8": blob, "columns": tables}
    digest = digest_with_columns(digest_of(arrays, blob, relations, direction), tables)
    return Graph(name, digest, direction, tuple(relations), **parts)


def _open_current(source: FilePath, folder: FilePath, name: str, direction: str) -> Graph | None:
    """Return the graph in `folder` if it is still current, else None.

    It is current if it has this source, name and direction. The content of the file is read only if
    its size or time has changed.
    """
    try:
        graph = Graph.open(folder)
        source_stamp = json.loads((graph.data_folder / SOURCE_FILE).read_text("utf-8"))
        stat = source.stat()
        is_current = [stat.st_size, stat.st_mtime_ns] == source_stamp["stamp"]
        if not is_current:  # a copied file has another time, but the same content
            is_current = file_digest(source) == source_stamp["digest"]
    except (StoreError, OSError, ValueError, KeyError, TypeError):
        return None
    return graph if is_current and (graph.name, graph.direction) == (name, direction) else None


@dataclass(frozen=True)
class _BuildTarget:
    """Folder, name and direction of a graph to build.

    The store is written to the `temporary` folder first.
    """

    folder: FilePath
    name: str
    direction: Direction

    @property
    def temporary(self) -> FilePath:
        return self.folder / TEMPORARY


def _build(
    triples: TripleInput, folder: FilePath, name: str, direction: Direction, watch: Watch = NO_WATCH
) -> Graph:
    if direction not in ("out", "in", "both"):
        raise BadInput(f"A graph's direction is out, in or both, not “{direction}”.")
    target = _BuildTarget(folder, name, direction)
    existed = folder.exists()
    progress_text = "Reading triples"
    # A folder without a description remains from a build that was killed.
    if existed and not (folder / GRAPH_META_FILE).exists():
        progress_text = "Starting over after a break: reading triples"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        clean_store(folder)
        if isinstance(triples, (str, FilePath)):
            triples = TripleFile(FilePath(triples))
        source = prepare_block_source(triples) if isinstance(triples, TripleFile) else triples
        if isinstance(source, (TextSource, NumberSource)):
            _build_in_steps(source, target, watch)
            if isinstance(triples, TripleFile):
                _add_attributes(triples, target, watch)
        else:
            assert not isinstance(triples, NumberSource)  # it is built in steps
            _build_in_memory(triples, target, progress_text, with_time_left(watch))
    except OSError as error:
        raise StoreError(
            f"The graph cannot be stored in {folder}: {error.strerror or error}."
        ) from None
    finally:
        _remove_leftovers(target, existed)
    watch.report("Done", 1.0)
    return Graph.open(folder)


def _build_in_steps(source: TextSource | NumberSource, target: _BuildTarget, watch: Watch) -> None:
    from core.graph.large import build_large  # imports numba

    build_large(source, target.folder, target.name, target.direction, watch)


def _add_attributes(file: TripleFile, target: _BuildTarget, watch: Watch) -> None:
    """Add a file's attributes to its graph that was built in steps.

    If they are left out, a note says so. Delimited and RDF readers write such notes themselves.
    """
    file.warn_of_single_relation(read_meta(target.folder)["relations"])
    form = format_of(file.path, file.format)
    if (
        file.attributes.is_too_large
        and not format_named(form).delimited
        and form not in PYOXIGRAPH_FORMATS
    ):
        file.tally.note(
            f"Types, descriptions, keywords and weights are not taken. {ONLY_TRIPLES_READ}"
        )
    if file.attributes.has_any():
        _add_tables(file, target.folder, target.temporary, watch)


def _build_in_memory(
    triples: Iterable[tuple[str, str, str]] | TripleFile,
    target: _BuildTarget,
    progress_text: str,
    watch: Watch,
) -> None:
    """Build a graph in memory, and install its store."""
    attributes = Attributes()
    source_stamp = None
    if isinstance(triples, TripleFile):
        source_stamp = file_stamp(triples.path)
        attributes = triples.attributes
        triples = triples.read(watch.part(0.0, 0.6, progress_text))
    numbered_triples = number_triples(triples, watch)
    watch.report("Sorting", 0.6)
    names, relations, columns = sort_by_name(*numbered_triples)
    arrays, blob = arrays_and_names(names, columns, len(relations), watch)
    tables = NO_TABLES
    if attributes.has_any():
        tables = attributes.columns(names, edge_ids(columns), len(arrays["heads"]))
    watch.report("Writing", 0.9)
    digest = digest_of(arrays, blob, relations, target.direction)
    meta = {
        "version": STORE_VERSION,
        "name": target.name,
        "digest": digest_with_columns(digest, tables),
        "direction": target.direction,
        "relations": relations,
    }
    write_store(target.temporary, arrays, blob, source_stamp, tables)
    watch.check()
    install_store(target.folder, target.temporary, meta)
    # An earlier build in steps may have been stopped.
    shutil.rmtree(target.folder / UNFINISHED_FOLDER, ignore_errors=True)


def _remove_leftovers(target: _BuildTarget, existed: bool) -> None:
    """Remove the leftovers of a build.

    These are the temporary folder, and a new graph folder without a store or unfinished build.
    `existed` is True if the graph folder was there before the build.
    """
    shutil.rmtree(target.temporary, ignore_errors=True)
    if (
        not existed
        and not (target.folder / GRAPH_META_FILE).exists()
        and not (target.folder / UNFINISHED_FOLDER).exists()
    ):
        shutil.rmtree(target.folder, ignore_errors=True)


def _add_tables(
    file: TripleFile, folder: FilePath, temporary: FilePath, watch: Watch = NO_WATCH
) -> None:
    """Add the tables of attributes to a graph that was built in steps.

    The file is read a second time for this.
    """
    graph, tally_state = Graph.open(folder), copy.deepcopy(file.tally.state())
    numbered_triples = number_triples(file.read(), watch)
    # Lines that are left out must not be counted twice.
    file.tally.restore({**tally_state, "notes": file.tally.notes})
    names, relations, columns = sort_by_name(*numbered_triples)
    tables = file.attributes.columns(names, edge_ids(columns), graph.n_edges)
    if not tables:
        return
    arrays = {key: np.asarray(getattr(graph, key)) for key in STORE_ARRAYS}
    source_stamp = json.loads((graph.data_folder / SOURCE_FILE).read_text("utf-8"))
    meta = {
        "version": STORE_VERSION,
        "name": graph.name,
        "direction": graph.direction,
        "relations": relations,
        "digest": digest_with_columns(graph.digest, tables),
    }
    write_store(temporary, arrays, np.asarray(graph.names_utf8), source_stamp, tables)
    install_store(folder, temporary, meta)


def edge_ids(columns: TripleColumns) -> np.ndarray:
    """Return the edge id of each triple in the store, int64.

    Edges are numbered in the order of `edge_arrays`: by head, relation and tail. Equal triples are
    one edge.
    """
    heads, relations, tails = columns
    order = np.lexsort((tails, relations, heads))
    starts_edge = np.zeros(len(order), bool)  # except for the first edge, whose id is 0
    for values in columns:
        starts_edge[1:] |= np.diff(values[order]) != 0
    edges = np.empty(len(order), np.int64)
    edges[order] = np.cumsum(starts_edge)
    return edges


def number_triples(
    triples: Iterable[tuple[str, str, str]], watch: Watch = NO_WATCH
) -> tuple[list[str], list[str], TripleColumns]:
    """Collect the names of nodes and relations, and the triples as ids.

    Ids are given in the order in which the names appear.

    Returns
    -------
    The names of nodes, the names of relations, and (heads, relations, tails) as int64.

    Raises
    ------
    BadInput
        If there are no triples, or more nodes than a store can hold.
    """
    names: dict[str, int] = {}
    relations: dict[str, int] = {}
    heads, relation_ids, tails = array("q"), array("q"), array("q")
    for index, (head, relation, tail) in enumerate(triples):
        heads.append(names.setdefault(head, len(names)))
        relation_ids.append(relations.setdefault(relation, len(relations)))
        tails.append(names.setdefault(tail, len(names)))
        if index % TRIPLES_PER_CHECK == 0:
            watch.check()
    if not heads:
        raise BadInput("There are no triples to build a graph from.")
    if len(names) > np.iinfo(np.int32).max:
        raise BadInput(
            f"{len(names):,} nodes are more than a store can hold ({np.iinfo(np.int32).max:,})."
        )
    return (
        list(names),
        list(relations),
        tuple(np.frombuffer(column, np.int64) for column in (heads, relation_ids, tails)),
    )


def sort_by_name(
    names: list[str], relations: list[str], columns: TripleColumns
) -> tuple[list[str], list[str], TripleColumns]:
    """Sort the names of nodes and relations, and renumber the columns.

    The order is by code points, which is also the order of the UTF-8 bytes.
    """
    names, new_nodes = in_name_order(names)
    relations, new_relations = in_name_order(relations)
    heads, relation_ids, tails = columns
    return names, relations, (new_nodes[heads], new_relations[relation_ids], new_nodes[tails])


def arrays_and_names(
    names: list[str], columns: TripleColumns, n_relations: int, watch: Watch = NO_WATCH
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the arrays of the store and the concatenated bytes of the names.

    Raises
    ------
    BadInput
        If a name cannot be written as UTF-8.
    """
    try:
        encoded = [name.encode("utf-8") for name in names]
    except UnicodeEncodeError as error:
        raise BadInput(f"A name cannot be written as UTF-8: {error.object!r}.") from None
    n_nodes = len(encoded)
    arrays = edge_arrays(columns, n_nodes, n_relations, watch)
    arrays["name_offsets"] = row_offsets(np.fromiter(map(len, encoded), np.int64, n_nodes))
    arrays["name_order"] = np.array(sorted(range(n_nodes), key=encoded.__getitem__), np.int32)
    return arrays, np.frombuffer(b"".join(encoded), np.uint8)


def edge_arrays(
    columns: TripleColumns, n_nodes: int, n_relations: int, watch: Watch = NO_WATCH
) -> dict[str, np.ndarray]:
    """Return the arrays of a store's edges: adjacency in CSR form, outgoing and incoming.

    Edges are sorted by head, relation and tail, and equal triples are one edge. `in_edges` lists
    the edges by tail. Integer types are as small as the numbers allow.
    """
    heads, relations, tails = columns
    order = np.lexsort((tails, relations, heads))
    heads, relations, tails = heads[order], relations[order], tails[order]
    is_first = np.ones(len(heads), bool)
    is_first[1:] = (np.diff(heads) != 0) | (np.diff(relations) != 0) | (np.diff(tails) != 0)
    heads, relations, tails = heads[is_first], relations[is_first], tails[is_first]
    watch.check()
    n_edges = len(heads)
    by_tail = np.argsort(tails, kind="stable")
    return {
        "out_indptr": row_offsets(np.bincount(heads, minlength=n_nodes)),
        "heads": heads.astype(np.int32),
        "tails": tails.astype(np.int32),
        "relations": relations.astype(
            np.int16 if n_relations <= np.iinfo(np.int16).max else np.int32
        ),
        "in_indptr": row_offsets(np.bincount(tails, minlength=n_nodes)),
        "in_edges": by_tail.astype(np.int32 if n_edges <= np.iinfo(np.int32).max else np.int64),
        "in_heads": heads[by_tail].astype(np.int32),
    }
