"""Paths worded as sentences by a template.

Each step uses the graph's own wording of its relation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.datasets.relations import relation_words
from core.datasets.wording import table_of
from core.graph.protocol import KnowledgeGraph
from core.types import Path


def sentences(graph: KnowledgeGraph, paths: Sequence[Path]) -> list[str]:
    """Word each path as a sentence, in order; a path of one node is its name.

    >>> from core.graph.building.build import in_memory
    >>> from core.indexes.sentences import sentences
    >>> from core.types import Path
    >>> films = in_memory(
    ...     [("Rope", "directed_by", "Hitchcock"), ("Vertigo", "directed_by", "Hitchcock")], "films"
    ... )
    >>> sentences(films, [Path((1, 0, 2), (0, 1), (True, False))])  # Rope, Hitchcock, Vertigo
    ['Rope directed by Hitchcock, and Hitchcock directed Vertigo']
    """
    table = table_of(graph.name)
    nodes = list(dict.fromkeys(node for path in paths for node in path.nodes))
    called = dict(zip(nodes, (" ".join(name.split()) for name in graph.names(nodes))))
    edges = list(dict.fromkeys(edge for path in paths for edge in path.edges))
    relation_of = dict(zip(edges, graph.triples(np.array(edges, np.int64))[1].tolist()))
    said = {
        relation: _both_ways(graph.relation_names[relation], table)
        for relation in set(relation_of.values())
    }

    def sentence(path: Path) -> str:
        clauses = zip(path.nodes, path.edges, path.forward, path.nodes[1:])
        return (
            ", and ".join(
                f"{called[a]} {said[relation_of[edge]][way]} {called[b]}"
                for a, edge, way, b in clauses
            )
            or called[path.start]
        )

    return [sentence(path) for path in paths]


def _both_ways(relation: str, table: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Return the wording of a relation against its triples and along them."""
    return relation_words(relation, False, table), relation_words(relation, True, table)
