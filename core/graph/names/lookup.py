"""The names of a graph: exact look-up and suggestions while a person types."""

from __future__ import annotations

import math

import numpy as np

from core.errors import UnknownEntity
from core.graph.names.linking import LinkedName, links
from core.graph.names.mentions import Mention, Vocabulary
from core.graph.names.sorted_names import NumberedNames, SortedNames
from core.graph.protocol import KnowledgeGraph
from core.graph.store import LARGE, Graph

ALIKE = 50.0  # of 100; names less alike are not offered
# of 100: what ten times the edges, and a capital letter, are worth in what is offered
DEGREE, PROPER = (4.0, 3.0)


class Names:
    """Look-up of a graph's nodes by name. What it needs beyond the store is prepared when first asked for, and kept on the graph."""

    def __init__(self, graph: KnowledgeGraph):
        self.graph = graph

    def exact(self, name: str) -> tuple[int, ...]:
        """Return the nodes of this very name, else those of the same name as people write it.

        In turn: names that differ in case and typography only, then in punctuation and the writing of
        numbers too. Ascending; none where unknown. Of a graph too large to hold punctuation counts.

        >>> from core.graph.names.lookup import names
        >>> names(toy).exact("a"), names(toy).exact("F")
        ((0,), ())
        """
        return (
            self.graph.nodes_named(name)
            or self.vocabulary.nodes(name)
            or self.vocabulary.keyed(name)
        )

    def alike(self, name: str) -> tuple[int, ...]:
        """The nodes of this name as `exact` finds them, else those that differ in accents alone; none where unknown. Of a
        graph too large to hold accents count.

        >>> from core.graph.names.lookup import names
        >>> names(story).alike("TÍM"), names(toy).alike("F")
        ((4,), ())
        """
        return self.exact(name) or self.vocabulary.alike(name)

    def find(self, name: str) -> int:
        """The node of this name; of several, the one with most edges. Raises UnknownEntity with the nearest names.

        >>> from core.graph.names.lookup import names
        >>> names(toy).find("C")
        2
        """
        found = self.exact(name) or self.alike(name.strip())
        if not found:
            nearest = [self.graph.node_name(node) for node, _ in self.search(name, 3)]
            raise UnknownEntity(name, tuple(nearest))
        return min(found, key=lambda node: (-self.graph.degree(node), node))

    def search(self, text: str, k: int = 8) -> list[tuple[int, float]]:
        """The `k` nodes whose names are nearest to `text`: (id, score in 0..100), by (-score, id).

        A name that begins with the text comes before one that holds it at the start of a word, then one that holds it
        anywhere, then those alike in spelling (rapidfuzz `ratio`), case aside.

        >>> from core.graph.names.lookup import names
        >>> names(toy).search("b", 1)
        [(1, 100.0)]
        """
        return self.vocabulary.search(text, k)

    def complete(self, text: str, k: int = 8) -> list[int]:
        """The `k` names to offer while a person types, best first: as `search` orders them, those of well connected nodes and proper
        names (with a capital letter) a little before, one node for names that are the same; none that are hardly alike."""
        best: dict[str, tuple[float, int]] = {}
        for node, score in self.search(text, 8 * k):
            name = self.graph.node_name(node)
            if score >= ALIKE:
                value = (
                    score
                    + DEGREE * math.log10(1 + self.graph.degree(node))
                    + PROPER * (name != name.lower())
                )
                best[name] = max(best.get(name, (value, -node)), (value, -node))
        return [-node for _, node in sorted(best.values(), reverse=True)[:k]]

    def links(self, question: str) -> list[LinkedName]:
        """The nodes that a question names, by place in the text, each with its runners-up; see `core.graph.names.linking`."""
        return links(self.graph, self.vocabulary, question)

    def mentions(self, question: str) -> list[Mention]:
        """The nodes that a question names, by place in the text.

        >>> from core.graph.names.lookup import names
        >>> [mention.node for mention in names(toy).mentions("from [E] to [B]")]
        [4, 1]
        """
        return [link.mention for link in self.links(question)]

    @property
    def vocabulary(self) -> Vocabulary:
        """The names in the ways in which people write them."""
        graph = self.graph
        made: Vocabulary = graph.derived.once("names", None, lambda: _vocabulary(graph))
        return made


def names(graph: KnowledgeGraph) -> Names:
    """The names of a graph. What is prepared of them is kept on the graph, though not this object, which holds the graph itself.

    >>> from core.graph.names.lookup import names
    >>> names(toy).find("c"), names(toy).vocabulary is names(toy).vocabulary
    (2, True)
    """
    return Names(graph)


def _vocabulary(graph: KnowledgeGraph) -> Vocabulary:
    if isinstance(graph, Graph) and (graph.numbered or graph.n_nodes > LARGE and graph.folder):
        return NumberedNames(graph) if graph.numbered else SortedNames(graph)
    return Vocabulary(graph.names(range(graph.n_nodes)), graph.degrees(np.arange(graph.n_nodes)))
