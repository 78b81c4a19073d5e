"""Short descriptions of nodes by their roles in triples.

They tell apart nodes in lists.
"""

from __future__ import annotations

import numpy as np

from core.graph.names.phrases import relation_phrase
from core.graph.protocol import KnowledgeGraph

MAX_ROLES = 3  # roles in a description
# Largest degree of a node whose roles are counted.
MAX_ROLE_DEGREE = 20_000


def node_roles(graph: KnowledgeGraph, node: int) -> str:
    """Return the roles of a node, the commonest first: `director, writer`, “tag”.

    The roles are the relations of which the node is a tail. A node that is only a head is described
    by its type, if the relation names contain the type, else by its relations, as in
    `has director, genre`. The result is empty for a node without edges and for one with more than
    `MAX_ROLE_DEGREE`.

    >>> from core.graph.names.roles import node_roles
    >>> node_roles(toy, 2), node_roles(toy, 4)  # C is the tail of r1 and r2, E only a head
    ('r1, r2', 'has r5')
    """
    if not 0 < graph.degree(node) <= MAX_ROLE_DEGREE:
        return ""
    steps = graph.steps_from(np.array([node]), "both")
    parts = [
        singular(relation_phrase(graph.relation_names[code]).noun)
        for code in _commonest(steps.relations[~steps.forward])
    ]
    if parts:
        return ", ".join(dict.fromkeys(parts))
    phrases = [
        relation_phrase(graph.relation_names[code])
        for code in _commonest(steps.relations[steps.forward])
    ]
    types = dict.fromkeys(phrase.head_type for phrase in phrases if phrase.head_type)
    nouns = dict.fromkeys(singular(phrase.noun) for phrase in phrases)
    return ", ".join(types) or "has " + ", ".join(nouns)


def roles_and_degree(graph: KnowledgeGraph, node: int) -> str:
    """Return the roles and the degree of a node: `director, writer · 21 edges`.

    >>> from core.graph.names.roles import roles_and_degree
    >>> roles_and_degree(toy, 1)
    'r0 · 2 edges'
    """
    edges = graph.degree(node)
    count = f"{edges:,} {'edge' if edges == 1 else 'edges'}"
    roles = node_roles(graph, node)
    return f"{roles} · {count}" if roles else count


def singular(noun: str) -> str:
    """Return the singular of an English noun, by the common rules.

    >>> from core.graph.names.roles import singular
    >>> singular("genres"), singular("countries"), singular("series")
    ('genre', 'country', 'series')
    """
    if noun.endswith(("ss", "us", "is", "series", "species")) or not noun.endswith("s"):
        return noun
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    return noun[:-2] if noun.endswith(("sses", "xes", "ches", "shes")) else noun[:-1]


def _commonest(relations: np.ndarray) -> list[int]:
    """Return the `MAX_ROLES` commonest relations, ordered by (-count, id)."""
    codes, counts = np.unique(relations, return_counts=True)
    return codes[np.lexsort((codes, -counts))][:MAX_ROLES].tolist()
