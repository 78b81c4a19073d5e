"""Division of a PageRank computation into pieces, for threads or worker processes.

A piece is a function applied to one item, such as a range of nodes. `run_pieces` runs the pieces of
a problem. `PieceSource` gives a piece its graph, also in another process.
"""

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
# Largest number of values of one name that are cached for a graph, direction and damping.
MAX_CACHED_VALUES = 1 << 16
_open_stored = cache(open_with_digest)  # a worker process opens each graph once


@dataclass(frozen=True, eq=False)
class PieceSource:
    """The graph, direction and damping of a piece.

    The source can be sent to a worker process. It is pickled as the folder and digest of the graph.
    A worker process opens the graph from its folder, and keeps it with its cached values.
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

    def get_or_make(self, name: str, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return a value cached with the graph.

        `make` makes it at the first call in a process.
        """
        settings = self.direction, self.damping
        derived = self.graph.derived.get_or_make("pagerank pieces", settings, DerivedValues)
        return derived.get_or_make(name, key, make, MAX_CACHED_VALUES)


def _open_source(folder: FilePath, digest: str, direction: str, damping: float) -> PieceSource:
    """Return a source whose graph is opened from its folder; pickle calls this."""
    return PieceSource(_open_stored(folder, digest), direction, damping)


def piece_source(problem: PageRankProblem) -> PieceSource:
    """Return the graph and settings of a problem for its pieces.

    Raises
    ------
    StoreError
        If the problem has workers and the graph is not stored, so that workers cannot open it.
    """
    if problem.workers is not None:
        _ = problem.graph.data_folder  # raises StoreError
    return PieceSource(problem.graph, problem.direction, problem.damping, problem.watch)


@contextmanager
def hold_workers(problem: PageRankProblem) -> Iterator[int]:
    """Start the workers of a problem for the block.

    The result is the number of pieces that run in parallel.
    """
    if problem.workers is None:
        yield problem.threads
        return
    with problem.workers.start_ray() as ray:
        yield problem.workers.count_on(ray)


def run_pieces(
    problem: PageRankProblem, work: Callable[[Item], Result], items: Iterable[Item]
) -> Iterator[tuple[Item, Result]]:
    """Yield each item with `work(item)`.

    The problem's workers run the items, or else its threads. With several threads, results are
    yielded in the order in which they are finished, else in the order of the items.

    Raises
    ------
    HopscopeError
        If a worker process died repeatedly while it ran a piece. The watch may raise, too.
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
