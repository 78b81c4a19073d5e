"""The neighbourhood of things in a database, fetched hop by hop within limits.

A thing is a node: an IRI, blank node or literal of a SPARQL endpoint, or a node of a property
graph. `core.databases.live_database` answers each question on such a neighbourhood.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from core.databases.limits import CopyLimits
from core.graph.readers.triple_file import TripleFile

# Relation of an edge from each start to itself. These edges are the last in a written file. By them
# the reader of the file learns the names that it gives to the starts.
START_RELATION = "the-start-of-this-question"
Id = Hashable  # id of a thing in the database


class DatabaseEdge(NamedTuple):
    """An edge of a database.

    Attributes
    ----------
    key : the id of the edge, or the triple itself.
    head, tail : ids of its ends.
    row : the data from which `DatabaseLookup.write` writes the edge.
    """

    key: Hashable
    head: Id
    tail: Id
    row: Any


class DatabaseLookup(ABC):
    """A database that finds things by name and returns their edges.

    Methods raise BadInput and the errors of the limits.

    Attributes
    ----------
    things_per_request : largest number of things in a call of `edges`.
    limits : limits of all replies together.
    incomplete_note : a sentence if names or degrees were looked up only in part, else empty.
    """

    things_per_request: int
    limits: CopyLimits
    incomplete_note: str = ""

    @abstractmethod
    def find_named(self, names: Sequence[str]) -> Mapping[str, Collection[Id]]:
        """Return the things with exactly these names, by name.

        Parameters
        ----------
        names : any number of names.

        Returns
        -------
        Things by name; names without a thing are left out.
        """

    @abstractmethod
    def find_alike(self, names: Sequence[str]) -> Mapping[str, Collection[Id]]:
        """Return the things whose names differ from these only in case.

        This may read all names of the database.

        Parameters
        ----------
        names : any number of names.

        Returns
        -------
        Things by their names in the database.
        """

    @abstractmethod
    def degrees(self, things: Sequence[Id]) -> Mapping[Id, int]:
        """Return the number of edges of each thing in the database.

        Parameters
        ----------
        things : ids in the database.

        Returns
        -------
        Number of edges by id.
        """

    @abstractmethod
    def edges(self, things: Sequence[Id], max_each: int) -> tuple[list[DatabaseEdge], set[Id]]:
        """Return the edges of things, and the things that have more.

        Parameters
        ----------
        things : ids in the database.
        max_each : largest number of edges out of a thing, and of edges into it.

        Returns
        -------
        The edges, and the things of which some edges were left out.
        """

    @abstractmethod
    def has_requestable_edges(self, thing: Id) -> bool:
        """Return whether the edges of a thing can be requested.

        Parameters
        ----------
        thing : id in the database.

        Returns
        -------
        False for a thing without a name that every request understands, such as a blank node.
        """

    @abstractmethod
    def write(
        self, folder: Path, edges: Iterable[DatabaseEdge], starts: Sequence[Id]
    ) -> TripleFile:
        """Write the edges to a file in `folder`, with `START_RELATION` edges at the starts.

        Things are named as in a copy of the database.

        Parameters
        ----------
        folder : folder of the file.
        edges : the fetched edges.
        starts : things from which the fetch started.

        Returns
        -------
        The written file.
        """


@dataclass
class DatabaseNeighbourhood:
    """The edges of a neighbourhood, and the things at which it is incomplete.

    Parameters
    ----------
    edges : the edges by their keys.
    cut_things : things of which edges were left out.
    dead_ends : things whose edges cannot be requested.
    stop_reason : why the edges of some things within the hops were not requested, as the end of a
        sentence; empty if all were.
    unrequested_count : the number of these things in the last hop that was begun.
    """

    edges: dict[Hashable, DatabaseEdge] = field(default_factory=dict)
    cut_things: set[Id] = field(default_factory=set)
    dead_ends: set[Id] = field(default_factory=set)
    stop_reason: str = ""
    unrequested_count: int = 0


def fetch_neighbourhood(
    lookup: DatabaseLookup, starts: Collection[Id], hops: int, each: int, limit: int, seconds: float
) -> DatabaseNeighbourhood:
    """Return the edges within some hops of the starts, breadth first.

    An edge is within `hops` if one of its ends is fewer than `hops` edges away from a start, in any
    direction. The edges of a thing come in the order of the database.

    Parameters
    ----------
    lookup : the database.
    starts : ids of the things to start from.
    hops : number of hops.
    each : largest number of edges out of a thing, and into it.
    limit : largest number of edges; no request begins once that many are found.
    seconds : time after which no request begins.
    """
    deadline = time.monotonic() + seconds
    edge_limit_reason = f"{limit:,} edges are the most that are fetched"
    neighbourhood = DatabaseNeighbourhood()
    seen = set(starts)
    frontier = list(starts)
    for hop in range(hops):
        expandable = [thing for thing in frontier if lookup.has_requestable_edges(thing)]
        neighbourhood.dead_ends.update(set(frontier).difference(expandable))
        frontier = []
        for batch_start in range(0, len(expandable), lookup.things_per_request):
            neighbourhood.unrequested_count = len(expandable) - batch_start
            if len(neighbourhood.edges) >= limit:
                neighbourhood.stop_reason = edge_limit_reason
                return neighbourhood
            if time.monotonic() > deadline:
                neighbourhood.stop_reason = f"{seconds:g} s had passed"
                return neighbourhood
            lookup.limits.watch.report(
                f"Hop {hop + 1}: {len(neighbourhood.edges):,} edges",
                (hop + batch_start / len(expandable)) / hops,
            )
            edges, cut_things = lookup.edges(
                expandable[batch_start : batch_start + lookup.things_per_request], each
            )
            neighbourhood.cut_things |= cut_things
            for edge in edges:
                if len(neighbourhood.edges) >= limit and edge.key not in neighbourhood.edges:
                    neighbourhood.stop_reason = edge_limit_reason
                    return neighbourhood
                neighbourhood.edges.setdefault(edge.key, edge)
                for end in (edge.head, edge.tail):
                    if end not in seen:
                        seen.add(end)
                        frontier.append(end)
    neighbourhood.unrequested_count = 0
    return neighbourhood
