"""Graphs made of texts: building operators, the builds that ship, and running builds."""

from core.builds.catalogue import Build, catalogue, chosen, find
from core.builds.run import Status, being_built, build, build_for, open_graph, own_builds, status

__all__ = [
    "Build",
    "Status",
    "being_built",
    "build",
    "build_for",
    "catalogue",
    "chosen",
    "find",
    "open_graph",
    "own_builds",
    "status",
]
