"""Graphs made of texts: building operators, the builds that ship, and builds at work."""

from core.builds.catalogue import Build, catalogue, chosen, find
from core.builds.run import Status, being_built, build, open_graph, standing, status

__all__ = ["Build", "Status", "being_built", "build", "catalogue", "chosen", "find", "open_graph", "standing", "status"]
