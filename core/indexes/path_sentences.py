"""Paths as sentences by a template, with the graph's own wording of relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from core.datasets.relations import relation_words
from core.datasets.wording import relation_table
from core.graph.protocol import KnowledgeGraph
from core.types import Path


def word_paths(graph: KnowledgeGraph, paths: Sequence[Path]) -> list[str]:
    """Word each path as a sentence; a path of one node is its name.

    Parameters
    ----------
    paths : paths of the graph.

    Returns
    -------
    One sentence for each path, in their order.

    Examples
    --------
    >>> from core.graph.building.build import build_in_memory
    >>> from core.indexes.path_sentences import word_paths
    >>> from core.types import Path
    >>> films = build_in_memory(
    ...     [("Rope", "directed_by", "Hitchcock"), ("Vertigo", "directed_by", "Hitchcock")], "films"
    ... )
    >>> word_paths(films, [Path((1, 0, 2), (0, 1), (True, False))])  # Rope, Hitchcock, Vertigo
    ['Rope directed by Hitchcock, and Hitchcock directed Vertigo']
    """
    table = relation_table(graph.name)
    nodes = list(dict.fromkeys(node for path in paths for node in path.nodes))
    name_of_node = dict(zip(nodes, (" ".join(name.split()) for name in graph.names(nodes))))
    edges = list(dict.fromkeys(edge for path in paths for edge in path.edges))
    edge_relations = dict(zip(edges, graph.triples(np.array(edges, np.int64))[1].tolist()))
    wording = {
        relation: _both_ways(graph.relation_names[relation], table)
        for relation in set(edge_relations.values())
    }

    def word_path(path: Path) -> str:
        clauses = [
            f"{name_of_node[a]} {wording[edge_relations[edge]][forward]} {name_of_node[b]}"
            for a, edge, forward, b in zip(path.nodes, path.edges, path.forward, path.nodes[1:])
        ]
        return ", and ".join(clauses) or name_of_node[path.start]

    return [word_path(path) for path in paths]


def _both_ways(relation: str, table: Mapping[str, tuple[str, str]]) -> tuple[str, str]:
    """Return the wording of a relation against its triples and along them."""
    return relation_words(relation, False, table), relation_words(relation, True, table)
