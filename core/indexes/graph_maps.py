"""Map of a graph: positions and topics of its nodes, laid out once and saved next to it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from core.graph.algorithms.igraph_library import community_mark
from core.graph.algorithms.map_layout import MAP, MapPart, layout_map, map_part
from core.graph.protocol import KnowledgeGraph
from core.indexes.index_storage import index_folder, write_if_possible
from core.io import digests
from core.runtime.subprocess_worker import in_subprocess
from core.watch import NO_WATCH, Watch

MAP_NAME = "map-1"  # with the version of the layout
# Links above which a subprocess lays out a map, because igraph holds Python's global lock.
MAX_LINKS_IN_PROCESS = 20_000


@dataclass(frozen=True, eq=False)
class GraphMap(MapPart):
    """The shown part of a graph, with the position of each node.

    Topics are communities, numbered from the largest to the smallest.
    """

    xy: np.ndarray  # float32 [n, 2], from 0 to 1
    topics: np.ndarray  # int32 [n]


def saved_map(graph: KnowledgeGraph) -> GraphMap | None:
    """Return the saved map of a graph; None if it is missing or damaged."""
    cached = graph.derived.cache_of("map").latest
    if cached is not None:
        return cached[1]
    result = _read(_file(graph), graph.n_nodes)
    return result and graph.derived.get_or_make("map", 0, lambda: result)


def load_map(graph: KnowledgeGraph, watch: Watch = NO_WATCH) -> GraphMap:
    """Return the map of a graph, laid out first if it is not saved yet.

    The same graph has the same map in every process.

    Parameters
    ----------
    watch : may raise RunCancelled.

    Raises
    ------
    StoreError : it cannot be saved although saving is possible in general.
    """
    return graph.derived.get_or_make("map", 0, lambda: _load_map(graph, watch))


def _load_map(graph: KnowledgeGraph, watch: Watch) -> GraphMap:
    result = _read(_file(graph), graph.n_nodes)
    if result is None:
        part = map_part(graph, watch)
        links = len(part.nodes), part.heads, part.tails
        if len(part.heads) > MAX_LINKS_IN_PROCESS:
            xy, topics = in_subprocess(layout_map, *links, watch=watch)
        else:
            xy, topics = layout_map(*links, watch)
        result = GraphMap(**vars(part), xy=xy, topics=topics)
        write_if_possible(_file(graph), lambda stream: np.savez(stream, **vars(result)))
    return result


def _file(graph: KnowledgeGraph) -> Path:
    return index_folder(graph) / f"{MAP_NAME}{community_mark()}.npz"


def _read(file: Path, n_nodes: int) -> GraphMap | None:
    """Return the map saved in `file`, or None if it is missing, damaged or of other nodes."""
    try:
        digests.check_appended_digest(file)
        with np.load(file, allow_pickle=False) as arrays:
            result = GraphMap(**{field.name: arrays[field.name] for field in fields(GraphMap)})
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None
    return result if len(result.nodes) == min(n_nodes, MAP.nodes) else None
