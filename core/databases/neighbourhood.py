"""The neighbourhood of some things in a database, fetched hop by hop within bounds."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from core.databases.limits import Limits
from core.graph.readers.triple_file import TripleFile

START = "the-start-of-this-question"  # the relation from each start to itself, which the file has last: by it starts are found again
Id = Hashable  # of a thing there


class Edge(NamedTuple):
    """An edge of a database: what it is recognised by, and its ends. `row` is what is written of it."""

    key: Hashable
    head: Id
    tail: Id
    row: Any


class Reach(ABC):
    """A database in which things are found by name and edges at them are fetched. Methods raise BadInput, and what the limits raise."""

    batch: int  # things that one request asks for
    limits: Limits
    partial: str = ""  # a sentence where names or degrees were looked up only in part

    @abstractmethod
    def named(self, names: Sequence[str]) -> Mapping[str, Collection[Id]]:
        """The things of these very names, by name, as far as there are any."""

    @abstractmethod
    def alike(self, names: Sequence[str]) -> Mapping[str, Collection[Id]]:
        """The things whose names differ from these in case only, by their names there; may read all names of the database."""

    @abstractmethod
    def degrees(self, things: Sequence[Id]) -> Mapping[Id, int]:
        """How many edges things have there."""

    @abstractmethod
    def edges(self, things: Sequence[Id], each: int) -> tuple[list[Edge], set[Id]]:
        """The edges at things, at most `each` out of one and into one, and the things that have more."""

    @abstractmethod
    def leads_on(self, thing: Id) -> bool:
        """Whether edges can be asked for at a thing."""

    @abstractmethod
    def write(self, folder: Path, edges: Iterable[Edge], starts: Sequence[Id]) -> TripleFile:
        """The edges as a file in `folder`, which names things as a copy of the database would, and `START` at the starts."""


@dataclass
class Gathered:
    """The edges of a neighbourhood, and how it was cut: at `full` things edges were left out, at `blank` ones none could be asked for, and
    `stopped` says why things within the hops were not asked at all."""

    edges: dict[Hashable, Edge] = field(default_factory=dict)
    full: set[Id] = field(default_factory=set)
    blank: set[Id] = field(default_factory=set)
    stopped: str = ""
    left: int = 0  # things that were not asked


def gather(
    reach: Reach, starts: Collection[Id], hops: int, each: int, most: int, seconds: float
) -> Gathered:
    """The edges within so many hops of the starts, breadth first in the order of the database: at most `each` out of and into a thing, and
    `most` in all. No request begins once that many are there, or `seconds` have passed.

    An edge is within `hops` where one of its ends is fewer than `hops` edges away from a start, whichever way they run.
    """
    until, found = time.monotonic() + seconds, Gathered()
    seen, frontier = dict.fromkeys(starts), list(starts)
    for hop in range(hops):
        asked = [thing for thing in frontier if reach.leads_on(thing)]
        found.blank.update(set(frontier).difference(asked))
        frontier = []
        for at in range(0, len(asked), reach.batch):
            found.stopped = _why_stop(len(found.edges), most, until, seconds)
            if found.stopped:
                found.left = len(asked) - at
                return found
            reach.limits.watch.report(
                f"Hop {hop + 1}: {len(found.edges):,} edges", (hop + at / len(asked)) / hops
            )
            edges, full = reach.edges(asked[at : at + reach.batch], each)
            found.full |= full
            for edge in edges:
                if len(found.edges) >= most and edge.key not in found.edges:
                    found.stopped, found.left = (
                        f"{most:,} edges are the most that are fetched",
                        len(asked) - at,
                    )
                    return found
                found.edges.setdefault(edge.key, edge)
                fresh = [end for end in (edge.head, edge.tail) if end not in seen]
                seen.update(dict.fromkeys(fresh))
                frontier += dict.fromkeys(fresh)
    return found


def _why_stop(edges: int, most: int, until: float, seconds: float) -> str:
    if edges >= most:
        return f"{most:,} edges are the most that are fetched"
    return f"{seconds:g} s had passed" if time.monotonic() > until else ""
