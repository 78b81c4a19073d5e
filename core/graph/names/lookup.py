"""Look-up of a graph's names, and suggestions while the user types."""

from __future__ import annotations

import math

import numpy as np

from core.errors import UnknownEntity
from core.graph.names.linking import LinkedName, link_names
from core.graph.names.mentions import Mention, Vocabulary
from core.graph.names.sorted_names import NumberedNames, SortedNames
from core.graph.protocol import KnowledgeGraph
from core.graph.store import DISK_SEARCH_NAMES, Graph

# Smallest similarity of a suggested name, out of 100.
MIN_SUGGESTION_SCORE = 50.0
# Added to the similarity of a suggestion for ten times the edges.
SUGGESTION_DEGREE_BONUS = 4.0
# Added to the similarity of a suggestion for a capital letter.
PROPER_NAME_BONUS = 3.0


class NameLookup:
    """Look-up of a graph's nodes by name.

    Search structures that are not in the store are built at first use and cached on the graph.
    """

    def __init__(self, graph: KnowledgeGraph):
        self.graph = graph

    def find_exact(self, name: str) -> tuple[int, ...]:
        """Return the nodes with this name, exactly or in another spelling, ascending.

        Equal names are tried first, then names that differ in case and typography, then names that
        also differ in punctuation and in the writing of numbers (except in a graph that is too
        large for memory). The result is empty if the name is unknown.

        >>> from core.graph.names.lookup import name_lookup
        >>> name_lookup(toy).find_exact("a"), name_lookup(toy).find_exact("F")
        ((0,), ())
        """
        return (
            self.graph.nodes_named(name)
            or self.vocabulary.find_nodes(name)
            or self.vocabulary.find_by_key(name)
        )

    def find_alike(self, name: str) -> tuple[int, ...]:
        """Return the nodes that `find_exact` finds, else those whose names differ in accents.

        In a graph that is too large for memory, names that differ in accents are not found.

        >>> from core.graph.names.lookup import name_lookup
        >>> name_lookup(story).find_alike("TÍM"), name_lookup(toy).find_alike("F")
        ((4,), ())
        """
        return self.find_exact(name) or self.vocabulary.find_alike(name)

    def find(self, name: str) -> int:
        """Return the node with this name; of several, the one with the most edges.

        Raises
        ------
        UnknownEntity
            If there is no such node; the error has the nearest names.

        >>> from core.graph.names.lookup import name_lookup
        >>> name_lookup(toy).find("C")
        2
        """
        nodes = self.find_exact(name) or self.find_alike(name.strip())
        if not nodes:
            nearest = [self.graph.node_name(node) for node, _ in self.search(name, 3)]
            raise UnknownEntity(name, tuple(nearest))
        return min(nodes, key=lambda node: (-self.graph.degree(node), node))

    def search(self, text: str, k: int = 8) -> list[tuple[int, float]]:
        """Return the `k` nodes whose names are nearest to `text`.

        Names that begin with the text come first, then those that contain it at the start of a
        word, then those that contain it anywhere, then those with a similar spelling (ratio of
        rapidfuzz). Case is ignored.

        Returns
        -------
        Pairs of node and score (0 to 100), ordered by (-score, id).

        >>> from core.graph.names.lookup import name_lookup
        >>> name_lookup(toy).search("b", 1)
        [(1, 100.0)]
        """
        return self.vocabulary.search(text, k)

    def complete(self, text: str, k: int = 8) -> list[int]:
        """Return up to `k` nodes to suggest while the user types, best first.

        The order is that of `search`, with a small bonus for high degrees and for proper names
        (with a capital letter). Of nodes with the same name, one is suggested. Names with little
        similarity are left out.
        """
        best: dict[str, tuple[float, int]] = {}
        for node, score in self.search(text, 8 * k):
            name = self.graph.node_name(node)
            if score >= MIN_SUGGESTION_SCORE:
                value = (
                    score
                    + SUGGESTION_DEGREE_BONUS * math.log10(1 + self.graph.degree(node))
                    + PROPER_NAME_BONUS * (name != name.lower())
                )
                best[name] = max(best.get(name, (value, -node)), (value, -node))
        return [-node for _, node in sorted(best.values(), reverse=True)[:k]]

    def find_links(self, question: str) -> list[LinkedName]:
        """Return the nodes that a question names, with alternatives.

        The links are in the order of the text. See `core.graph.names.linking`.
        """
        return link_names(self.graph, self.vocabulary, question)

    def find_mentions(self, question: str) -> list[Mention]:
        """Return the nodes that a question names, in the order of the text.

        >>> from core.graph.names.lookup import name_lookup
        >>> [mention.node for mention in name_lookup(toy).find_mentions("from [E] to [B]")]
        [4, 1]
        """
        return [link.mention for link in self.find_links(question)]

    @property
    def vocabulary(self) -> Vocabulary:
        """Search structures of the names, in their different spellings."""
        graph = self.graph
        vocabulary: Vocabulary = graph.derived.get_or_make(
            "names", None, lambda: _make_vocabulary(graph)
        )
        return vocabulary


def name_lookup(graph: KnowledgeGraph) -> NameLookup:
    """Return the look-up of a graph's names.

    The search structures are cached on the graph. The returned object is not, because it refers to
    the graph.

    >>> from core.graph.names.lookup import name_lookup
    >>> name_lookup(toy).find("c"), name_lookup(toy).vocabulary is name_lookup(toy).vocabulary
    (2, True)
    """
    return NameLookup(graph)


def _make_vocabulary(graph: KnowledgeGraph) -> Vocabulary:
    if isinstance(graph, Graph) and graph.numbered:
        return NumberedNames(graph)
    if isinstance(graph, Graph) and graph.n_nodes > DISK_SEARCH_NAMES and graph.folder:
        return SortedNames(graph)
    return Vocabulary(graph.names(range(graph.n_nodes)), graph.degrees(np.arange(graph.n_nodes)))
