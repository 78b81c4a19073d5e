"""Graphs made of texts: building operators, the builds that ship, and running builds."""

from core.builds.catalogue import GraphBuild, catalogue, choose_build, find_build
from core.builds.run import (
    Status,
    being_built,
    build_for,
    build_status,
    open_graph,
    own_builds,
    run_build,
)

__all__ = [
    "GraphBuild",
    "Status",
    "being_built",
    "run_build",
    "build_for",
    "catalogue",
    "choose_build",
    "find_build",
    "open_graph",
    "own_builds",
    "build_status",
]
