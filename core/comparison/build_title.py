"""Title of the build that made the graph of a lane.

Screens and reports show it.
"""

from __future__ import annotations

from core.builds import build_for
from core.builds.run import build_of_graph
from core.comparison.lane import MethodLane
from core.comparison.lane_run import build_of
from core.graph.store import Graph


def build_title(lane: MethodLane) -> str:
    """Return the title of the build that made a lane's graph.

    It is empty on a graph of triples, and for a method that names no build. A lane that has not
    opened its graph has the title of the build that it would open.
    """
    build = build_of_graph(lane.own_graph) if isinstance(lane.own_graph, Graph) else None
    if build is not None:
        return build.title
    corpus, spec = lane.ask.source.corpus, build_of(lane.line)
    if corpus is not None and spec:
        return build_for(corpus, spec).title
    return lane.build_title  # of a saved lane; else empty
