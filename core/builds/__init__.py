"""Construction of graphs from texts: building operators, shipped builds, and running builds.

A build is a named line of building operators. It cuts the documents of a corpus into chunks,
extracts entities and relations from them, and merges these facts into a graph with its indexes.
"""

from core.builds.catalogue import GraphBuild, catalogue, choose_build, find_build
from core.builds.run import (
    Status,
    build_for,
    build_status,
    is_being_built,
    open_graph,
    own_builds,
    run_build,
)

__all__ = [
    "GraphBuild",
    "Status",
    "is_being_built",
    "run_build",
    "build_for",
    "catalogue",
    "choose_build",
    "find_build",
    "open_graph",
    "own_builds",
    "build_status",
]
