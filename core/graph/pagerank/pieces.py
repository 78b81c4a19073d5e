"""Pieces of a PageRank computation, on threads of this process or on worker processes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath
from typing import TypeVar

from core.errors import HopscopeError
from core.graph.algorithms.neighbourhood import walk_arguments
from core.graph.pagerank.problem import NO_WEIGHTS, Adjacency, PageRankProblem
from core.graph.storage.subprocess_graphs import open_with_digest
from core.graph.store import Graph
from core.runtime.cluster import LostResult
from core.runtime.concurrent_work import ConcurrentWork
from core.runtime.derived_values import DerivedValues
from core.watch import NO_WATCH, Watch

Item = TypeVar("Item")
Result = TypeVar("Result")
MAX_CACHED_VALUES = 1 << 16  # of a kind, for a graph, direction and damping
_open_stored = cache(open_with_digest)  # in a worker process


@dataclass(frozen=True, eq=False)
class PieceSource:
    """The graph, direction and damping of a piece of work.

    A worker process opens the graph from its folder, and keeps it with its derived values.
    """

    graph: Graph
    direction: str
    damping: float
    watch: Watch = NO_WATCH

    def __reduce__(self):
        return _open_source, (self.graph.folder, self.graph.digest, self.direction, self.damping)

    def links(self) -> Adjacency:
        """Return the adjacency of the graph, without weights."""
        arrays = walk_arguments(self.graph, self.direction)
        return Adjacency(*arrays, NO_WEIGHTS, NO_WEIGHTS, NO_WEIGHTS)

    def keep(self, name: str, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return a value kept with the graph, made at the first call in a process."""
        settings = self.direction, self.damping
        derived = self.graph.derived.get_or_make("pagerank pieces", settings, DerivedValues)
        return derived.get_or_make(name, key, make, MAX_CACHED_VALUES)


def _open_source(folder: FilePath, digest: str, direction: str, damping: float) -> PieceSource:
    """Return the source of a piece in a worker process."""
    return PieceSource(_open_stored(folder, digest), direction, damping)


def piece_source(problem: PageRankProblem) -> PieceSource:
    """Return the source of the pieces of a problem.

    Raises
    ------
    StoreError
        If the problem has workers and the graph is not stored, so that they cannot open it.
    """
    if problem.workers is not None:
        _ = problem.graph.data_folder  # raises StoreError
    return PieceSource(problem.graph, problem.direction, problem.damping, problem.watch)


@contextmanager
def hold_workers(problem: PageRankProblem) -> Iterator[int]:
    """Keep the workers of a problem within the block, and return how many pieces run at a time."""
    if problem.workers is None:
        yield problem.threads
        return
    with problem.workers.start_ray() as ray:
        yield problem.workers.count_on(ray)


def run_pieces(
    problem: PageRankProblem, work: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with `work(item)`, by the workers of the problem or else its threads.

    They come in the order of the items, on several threads in that in which they end.

    Raises
    ------
    HopscopeError
        If a worker died at a piece repeatedly. Errors of the watch are raised too.
    """
    if problem.workers is not None:
        for item, result in problem.workers.run_each(work, items, problem.watch):
            if isinstance(result, LostResult):
                raise HopscopeError(result.error)
            yield item, result
    elif problem.threads > 1:
        yield from ConcurrentWork(lambda: problem.threads, problem.watch).run_each(work, items)
    else:
        for item in items:
            problem.watch.check()
            yield item, work(item)
