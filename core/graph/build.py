"""A graph store built from triples: written aside, made durable, and only then put in place."""

from __future__ import annotations

import hashlib
import json
import shutil
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path as FilePath

import numpy as np

from core.errors import BadInput, StoreError
from core.graph.bulk.journal import release
from core.graph.bulk.sources import Numbers, TextSource, source_of
from core.graph.degrees import degree_bytes
from core.graph.readers import TripleFile
from core.graph.store import ARRAYS, BLOB, META, VERSION, Graph
from core.graph.write import ASIDE, SOURCE, UNFINISHED, clean, locked, place, write
from core.types import Direction

Progress = Callable[[str, float], None]
Check = Callable[[], None]  # raises Cancelled when a person has stopped the work
Source = Iterable[tuple[str, str, str]] | str | FilePath | TripleFile | Numbers

CHECK_EVERY = 1 << 14  # triples between two looks whether to go on
HASHED = 1 << 23  # values put into the digest at a time


def build(
    triples: Source,
    folder: str | FilePath,
    name: str,
    direction: Direction = "both",
    progress: Progress | None = None,
    check: Check | None = None,
    wait: bool = False,
) -> Graph:
    """The graph of some triples (an iterable, a file for `read_triples`, a TripleFile that says how to read it, or Numbers), stored
    in `folder` and opened.

    A large file, or any that says how much memory may be taken, is built within that (else a quarter of the machine's), in steps that
    the same call takes up again after a kill; the store is the same either way.

    Node and relation ids go by first appearance; a triple that appears twice is kept once; triples between the same
    nodes with different relations are all kept. A store that was there stays readable until the new one is whole, and
    stays for good if the build fails. Raises BadInput for bad triples, StoreError where another process builds the same
    folder (unless `wait`) or the disk refuses, and what `check` raises.
    """
    folder = FilePath(folder).absolute()
    with locked(folder, wait, check):
        return _build(triples, folder, name, direction, progress, check)


def open_or_build(
    source: str | FilePath,
    folder: str | FilePath,
    name: str,
    direction: Direction = "both",
    progress: Progress | None = None,
    check: Check | None = None,
    wait: bool = True,
) -> Graph:
    """The stored graph of a file of triples, built first where it is absent, damaged, or of another state of the file."""
    source, folder = FilePath(source), FilePath(folder).absolute()
    graph = _current(source, folder, name, direction)
    if graph is not None:
        return graph
    with locked(folder, wait, check):
        graph = _current(source, folder, name, direction)  # another process may have built it while we waited
        return graph or _build(source, folder, name, direction, progress, check)


def in_memory(triples: Iterable[tuple[str, str, str]], name: str, direction: Direction = "both") -> Graph:
    """The graph of some triples, kept in memory only; equal to the one that `build` would store. Raises BadInput."""
    names, relations, columns = _read(triples, lambda: None)
    arrays, blob = _arrays(names, columns, len(relations), lambda: None)
    return Graph(name, digest_of(arrays, blob, relations, direction), direction, tuple(relations), names_utf8=blob, **arrays)


def digest_of(arrays: dict[str, np.ndarray], names: np.ndarray, relations: Iterable[str], direction: str) -> str:
    """The sha256 of a graph's content in hex; the same triples give the same digest in any process."""
    digest = hashlib.sha256(json.dumps([VERSION, direction, list(relations)]).encode())
    for key, values in [*((key, arrays[key]) for key in ARRAYS), (BLOB, names)]:
        digest.update(f"{key} {values.dtype.str} {len(values)}\n".encode())
        for first in range(0, len(values), HASHED):
            digest.update(memoryview(np.ascontiguousarray(values[first : first + HASHED])).cast("B"))
        release(values)
    return digest.hexdigest()


def verify(graph: Graph) -> None:
    """Reads the whole store and raises StoreError unless its bytes are those that were written."""
    arrays = {key: getattr(graph, key) for key in ARRAYS}
    if digest_of(arrays, graph.names_utf8, graph.relation_names, graph.direction) != graph.digest:
        raise StoreError(f"The graph “{graph.name}” is damaged; build it again.")
    if not np.array_equal(graph.degree_bytes, degree_bytes(graph.out_indptr, graph.in_indptr)):
        raise StoreError(f"The graph “{graph.name}” is damaged; build it again.")


def _current(source: FilePath, folder: FilePath, name: str, direction: str) -> Graph | None:
    """The store in `folder` if it is of this very file, name and direction. Equal size and time spare the reading."""
    try:
        graph = Graph.open(folder)
        known = json.loads((graph.data_folder / SOURCE).read_text("utf-8"))
        stat = source.stat()
        same = [stat.st_size, stat.st_mtime_ns] == known["stamp"] or _file_digest(source) == known["digest"]
    except FileNotFoundError:
        return None
    except (StoreError, OSError, ValueError, KeyError, TypeError):
        return None
    return graph if same and (graph.name, graph.direction) == (name, direction) else None


