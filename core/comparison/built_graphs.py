"""The graphs of corpora that lanes run on, each opened once."""

from __future__ import annotations

import threading

from cachetools import LRUCache

from core.builds import GraphBuild, build_for, build_status, open_graph, run_build
from core.builds.run import BUILT_FILE, build_folder
from core.builds.shipped_data import ModelsWithoutChat, RepliesNotShipped, find_shipped_build
from core.builds.tool_graph import OpenedIndex
from core.corpus import Corpus
from core.errors import BadParameter
from core.graph.store import Graph
from core.models.base import Models
from core.runtime.slots import hold_lock
from core.runtime.turn import pass_turn
from core.watch import NO_WATCH, Watch

MAX_OPEN_GRAPHS = 32  # graphs that stay open
# The kind of graph that is made without reading the texts, so it is always built on demand.
CHUNK_GRAPH = "chunks"
# Characters of the largest corpus whose graph is built while a user waits. No model is asked.
MAX_ON_DEMAND_CHARACTERS = 2_000_000
BuildKey = tuple[str, str, str]  # a corpus's folder and content, and a build's line


class BuiltGraphs:
    """Opened graphs by corpus and build. It is safe between threads.

    A graph that was built again since is opened again.
    """

    def __init__(self, models: Models):
        self._models, self._lock = models, threading.Lock()
        # One lock for each graph, so that nobody waits for the graph of another corpus.
        self._making: dict[BuildKey, threading.Lock] = {}
        # Progress of the graphs that are being built, for the threads that wait for them.
        self._progress: dict[BuildKey, tuple[str, float | None]] = {}
        # Graphs shipped with a corpus that do not fit the texts or models here.
        self._misfits: set[BuildKey] = set()
        self._open_graphs: LRUCache[BuildKey, tuple[int, Graph | None]] = LRUCache(MAX_OPEN_GRAPHS)

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
        spec : the build or the kind of graph; the chunks if empty.
        watch : receives the progress, and can cancel the work.
        make : True if a missing graph may be built.

        Raises
        ------
        BadParameter : for an unknown build.
        StoreError : for a graph that is not built yet; the message says how to build it.
        """
        graph_build = build_for(corpus, spec or CHUNK_GRAPH)
        try:
            return self._graph(corpus, graph_build, watch, make)
        except RepliesNotShipped:
            return self._graph(corpus, build_for(corpus, spec, shipped=False), watch, make)

    def close(self) -> None:
        """Close all graphs; a graph that is needed again is opened again."""
        with self._lock:
            self._open_graphs.clear()

    def digest(self, corpus: Corpus | None, spec: str) -> str:
        """Return the digest of the graph that `spec` means, without opening or building it.

        It is empty if the graph is not built or no build is meant.
        """
        if corpus is None:
            return ""
        try:
            status = build_status(corpus, build_for(corpus, spec))
        except BadParameter:
            return ""
        return status.graph if status.serves else ""

    def _graph(self, corpus: Corpus, one: GraphBuild, watch: Watch, make: bool) -> Graph:
        file = build_folder(corpus, one) / BUILT_FILE
        key = (str(corpus.folder), corpus.digest, repr(one.line))
        with self._lock:
            lock = self._making.setdefault(key, threading.Lock())

        def look() -> None:
            watch.check()
            if (progress := self._progress.get(key)) is not None:
                watch.report(*progress)

        with hold_lock(lock, Watch(look)):
            with self._lock:
                stamp, open_graph_retained = self._open_graphs.get(key, (0, None))
            if (
                open_graph_retained is not None
                and file.exists()
                and stamp == file.stat().st_mtime_ns
            ):
                return open_graph_retained
            with pass_turn():
                if not build_status(corpus, one).serves and (
                    one.graph == CHUNK_GRAPH or (make and _is_quick_build(corpus, one))
                ):
                    try:
                        graph = self._build(corpus, one, self._telling(key, watch))
                    finally:
                        self._progress.pop(key, None)
                else:
                    graph = open_graph(corpus, one)
            with self._lock:
                self._open_graphs[key] = (file.stat().st_mtime_ns, graph)
            return graph

    def _telling(self, key: BuildKey, watch: Watch = NO_WATCH) -> Watch:
        """Return a watch that reports progress to the caller and to all threads that wait."""

        def tell(text: str, share: float | None) -> None:
            self._progress[key] = text, share
            watch.report(text, share)

        return Watch(watch.check, tell)

    def _build(self, corpus: Corpus, one: GraphBuild, watch: Watch = NO_WATCH) -> Graph:
        """Build the graph without a language model.

        Raises Uncovered for a graph that was shipped with the corpus and does not fit here.
        """
        # An opened index brings its vectors.
        indexed = isinstance(one.line.operators[0], OpenedIndex)
        if not one.line.asks_chat:
            return run_build(corpus, one, self._models, watch, indexed=indexed)
        key = (str(corpus.folder), corpus.digest, repr(one.line))
        if key in self._misfits:
            raise RepliesNotShipped
        try:
            return run_build(corpus, one, ModelsWithoutChat(self._models), watch, indexed=indexed)
        except RepliesNotShipped:
            self._misfits.add(key)
            raise


def _is_quick_build(corpus: Corpus, one: GraphBuild) -> bool:
    """Return whether a graph can be built while a user waits."""
    return (
        not one.line.asks_chat or find_shipped_build(corpus, one) is not None
    ) and corpus.characters <= MAX_ON_DEMAND_CHARACTERS
