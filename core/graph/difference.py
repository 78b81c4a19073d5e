"""What sets two graphs of the same texts apart: entities and links that only one of them has, and names that may mean the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.graph.protocol import KnowledgeGraph
from core.languages.spelling import unaccented

COMPARED = 2000  # names of each graph alone, those with the most relations, that are held against each other
ALIKE = 88.0  # of 100, from which on two names may mean the same


@dataclass(frozen=True, eq=False)
class Missing:
    """What one graph has and the other lacks: `nodes` (int64 ids, those with the most relations first), and how many `links`, pairs of
    entities that a relation joins, of which both ends are in the other graph (`between`) or not."""

    nodes: np.ndarray
    links: int
    between: int


@dataclass(frozen=True, eq=False)
class GraphDifference:
    """Two graphs held against each other by the names of their nodes, in which case, accents and blanks do not count.

    `nodes` and `links` are how many both have. `alike` are pairs of nodes, one that only the first graph has and one that only the second
    has, whose names nearly agree, with how much of 100.
    """

    nodes: int
    links: int
    first: Missing
    second: Missing
    alike: tuple[tuple[int, int, float], ...]


def graph_difference(first: KnowledgeGraph, second: KnowledgeGraph) -> GraphDifference:
    """How two graphs differ. Of names that only one has, the 2,000 with the most relations are looked at for `alike`.

    >>> from core.graph.difference import graph_difference
    >>> found = graph_difference(toy, toy)
    >>> found.nodes, found.links, found.first.nodes.tolist(), found.alike
    (5, 5, [], ())
    """
    names = [
        [name_key(name) for name in graph.names(np.arange(graph.n_nodes))]
        for graph in (first, second)
    ]
    sets = [set(one) for one in names]
    links = [_links(graph, keys) for graph, keys in zip((first, second), names)]
    missing = []
    for at, graph in enumerate((first, second)):
        alone = np.array(
            [node for node, key in enumerate(names[at]) if key not in sets[1 - at]], np.int64
        )
        own = links[at] - links[1 - at]
        ordered = alone[np.lexsort((alone, -graph.degrees(alone)))] if len(alone) else alone
        missing.append(
            Missing(ordered, len(own), sum(sets[1 - at].issuperset(pair) for pair in own))
        )
    a, b = missing
    return GraphDifference(
        len(sets[0] & sets[1]), len(links[0] & links[1]), a, b, _alike(first, second, a, b)
    )


@dataclass(frozen=True, eq=False)
class Union:
    """Some nodes of two graphs, those of one name once: for each graph the name of each, empty where it lacks it, and the pairs of them
    (by place, the lesser first) that it joins."""

    names: tuple[list[str], list[str]]
    pairs: tuple[set[tuple[int, int]], set[tuple[int, int]]]


def union(first: KnowledgeGraph, second: KnowledgeGraph, most: int) -> Union:
    """The `most` nodes of two graphs with the largest shares of their graphs' relations, those of one name counted together.

    >>> from core.graph.difference import union
    >>> both = union(toy, toy, 3)
    >>> both.names[0] == both.names[1], len(both.names[0]), both.pairs[0] == both.pairs[1]
    (True, 3, True)
    """
    graphs = (first, second)
    keys = [[name_key(name) for name in graph.names(np.arange(graph.n_nodes))] for graph in graphs]
    shares: dict[str, float] = {}
    for graph, known in zip(graphs, keys):
        degrees = graph.degrees(np.arange(graph.n_nodes))
        for key, degree in zip(known, degrees.tolist()):
            shares[key] = shares.get(key, 0.0) + degree / max(1, int(degrees.sum()))
    chosen = sorted(shares, key=lambda key: (-shares[key], key))[:most]
    place = {key: at for at, key in enumerate(chosen)}
    names, pairs = (
        ([""] * len(chosen), [""] * len(chosen)),
        (set[tuple[int, int]](), set[tuple[int, int]]()),
    )
    for graph, known, shown, joined in zip(graphs, keys, names, pairs):
        for node, key in enumerate(known):
            if key in place and not shown[place[key]]:
                shown[place[key]] = graph.node_name(node)
        ends = ((place.get(a, -1), place.get(b, -1)) for a, b in _links(graph, known))
        joined |= {(min(pair), max(pair)) for pair in ends if min(pair) >= 0}
    return Union(names, pairs)


def name_key(name: str) -> str:
    """Return a name as two graphs are compared by: without case, typography, accents and marks around its words.

    >>> from core.graph.difference import name_key
    >>> name_key("  Émile  ZOLA. "), name_key("O’Brien") == name_key("o'brien"), name_key("北京")
    ('emile zola', True, '北京')
    """
    words = (word.strip('.,;:!?"()[]') for word in unaccented(name).split())
    return " ".join(words).strip() or " ".join(name.split())


def _links(graph: KnowledgeGraph, keys: list[str]) -> set[tuple[str, str]]:
    """The pairs of names that an edge joins, whichever way, without loops."""
    heads, _, tails = graph.triples(np.arange(graph.n_edges))
    pairs = ((keys[head], keys[tail]) for head, tail in zip(heads.tolist(), tails.tolist()))
    return {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}


def _alike(
    first: KnowledgeGraph, second: KnowledgeGraph, a: Missing, b: Missing
) -> tuple[tuple[int, int, float], ...]:
    """For nodes that only one graph has the most alike one that only the other has, the most alike pairs first; each node once."""
    from rapidfuzz import fuzz, process

    left, right = a.nodes[:COMPARED], b.nodes[:COMPARED]
    if not len(left) or not len(right):
        return ()
    names = [
        [name_key(name) for name in graph.names(nodes)]
        for graph, nodes in ((first, left), (second, right))
    ]
    scores = process.cdist(
        *names, scorer=fuzz.token_sort_ratio, score_cutoff=ALIKE, dtype=np.float32
    )
    rows, columns = np.nonzero(scores)
    order = np.lexsort((columns, rows, -scores[rows, columns]))
    found, used = list[tuple[int, int, float]](), (set[int](), set[int]())
    for i, j in zip(rows[order].tolist(), columns[order].tolist()):
        if i not in used[0] and j not in used[1]:
            used[0].add(i)
            used[1].add(j)
            found.append((int(left[i]), int(right[j]), round(float(scores[i, j]), 1)))
    return tuple(found)
