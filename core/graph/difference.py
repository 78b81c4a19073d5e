"""Comparison of two graphs extracted from the same texts.

The graphs are compared by the names of their nodes. The module finds the entities and links that
only one graph has, and pairs of similar names. The pages use it to compare two builds of one
corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.languages.spelling import strip_accents

# Largest number of names per graph that are compared for similarity. Only names that the other
# graph lacks are compared, those of the highest degrees first.
MAX_MATCHED_NAMES = 2000
# Smallest similarity, out of 100, of two names that may mean the same entity.
MIN_NAME_SIMILARITY = 88.0


@dataclass(frozen=True, eq=False)
class MissingParts:
    """Nodes and links that one graph has and the other lacks.

    `nodes` are int64 ids, ordered by (-degree, id). `n_links` is the number of pairs of names that
    are connected in this graph alone. `n_links_between_common` is the number of those pairs whose
    names are both in the other graph.
    """

    nodes: np.ndarray
    n_links: int
    n_links_between_common: int


@dataclass(frozen=True, eq=False)
class GraphDifference:
    """Common and different parts of two graphs.

    Two names are equal if their `comparison_key` is equal. `n_common_nodes` and `n_common_links`
    are the numbers of names, and of connected pairs of names, that both graphs have. `first` are
    the parts that only the first graph has, `second` those of the second graph. `similar_pairs`
    holds (node of the first graph, node of the second graph, similarity out of 100). Neither node
    is in the other graph.
    """

    n_common_nodes: int
    n_common_links: int
    first: MissingParts
    second: MissingParts
    similar_pairs: tuple[tuple[int, int, float], ...]


def compare_graphs(first: KnowledgeGraph, second: KnowledgeGraph) -> GraphDifference:
    """Compare two graphs by the names of their nodes.

    Of the names that only one graph has, the `MAX_MATCHED_NAMES` with the highest degrees are
    considered for `similar_pairs`.

    >>> from core.graph.difference import compare_graphs
    >>> found = compare_graphs(toy, toy)
    >>> found.n_common_nodes, found.n_common_links, found.first.nodes.tolist(), found.similar_pairs
    (5, 5, [], ())
    """
    names = [
        [comparison_key(name) for name in graph.names(np.arange(graph.n_nodes))]
        for graph in (first, second)
    ]
    sets = [set(graph_names) for graph_names in names]
    links = [_link_names(graph, keys) for graph, keys in zip((first, second), names)]
    missing = []
    for i, graph in enumerate((first, second)):
        other_names, extra_links = sets[1 - i], links[i] - links[1 - i]
        nodes = np.array(
            [node for node, key in enumerate(names[i]) if key not in other_names], np.int64
        )
        if len(nodes):
            nodes = nodes[np.lexsort((nodes, -graph.degrees(nodes)))]
        n_between = sum(other_names.issuperset(pair) for pair in extra_links)
        missing.append(MissingParts(nodes, len(extra_links), n_between))
    return GraphDifference(
        n_common_nodes=len(sets[0] & sets[1]),
        n_common_links=len(links[0] & links[1]),
        first=missing[0],
        second=missing[1],
        similar_pairs=_pair_similar_names(first, second, *missing),
    )


@dataclass(frozen=True, eq=False)
class GraphUnion:
    """Union of the nodes of two graphs.

    Nodes with the same name are one node. `names` holds, for each graph, its name of each node of
    the union, empty if it lacks the node. `pairs` holds, for each graph, the pairs of nodes that it
    connects. A pair is two positions in `names`, the smaller one first.
    """

    names: tuple[list[str], list[str]]
    pairs: tuple[set[tuple[int, int]], set[tuple[int, int]]]


def unite_graphs(first: KnowledgeGraph, second: KnowledgeGraph, limit: int) -> GraphUnion:
    """Return the `limit` most connected nodes of two graphs together.

    Nodes are ordered by the sum of their shares in both graphs. The share of a node is its degree
    divided by the sum of all degrees of its graph.

    >>> from core.graph.difference import unite_graphs
    >>> both = unite_graphs(toy, toy, 3)
    >>> both.names[0] == both.names[1], len(both.names[0]), both.pairs[0] == both.pairs[1]
    (True, 3, True)
    """
    graphs = (first, second)
    keys = [
        [comparison_key(name) for name in graph.names(np.arange(graph.n_nodes))] for graph in graphs
    ]
    shares: dict[str, float] = {}
    for graph, graph_keys in zip(graphs, keys):
        degrees = graph.degrees(np.arange(graph.n_nodes))
        for key, degree in zip(graph_keys, degrees.tolist()):
            shares[key] = shares.get(key, 0.0) + degree / max(1, int(degrees.sum()))
    union_keys = sorted(shares, key=lambda key: (-shares[key], key))[:limit]
    rank = {key: row for row, key in enumerate(union_keys)}
    names = ([""] * len(union_keys), [""] * len(union_keys))
    pairs = (set[tuple[int, int]](), set[tuple[int, int]]())
    for graph, graph_keys, graph_names, rank_pairs in zip(graphs, keys, names, pairs):
        for node, key in enumerate(graph_keys):
            if key in rank and not graph_names[rank[key]]:
                graph_names[rank[key]] = graph.node_name(node)
        end_ranks = ((rank.get(a, -1), rank.get(b, -1)) for a, b in _link_names(graph, graph_keys))
        rank_pairs |= {(min(pair), max(pair)) for pair in end_ranks if min(pair) >= 0}
    return GraphUnion(names, pairs)


def comparison_key(name: str) -> str:
    """Return the normalised form of a name.

    Names of two graphs are compared in this form. Differences of case, typography, accents and
    punctuation around words are removed. A name of punctuation alone stays.

    >>> from core.graph.difference import comparison_key
    >>> comparison_key("  Émile  ZOLA. "), comparison_key("O’Brien") == comparison_key("o'brien"), comparison_key("北京")
    ('emile zola', True, '北京')
    """
    words = (word.strip('.,;:!?"()[]') for word in strip_accents(name).split())
    return " ".join(words).strip() or " ".join(name.split())


def _link_names(graph: KnowledgeGraph, keys: list[str]) -> set[tuple[str, str]]:
    """Return the pairs of different names that an edge connects, each in ascending order."""
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    pairs = ((keys[head], keys[tail]) for head, tail in zip(heads.tolist(), tails.tolist()))
    return {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}


def _pair_similar_names(
    first: KnowledgeGraph, second: KnowledgeGraph, a: MissingParts, b: MissingParts
) -> tuple[tuple[int, int, float], ...]:
    """Pair similar names that only one graph has, the most similar pairs first.

    `a` and `b` are the missing parts of the two graphs. Each node is in at most one pair.
    """
    from rapidfuzz import fuzz, process

    left, right = a.nodes[:MAX_MATCHED_NAMES], b.nodes[:MAX_MATCHED_NAMES]
    if not len(left) or not len(right):
        return ()
    names = [
        [comparison_key(name) for name in graph.names(nodes)]
        for graph, nodes in ((first, left), (second, right))
    ]
    scores = process.cdist(
        *names, scorer=fuzz.token_sort_ratio, score_cutoff=MIN_NAME_SIMILARITY, dtype=np.float32
    )
    rows, columns = np.nonzero(scores)
    order = np.lexsort((columns, rows, -scores[rows, columns]))
    pairs, used = list[tuple[int, int, float]](), (set[int](), set[int]())
    for i, j in zip(rows[order].tolist(), columns[order].tolist()):
        if i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            pairs.append((int(left[i]), int(right[j]), round(float(scores[i, j]), 1)))
    return tuple(pairs)
