"""Cache of the graphs built from corpora, which all lanes and questions share."""

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
    """Cache of opened graphs by corpus and build, safe between threads.

    A graph that was built again after it was opened is opened again.
    """

    def __init__(self, models: Models):
        self._models, self._lock = models, threading.Lock()
        # One lock for each graph, so that nobody waits for the graph of another corpus.
        self._locks: dict[BuildKey, threading.Lock] = {}
        # Text and fraction of the running builds, for the threads that wait for their graphs.
        self._progress: dict[BuildKey, tuple[str, float | None]] = {}
        # Graphs shipped with a corpus that do not fit the texts or models of this installation, so
        # that building them from the shipped replies is tried only once.
        self._misfits: set[BuildKey] = set()
        # Each graph with the modification time of its file, in nanoseconds.
        self._open_graphs: LRUCache[BuildKey, tuple[int, Graph | None]] = LRUCache(MAX_OPEN_GRAPHS)

    def __call__(
        self, corpus: Corpus, spec: str = "", watch: Watch = NO_WATCH, make: bool = False
    ) -> Graph:
        """Return the graph that a build made of a corpus.

        For a kind of graph, `core.builds.build_for` chooses its best build. No vectors are made; an
        operator that needs vectors makes them.

        A missing graph of chunks is always built. Other graphs are built if `make` is set, the
        corpus is not large, and no language model is needed. A graph that was shipped with the
        corpus needs no language model. If it does not fit this installation, the next best build
        is used.

        Parameters
        ----------
        corpus : the corpus.
        spec : the name of a build or of a kind of graph; empty for the graph of chunks.
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
        """Return the digest of the graph that `spec` names, without opening or building it.

        It is empty if the graph is not built, there is no such build, or there is no corpus.
        """
        if corpus is None:
            return ""
        try:
            status = build_status(corpus, build_for(corpus, spec))
        except BadParameter:
            return ""
        return status.graph if status.can_be_opened else ""

    def _graph(self, corpus: Corpus, build: GraphBuild, watch: Watch, make: bool) -> Graph:
        file = build_folder(corpus, build) / BUILT_FILE
        key = (str(corpus.folder), corpus.digest, repr(build.line))
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())

        def report_progress() -> None:
            watch.check()
            progress = self._progress.get(key)
            if progress is not None:
                watch.report(*progress)

        with hold_lock(lock, Watch(report_progress)):
            with self._lock:
                stamp, graph = self._open_graphs.get(key, (0, None))
            if graph is not None and file.exists() and stamp == file.stat().st_mtime_ns:
                return graph
            with pass_turn():
                is_missing = not build_status(corpus, build).can_be_opened
                if is_missing and (
                    build.graph == CHUNK_GRAPH or (make and _is_quick_build(corpus, build))
                ):
                    try:
                        graph = self._build(corpus, build, self._shared_watch(key, watch))
                    finally:
                        self._progress.pop(key, None)
                else:
                    graph = open_graph(corpus, build)
            with self._lock:
                self._open_graphs[key] = (file.stat().st_mtime_ns, graph)
            return graph

    def _shared_watch(self, key: BuildKey, watch: Watch = NO_WATCH) -> Watch:
        """Return a watch that reports progress to all that wait.

        These are the caller and other threads.
        """

        def report(text: str, fraction: float | None) -> None:
            self._progress[key] = text, fraction
            watch.report(text, fraction)

        return Watch(watch.check, report)

    def _build(self, corpus: Corpus, build: GraphBuild, watch: Watch = NO_WATCH) -> Graph:
        """Build the graph without a language model.

        Raises RepliesNotShipped for a shipped graph that does not fit this installation.
        """
        # The indexes of a graph made here are built when a question needs them. The graph of
        # another tool comes with vectors, which are taken over at once.
        indexed = isinstance(build.line.operators[0], OpenedIndex)
        if not build.line.uses_chat_model:
            return run_build(corpus, build, self._models, watch, indexed=indexed)
        key = (str(corpus.folder), corpus.digest, repr(build.line))
        if key in self._misfits:
            raise RepliesNotShipped
        try:
            return run_build(corpus, build, ModelsWithoutChat(self._models), watch, indexed=indexed)
        except RepliesNotShipped:
            self._misfits.add(key)
            raise


def _is_quick_build(corpus: Corpus, build: GraphBuild) -> bool:
    """Return whether a graph can be built while a user waits."""
    return (
        not build.line.uses_chat_model or find_shipped_build(corpus, build) is not None
    ) and corpus.characters <= MAX_ON_DEMAND_CHARACTERS
