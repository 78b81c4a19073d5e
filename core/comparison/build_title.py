"""The title of the graph that a lane on a corpus runs on."""

from __future__ import annotations

from core.builds import build_for
from core.builds.run import build_of_graph
from core.comparison.lane import MethodLane
from core.comparison.lane_run import build_of
from core.graph.store import Graph


def build_title(lane: MethodLane) -> str:
    """Return the title of the build that made a lane's graph.

    It is empty on a graph of triples, and for a method that names no build.
    """
    graph, corpus, spec = lane.own_graph, lane.ask.source.corpus, build_of(lane.line)
    build = build_of_graph(graph) if isinstance(graph, Graph) else None
    if build is not None:
        return build.title
    return build_for(corpus, spec).title if corpus is not None and spec else lane.build_title
