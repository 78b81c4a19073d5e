"""Map of a graph on a page: laid out in the background, and drawn by assets/map.

The browser gets positions, colours and links as packed bytes, and the names in a second file that
it fetches after the first picture.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import streamlit as st
from streamlit import runtime

from core.errors import shorten
from core.graph.algorithms.igraph_library import community_notes
from core.graph.algorithms.overview import OVERVIEW
from core.graph.protocol import KnowledgeGraph
from core.indexes.graph_maps import GraphMap, load_map, saved_map
from core.runtime.jobs import JOB_DONE, Job
from pages.parts.board.component import as_bytes
from pages.parts.shared.actions import button
from pages.parts.shared.job_progress import draw_job
from pages.parts.shared.scripts import component
from pages.parts.shared.session import engine
from pages.parts.shared.session_state import Session
from pages.parts.shared.wording import tr

Highlight = tuple[str, str, Iterable[int]]  # name, colour as CSS, and ids of nodes

WAIT_SECONDS = 1.0  # a small map is drawn at once, without a progress bar
N_HUES = 9  # colours of the map, without the grey of small topics and rare types
MIN_COLOURED_NODES = 3  # nodes of a topic below which it is grey
MAX_TITLED_TOPICS = 40  # topics with a title on the map
MIN_TITLED_SHARE = 0.002  # of all nodes in a topic with a title
MAX_NAME_CHARACTERS = 80
PACKING_LEVEL = 5


def draw_graph_map(
    graph: KnowledgeGraph,
    key: str,
    height: int = 520,
    highlights: Sequence[Highlight] = (),
    on_click: Callable[[int], object] = lambda node: None,
    has_search: bool = True,
) -> int | None:
    """Draw the map of a graph, and return the id of the node that was clicked.

    Without a saved map, one is laid out in the background and its progress is drawn.

    Parameters
    ----------
    key : key of the component.
    height : in pixels.
    highlights : sets of nodes that are marked, such as those that a method has retrieved.
    on_click : called with that id before the page is drawn again.
    has_search : whether there is a search over the names on the map.
    """

    def pass_click() -> None:
        node = _clicked_node(graph, Session.widget_value[key].value)
        if node is not None:
            on_click(node)

    if not graph.n_nodes:
        st.info(tr("This graph has no entities."), icon=":material/hub:")
        return None
    graph_map = saved_map(graph) or _lay_out(graph, key)
    if graph_map is None:
        return None
    data = _map_data(graph, graph_map, key, highlights)
    result = component("map")(
        key=key,
        data=as_bytes({**data, "height": height, "search": has_search}),
        on_clicked_change=pass_click,
    )
    for note in community_notes():  # the topics are communities
        st.caption(note)
    return _clicked_node(graph, result)


def _clicked_node(graph: KnowledgeGraph, result: Any) -> int | None:
    """Return the node that the browser names in the state of the component."""
    node = getattr(result, "clicked", None)
    return node if isinstance(node, int) and 0 <= node < graph.n_nodes else None


def _lay_out(graph: KnowledgeGraph, key: str) -> GraphMap | None:
    """Return the map, or draw the progress of the job that lays it out.

    A very large graph, and one whose job was cancelled or failed, is laid out by a button.
    """
    jobs = engine().background_jobs
    job_key = f"map-{graph.digest}"

    def start() -> Job:
        job = jobs.run(job_key, lambda job: load_map(graph, job), again=True)
        job.wait(WAIT_SECONDS)
        return job

    job = jobs.get(job_key)
    if job is None and graph.n_edges <= OVERVIEW.max_counted_triples:
        job = start()
    if job is not None and job.status == JOB_DONE:
        return job.result
    if job is not None:
        draw_job(job, f"map-{key}")
    if job is None or job.has_ended:
        button(tr("Draw the map"), start, key=f"draw-{key}", icon="hub")
    return None


def _map_data(
    graph: KnowledgeGraph,
    graph_map: GraphMap,
    key: str,
    highlights: Sequence[Highlight],
) -> dict[str, Any]:
    """Return the data of the component. Nodes are numbered as in the map."""
    layout, names, titles = graph.derived.get_or_make(
        "map files", 0, lambda: _map_files(graph, graph_map)
    )
    return {
        "layout": _serve(layout, f"{key}-layout"),
        "names": _serve(names, f"{key}-names"),
        **titles,
        "total": [graph.n_nodes, graph.n_edges],
        "highlights": [
            {"name": name, "colour": colour, "nodes": _map_numbers(graph_map, nodes)}
            for name, colour, nodes in highlights
        ],
    }


def _map_files(graph: KnowledgeGraph, graph_map: GraphMap) -> tuple[bytes, bytes, dict[str, list]]:
    """Return the packed layout, the packed names, and the titles of topics and types."""
    names = graph.names(graph_map.nodes)
    hues, topics = _colour_topics(graph_map, names)
    type_names, type_hues = _colour_types(graph, graph_map.nodes)
    parts = [
        np.array([len(names), len(graph_map.tails), len(type_names) > 1], "<u4"),
        graph_map.nodes.astype("<u4"),
        graph_map.degrees.astype("<u4"),
        np.bincount(graph_map.heads, minlength=len(names)).astype("<u4"),
        graph_map.tails.astype("<u4"),
        np.round(graph_map.xy * 65535).astype("<u2"),
        hues[graph_map.topics].astype("u1"),
        type_hues.astype("u1"),
    ]
    layout = b"".join(part.tobytes() for part in parts)
    lines = "\n".join(shorten(" ".join(name.split()), MAX_NAME_CHARACTERS) for name in names)
    return (
        gzip.compress(layout, PACKING_LEVEL, mtime=0),
        gzip.compress(lines.encode("utf-8", "replace"), PACKING_LEVEL, mtime=0),
        {"topics": topics, "types": type_names},
    )


def _colour_topics(graph_map: GraphMap, names: list[str]) -> tuple[np.ndarray, list]:
    """Return the hue of each topic, and the titles of the large ones with node and hue.

    Near topics get different hues. Hue 0 is grey.
    """
    sizes = np.bincount(graph_map.topics)
    _, first = np.unique(graph_map.topics, return_index=True)  # the best connected node of each
    hues = np.zeros(len(sizes), np.int64)
    centres = np.stack(
        [np.bincount(graph_map.topics, column) / sizes for column in graph_map.xy.T], 1
    )
    for topic in np.flatnonzero(sizes >= MIN_COLOURED_NODES).tolist():
        # The hue whose nearest topic so far is farthest away.
        distance = np.hypot(*(centres[:topic] - centres[topic]).T)
        nearest = np.full(N_HUES + 1, np.inf)
        np.minimum.at(nearest, hues[:topic], distance)
        hues[topic] = 1 + int(np.argmax(nearest[1:]))
    titles = []
    is_titled = (hues > 0) & (sizes >= MIN_TITLED_SHARE * len(names))
    for topic in np.flatnonzero(is_titled)[:MAX_TITLED_TOPICS].tolist():
        node = int(first[topic])
        titles.append([shorten(names[node], 40), node, int(hues[topic]), int(sizes[topic])])
    return hues, titles


def _colour_types(graph: KnowledgeGraph, nodes: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the most frequent types, and the hue of each node by its type.

    Further types have the hue 0.
    """
    table = graph.columns.nodes
    if table is None or not table.has_column("type"):
        return [], np.zeros(len(nodes))
    names, codes, counts = np.unique(
        np.array(table.texts("type", nodes), object).astype(str),
        return_inverse=True,
        return_counts=True,
    )
    frequent = np.lexsort((names, -counts))
    frequent = frequent[names[frequent] != ""][:N_HUES]
    hue_of_type = np.zeros(len(names), np.int64)
    hue_of_type[frequent] = 1 + np.arange(len(frequent))
    return names[frequent].tolist(), hue_of_type[codes]


def _map_numbers(graph_map: GraphMap, nodes: Iterable[int]) -> list[int]:
    """Return the numbers of nodes in the map, ascending; those that it lacks are left out."""
    return np.flatnonzero(np.isin(graph_map.nodes, list(nodes))).tolist()


def _serve(content: bytes, name: str) -> str:
    """Serve some bytes as long as this session draws them, and return their path."""
    files = runtime.get_instance().media_file_mgr
    return files.add(content, "application/octet-stream", name).removeprefix("/")
