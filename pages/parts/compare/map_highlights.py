"""Nodes that the methods on the screen of Compare have retrieved, to be marked on a map."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from core.comparison.lane import MethodLane
from core.errors import HopscopeError
from core.graph.protocol import KnowledgeGraph
from core.graph.storage.excerpt import ExcerptGraph
from pages.parts.board.paths import retrieved_state
from pages.parts.compare.screen_state import screen_comparison
from pages.parts.shared.wording import tr

# Colours of the methods, in their order on Compare; readable on a light and a dark map.
METHOD_COLOURS = ("#d6336c", "#1c7ed6", "#2b8a3e", "#e8590c")


def retrieved_highlights(graph: KnowledgeGraph) -> list[tuple[str, str, list[int]]]:
    """Return the name, the colour and the retrieved nodes of each method on the screen.

    Methods that ran on another graph, or have retrieved no nodes, are left out.
    """
    try:
        on_screen = screen_comparison()
    except HopscopeError:  # The case cannot be read; Compare shows the error.
        return []
    lanes = on_screen.comparison.lanes if on_screen is not None else ()
    highlights = []
    for number, lane in enumerate(lanes):
        nodes = _retrieved_nodes(lane) if _origin(lane.graph) == graph.digest else []
        if nodes:
            colour = METHOD_COLOURS[number % len(METHOD_COLOURS)]
            highlights.append((tr(lane.method.label), colour, nodes))
    return highlights


def _origin(graph: Any) -> str:
    """Return the digest of a lane's graph, or of the graph of which a case saved a part."""
    if graph is None:
        return ""
    return graph.origin if isinstance(graph, ExcerptGraph) else graph.digest


def _retrieved_nodes(lane: MethodLane) -> list[int]:
    """Return the nodes of a lane's subgraph, or of its paths if it has none, ascending."""
    state = retrieved_state(lane)
    if state.subgraph is not None:
        nodes = state.subgraph.nodes
    elif state.paths is not None:
        path_nodes = chain.from_iterable(path.nodes for path in state.paths.items)
        nodes = np.unique(np.fromiter(path_nodes, np.int64))
    else:
        return []
    if isinstance(lane.graph, ExcerptGraph):
        nodes = lane.graph.origin_nodes[nodes]
    return nodes.tolist()
