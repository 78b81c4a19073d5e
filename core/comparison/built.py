"""The graphs of corpora that lanes stand on, opened once."""

from __future__ import annotations

import threading
from collections.abc import Callable

from cachetools import LRUCache

from core.builds import build, find, open_graph
from core.builds.run import BUILT, place
from core.corpus import Corpus
from core.errors import StoreError
from core.graph.store import Graph
from core.indexes.place import waiting
from core.models.base import Models

OPENED = 32  # graphs that stay open
Key = tuple[str, str, str]  # a corpus's folder and content, and a build's line
CHUNKS = "chunks"  # the kind of graph that needs no reading of the texts, and is made when first asked for


class BuiltGraphs:
    """Opened graphs by corpus and build; one that was built anew since is opened anew. Safe between threads."""

    def __init__(self, models: Models):
        self._models, self._lock = models, threading.Lock()
        self._making: dict[Key, threading.Lock] = {}  # so that nobody waits for the graph of another corpus
        self._opened: LRUCache[Key, tuple[int, Graph | None]] = LRUCache(OPENED)

    def __call__(self, corpus: Corpus, spec: str = CHUNKS, check: Callable[[], None] = lambda: None) -> Graph:
        """The graph that a build made of a corpus; that of the chunks alone is made where there is none.

        Raises BadParameter for an unknown build, StoreError where it is not built yet, saying how to build it.
        """
        one = find(spec)
        file = place(corpus, one) / BUILT
        key = (str(corpus.folder), corpus.digest, repr(one.line))
        with self._lock:
            lock = self._making.setdefault(key, threading.Lock())
        with waiting(lock, check):
            with self._lock:
                stamp, known = self._opened.get(key, (0, None))
            if known is not None and file.exists() and stamp == file.stat().st_mtime_ns:
                return known
            try:
                graph = open_graph(corpus, one)
            except StoreError:
                if one.graph != CHUNKS:
                    raise
                graph = build(corpus, one, self._models, check=check)
            with self._lock:
                self._opened[key] = (file.stat().st_mtime_ns, graph)
            return graph
