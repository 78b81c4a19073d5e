"""Graphs made of texts: building operators, the builds that ship, and builds at work."""

from core.builds.catalogue import Build, catalogue, chosen, find
from core.builds.run import Status, build, open_graph, status

__all__ = ["Build", "Status", "build", "catalogue", "chosen", "find", "open_graph", "status"]
