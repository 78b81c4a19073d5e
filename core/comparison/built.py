"""The graphs of corpora that lanes stand on, opened once."""

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
CHUNKS = "chunks"  # the kind of graph that needs no reading of the texts, and is made whoever asks for it
AT_ONCE = 2_000_000  # characters of a corpus whose graph is made within a question, where no language model is asked for it
Key = tuple[str, str, str]  # a corpus's folder and content, and a build's line


class BuiltGraphs:
    """Opened graphs by corpus and build; one that was built anew since is opened anew. Safe between threads."""

    def __init__(self, models: Models):
        self._models, self._lock = models, threading.Lock()
        self._making: dict[
            Key, threading.Lock
        ] = {}  # so that nobody waits for the graph of another corpus
        self._so_far: dict[
            Key, tuple[str, float | None]
        ] = {}  # how far those are that are being made, for others that wait for them
        # those that came with a corpus, and do not fit what is here
        self._uncovered: set[Key] = set()
        self._opened: LRUCache[Key, tuple[int, Graph | None]] = LRUCache(OPENED)

    def __call__(
        self, corpus: Corpus, spec: str = "", watch: Watch = NO_WATCH, make: bool = False
    ) -> Graph:
        """The graph that a build made of a corpus, of a kind of graph the best that is there (`core.builds.standing`); without `spec` the
        chunks.

        That of the chunks alone is made where there is none; to `make` it that of a corpus which is not large as well,
        unless a language model is asked for it; one that came with the corpus asks none, and where it does not fit what is here the next
        best is taken. No vectors are made with it: an operator that reads some makes them. Raises BadParameter for an unknown build,
        StoreError where it is not built yet, saying how to build it.
        """
        one = build_for(corpus, spec or CHUNKS)
        try:
            return self._graph(corpus, one, watch, make)
        except Uncovered:
            return self._graph(corpus, build_for(corpus, spec, shipped=False), watch, make)

    def close(self) -> None:
        """Hold no graph any more; one that is asked for again is opened anew."""
        with self._lock:
            self._opened.clear()

    def digest(self, corpus: Corpus | None, spec: str) -> str:
        """The digest of the graph that `spec` means, without opening or making it; empty where it is not built, or no build is meant."""
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
        """Tells how far a graph is to who makes it, and to all who wait for it meanwhile."""

        def tell(text: str, share: float | None) -> None:
            self._so_far[key] = text, share
            watch.report(text, share)

        return Watch(watch.check, tell)

    def _made(self, corpus: Corpus, one: Build, watch: Watch = NO_WATCH) -> Graph:
        """The graph, built without asking a language model. Raises Uncovered where it came with the corpus and does not fit here."""
        indexed = isinstance(one.line.operators[0], OpenedIndex)  # whose vectors came with it
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
    """Whether a graph can be made while a person waits."""
    return (
        not one.line.asks_chat or ships(corpus, one) is not None
    ) and corpus.characters <= AT_ONCE
