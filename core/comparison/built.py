"""The graphs of corpora that lanes run on, each opened once."""

from __future__ import annotations

import threading

from cachetools import LRUCache

from core.builds import Build, build, build_for, open_graph, status
from core.builds.opened import OpenedIndex
from core.builds.run import BUILT, place
from core.builds.shipped import Unasked, Uncovered, ships
from core.corpus import Corpus
from core.errors import BadParameter
from core.graph.store import Graph
from core.models.base import Models
from core.runtime.places import waiting
from core.runtime.turn import passed_on
from core.watch import NO_WATCH, Watch

OPENED = 32  # graphs that stay open
# The kind of graph that is made without reading the texts, so it is always built on demand.
CHUNKS = "chunks"
# Characters of the largest corpus whose graph is built while a user waits. No model is asked.
AT_ONCE = 2_000_000
Key = tuple[str, str, str]  # a corpus's folder and content, and a build's line


class BuiltGraphs:
    """Opened graphs by corpus and build. It is safe between threads.

    A graph that was built again since is opened again.
    """

    def __init__(self, models: Models):
        self._models, self._lock = models, threading.Lock()
        # One lock for each graph, so that nobody waits for the graph of another corpus.
        self._making: dict[Key, threading.Lock] = {}
        # Progress of the graphs that are being built, for the threads that wait for them.
        self._so_far: dict[Key, tuple[str, float | None]] = {}
        # Graphs shipped with a corpus that do not fit the texts or models here.
        self._uncovered: set[Key] = set()
        self._opened: LRUCache[Key, tuple[int, Graph | None]] = LRUCache(OPENED)

    def __call__(
        self, corpus: Corpus, spec: str = "", watch: Watch = NO_WATCH, make: bool = False
    ) -> Graph:
        """Return the graph that a build made of a corpus.

        A kind of graph stands for its best build (`core.builds.standing`). No vectors are made
        here; an operator that reads some makes them.

        A missing graph of chunks is always built. Others are built if `make` is set, the corpus is
        not large, and no language model is needed. A graph that was shipped with the corpus needs
        none. If it does not fit here, the next best build is taken.

        Parameters
        ----------
        corpus : the corpus.
        spec : the build or the kind of graph; the chunks where empty.
        watch : receives the progress, and can cancel the work.
        make : True if a missing graph may be built.

        Raises
        ------
        BadParameter : for an unknown build.
        StoreError : for a graph that is not built yet; the message says how to build it.
        """
        one = build_for(corpus, spec or CHUNKS)
        try:
            return self._graph(corpus, one, watch, make)
        except Uncovered:
            return self._graph(corpus, build_for(corpus, spec, shipped=False), watch, make)

    def close(self) -> None:
        """Close all graphs; a graph that is needed again is opened again."""
        with self._lock:
            self._opened.clear()

    def digest(self, corpus: Corpus | None, spec: str) -> str:
        """Return the digest of the graph that `spec` means, without opening or building it.

        It is empty where the graph is not built or no build is meant.
        """
        if corpus is None:
            return ""
        try:
            now = status(corpus, build_for(corpus, spec))
        except BadParameter:
            return ""
        return now.graph if now.serves else ""

    def _graph(self, corpus: Corpus, one: Build, watch: Watch, make: bool) -> Graph:
        file = place(corpus, one) / BUILT
        key = (str(corpus.folder), corpus.digest, repr(one.line))
        with self._lock:
            lock = self._making.setdefault(key, threading.Lock())

        def look() -> None:
            watch.check()
            if (so_far := self._so_far.get(key)) is not None:
                watch.report(*so_far)

        with waiting(lock, Watch(look)):
            with self._lock:
                stamp, known = self._opened.get(key, (0, None))
            if known is not None and file.exists() and stamp == file.stat().st_mtime_ns:
                return known
            with passed_on():
                if not status(corpus, one).serves and (
                    one.graph == CHUNKS or (make and _soon(corpus, one))
                ):
                    try:
                        graph = self._made(corpus, one, self._telling(key, watch))
                    finally:
                        self._so_far.pop(key, None)
                else:
                    graph = open_graph(corpus, one)
            with self._lock:
                self._opened[key] = (file.stat().st_mtime_ns, graph)
            return graph

    def _telling(self, key: Key, watch: Watch = NO_WATCH) -> Watch:
        """Return a watch that reports progress to the caller and to all threads that wait."""

        def tell(text: str, share: float | None) -> None:
            self._so_far[key] = text, share
            watch.report(text, share)

        return Watch(watch.check, tell)

    def _made(self, corpus: Corpus, one: Build, watch: Watch = NO_WATCH) -> Graph:
        """Build the graph without a language model.

        Raises Uncovered for a graph that was shipped with the corpus and does not fit here.
        """
        # An opened index brings its vectors.
        indexed = isinstance(one.line.operators[0], OpenedIndex)
        if not one.line.asks_chat:
            return build(corpus, one, self._models, watch, indexed=indexed)
        key = (str(corpus.folder), corpus.digest, repr(one.line))
        if key in self._uncovered:
            raise Uncovered
        try:
            return build(corpus, one, Unasked(self._models), watch, indexed=indexed)
        except Uncovered:
            self._uncovered.add(key)
            raise


def _soon(corpus: Corpus, one: Build) -> bool:
    """Return whether a graph can be built while a user waits."""
    return (
        not one.line.asks_chat or ships(corpus, one) is not None
    ) and corpus.characters <= AT_ONCE