def _file_digest(path: FilePath) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _build(triples: Source, folder: FilePath, name: str, direction: Direction, progress: Progress | None, check: Check | None) -> Graph:
    if direction not in ("out", "in", "both"):
        raise BadInput(f"A graph's direction is out, in or both, not “{direction}”.")
    report, stop = progress or (lambda text, share: None), check or (lambda: None)
    existed, aside = folder.exists(), folder / ASIDE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        clean(folder)
        known = None
        if isinstance(triples, (str, FilePath)):
            triples = TripleFile(FilePath(triples))
        large = source_of(triples) if isinstance(triples, TripleFile) else triples
        if isinstance(large, (TextSource, Numbers)):
            from core.graph.bulk.finish import build_large

            build_large(large, folder, name, direction, report, stop)
            report("Done", 1.0)
            return Graph.open(folder)
        if isinstance(triples, TripleFile):
            known = stamp(triples.path)
            triples = triples.read(lambda share: report("Reading triples", 0.6 * share))
        names, relations, columns = _read(triples, stop)
        report("Sorting", 0.6)
        arrays, blob = _arrays(names, columns, len(relations), stop)
        report("Writing", 0.9)
        digest = digest_of(arrays, blob, relations, direction)
        meta = {"version": VERSION, "name": name, "digest": digest, "direction": direction, "relations": list(relations)}
        write(aside, arrays, blob, known)
        stop()
        place(folder, aside, meta)
        shutil.rmtree(folder / UNFINISHED, ignore_errors=True)
    except OSError as error:
        raise StoreError(f"The graph cannot be stored in {folder}: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
        if not existed and not (folder / META).exists() and not (folder / UNFINISHED).exists():
            shutil.rmtree(folder, ignore_errors=True)
    report("Done", 1.0)
    return Graph.open(folder)


def stamp(path: FilePath) -> dict:
    """What tells one state of a file from another: [bytes, time of change in ns] and the sha256 of its content."""
    try:
        stat = path.stat()
        return {"stamp": [stat.st_size, stat.st_mtime_ns], "digest": _file_digest(path)}
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from None


def _read(triples: Iterable[tuple[str, str, str]], stop: Check) -> tuple[dict, dict, tuple[np.ndarray, ...]]:
    """Node names and relation names with their ids, and the columns head, relation, tail as int64."""
    names: dict[str, int] = {}
    relations: dict[str, int] = {}
    heads, kinds, tails = array("q"), array("q"), array("q")
    for index, (head, relation, tail) in enumerate(triples):
        heads.append(names.setdefault(head, len(names)))
        kinds.append(relations.setdefault(relation, len(relations)))
        tails.append(names.setdefault(tail, len(names)))
        if index % CHECK_EVERY == 0:
            stop()
    if not heads:
        raise BadInput("There are no triples to build a graph from.")
    if len(names) > np.iinfo(np.int32).max:
        raise BadInput(f"{len(names):,} nodes are more than a store can hold ({np.iinfo(np.int32).max:,}).")
    return names, relations, tuple(np.frombuffer(column, np.int64) for column in (heads, kinds, tails))


def _arrays(
    names: dict[str, int], columns: tuple[np.ndarray, ...], n_relations: int, stop: Check
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays of the store and the blob of names. Raises BadInput for a name that cannot be written as UTF-8."""
    try:
        encoded = [name.encode("utf-8") for name in names]
    except UnicodeEncodeError as error:
        raise BadInput(f"A name cannot be written as UTF-8: {error.object!r}.") from None
    n = len(encoded)
    arrays = edge_arrays(columns, n, n_relations, stop)
    arrays["name_offsets"] = np.concatenate([[0], np.cumsum(np.fromiter(map(len, encoded), np.int64, n))]).astype(np.int64)
    arrays["name_order"] = np.array(sorted(range(n), key=encoded.__getitem__), np.int32)
    return arrays, np.frombuffer(b"".join(encoded), np.uint8)


def edge_arrays(columns: tuple[np.ndarray, ...], n: int, n_relations: int, stop: Check = lambda: None) -> dict[str, np.ndarray]:
    """The arrays of a store's edges, made in memory from the columns head, relation, tail."""
    heads, relations, tails = columns
    order = np.lexsort((tails, relations, heads))
    heads, relations, tails = heads[order], relations[order], tails[order]
    fresh = np.ones(len(heads), bool)
    fresh[1:] = (np.diff(heads) != 0) | (np.diff(relations) != 0) | (np.diff(tails) != 0)
    heads, relations, tails = heads[fresh], relations[fresh], tails[fresh]
    stop()
    m, inward = len(heads), np.argsort(tails, kind="stable")
    return {
        "out_indptr": _indptr(heads, n),
        "heads": heads.astype(np.int32),
        "tails": tails.astype(np.int32),
        "relations": relations.astype(np.int16 if n_relations <= np.iinfo(np.int16).max else np.int32),
        "in_indptr": _indptr(tails, n),
        "in_edges": inward.astype(np.int32 if m <= np.iinfo(np.int32).max else np.int64),
        "in_heads": heads[inward].astype(np.int32),
    }


def _indptr(nodes: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=n))]).astype(np.int64)
