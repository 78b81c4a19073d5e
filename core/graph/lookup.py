"""The names of a graph: exact look-up and suggestions while a person types."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import cached_property

import numpy as np

from core.errors import UnknownEntity
from core.graph.mentions import Mention, Vocabulary
from core.graph.store import Graph

HELD = 4  # graphs whose names are kept ready


class Names:
    """Look-up of a graph's nodes by name. What it needs beyond the store is prepared when first asked for."""

    def __init__(self, graph: Graph):
        self.graph = graph
        self._lock = threading.RLock()

    def exact(self, name: str) -> tuple[int, ...]:
        """The nodes of this very name, else those whose name differs by case only, ascending; none where unknown."""
        wanted, order = name.encode("utf-8", "surrogatepass"), self.graph.name_order
        found = []
        at = self._first_at_least(wanted)
        while at < len(order) and self._bytes(int(order[at])) == wanted:
            found.append(int(order[at]))
            at += 1
        return tuple(sorted(found)) or self.vocabulary.nodes(name.casefold())

    def find(self, name: str) -> int:
        """The node of this name; of several, the one with most edges. Raises UnknownEntity with the nearest names."""
        found = self.exact(name) or self.exact(name.strip())
        if not found:
            nearest = [self.graph.node_name(node) for node, _ in self.search(name, 3)]
            raise UnknownEntity(name, tuple(nearest))
        return min(found, key=lambda node: (-self.graph.degree(node), node))

    def search(self, text: str, k: int = 8) -> list[tuple[int, float]]:
        """The `k` nodes whose names are nearest to `text`: (id, score in 0..100), by (-score, id).

        A name that begins with the text comes before one that holds it at the start of a word, then one that holds it
        anywhere, then those alike in spelling (rapidfuzz `ratio`), case aside.
        """
        return self.vocabulary.search(text, k)

    def mentions(self, question: str) -> list[Mention]:
        """The nodes that a question names, by place in the text; see `Vocabulary.mentions`."""
        return self.vocabulary.mentions(question)

    @property
    def vocabulary(self) -> Vocabulary:
        with self._lock:
            return self._vocabulary

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        graph = self.graph
        return Vocabulary(graph.names(range(graph.n_nodes)), np.diff(graph.out_indptr) + np.diff(graph.in_indptr))

    def _bytes(self, node: int) -> bytes:
        offsets = self.graph.name_offsets
        return bytes(self.graph.names_utf8[int(offsets[node]) : int(offsets[node + 1])])

    def _first_at_least(self, wanted: bytes) -> int:
        """The first place in the order of names whose name is not below `wanted`."""
        order, low, high = self.graph.name_order, 0, self.graph.n_nodes
        while low < high:
            middle = (low + high) // 2
            if self._bytes(int(order[middle])) < wanted:
                low = middle + 1
            else:
                high = middle
        return low


_held: OrderedDict[str, Names] = OrderedDict()
_guard = threading.Lock()


def names(graph: Graph) -> Names:
    """The names of a graph, one object for each graph content; the last few graphs' are kept."""
    with _guard:
        known = _held.pop(graph.digest, None) or Names(graph)
        _held[graph.digest] = known
        while len(_held) > HELD:
            _held.popitem(last=False)
        return known
