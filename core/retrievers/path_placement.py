"""Search for the names of a retriever's reply in the graph.

Paths of names become paths of triples. Hits and answers become nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from typing import Any

import numpy as np

from core.graph.algorithms.expansion import connecting_paths
from core.graph.algorithms.neighbourhood import induced_edges
from core.graph.names.lookup import name_lookup
from core.retrievers.reply import RetrieverReply, TextPath, quote_examples
from core.types import Path
from core.watch import NO_WATCH, Watch

MAX_JOIN_HOPS = 4  # hops within which a hit is joined to a question entity
MAX_PARTIAL_PATHS = 16  # partial paths that are followed if several nodes share a name


@dataclass
class PlacedReply:
    """Paths with their scores, and named nodes, as ids of the graph.

    `answers` is None if the retriever gave none.
    """

    paths: dict[Path, float | None] = field(default_factory=dict)
    nodes: tuple[int, ...] = ()
    answers: tuple[int, ...] | None = None
    notes: list[str] = field(default_factory=list)


def place_reply(
    graph: Any, seeds: Sequence[int], reply: RetrieverReply, watch: Watch = NO_WATCH
) -> PlacedReply:
    """Return the parts of a reply that are in the graph.

    If the reply has no paths, its hits (else its answers) are joined to the question entities by
    shortest paths.

    Parameters
    ----------
    graph : the graph that was asked.
    seeds : the ids of the question entities.
    reply : the retriever's reply, checked for its form.
    watch : can cancel the work.
    """
    placed_reply = PlacedReply(notes=list(reply.notes))
    ids = _find_nodes(graph, reply, placed_reply.notes)
    hits: dict[int, float | None] = {}
    for name, score in reply.hits:
        for node in ids[name]:
            hits.setdefault(node, score)
    answers = tuple(dict.fromkeys(chain.from_iterable(ids[name] for name in reply.answers)))
    placed_reply.nodes = tuple(dict.fromkeys((*hits, *answers)))
    placed_reply.answers = answers if reply.answers else None
    if reply.paths:
        placed_reply.paths = _match_paths(graph, reply.paths, ids, placed_reply.notes, watch)
    elif placed_reply.nodes:
        target_nodes = [node for node in hits or answers if node not in seeds]
        placed_reply.paths = _join_to_seeds(
            graph, seeds, target_nodes, hits, placed_reply.notes, watch
        )
    return placed_reply


def _find_nodes(graph: Any, reply: RetrieverReply, notes: list[str]) -> dict[str, tuple[int, ...]]:
    """Return the nodes of every name in a reply, and note missing names."""
    path_names = chain.from_iterable(path.nodes for path in reply.paths)
    names = (*path_names, *(name for name, _ in reply.hits), *reply.answers)
    graph_names = name_lookup(graph)
    ids = {name: graph_names.find_exact(name) for name in dict.fromkeys(names)}
    absent = [name for name, nodes in ids.items() if not nodes]
    if absent:
        notes.append(
            f"{len(absent):,} of {len(ids):,} names are not in the graph: {quote_examples(absent)}."
        )
    return ids


def _match_paths(
    graph: Any, paths: Iterable[TextPath], ids: dict, notes: list[str], watch: Watch = NO_WATCH
) -> dict[Path, float | None]:
    """Return the paths that match triples of the graph, with their scores.

    Their order is kept, without repeats. A note says why other paths were left out.
    """
    paths = list(paths)
    names = set(chain.from_iterable(path.nodes for path in paths))
    edges = _edges_between(graph, set(chain.from_iterable(ids[name] for name in names)))
    matches: dict[Path, float | None] = {}
    missing_triples: Counter[str] = Counter()
    n_unknown = 0  # paths with a name that is not in the graph
    for index, path in enumerate(paths):
        if index % 256 == 0:
            watch.check()
        if not all(ids[name] for name in path.nodes):
            n_unknown += 1
            continue
        match = _match_path(path, ids, edges)
        if isinstance(match, str):
            missing_triples[match] += 1
        else:
            matches.setdefault(match, path.score)
    if n_unknown:
        notes.append(
            f"{_paths_were(n_unknown, len(paths))} left out: a name of theirs is not in the graph."
        )
    if missing_triples:
        notes.append(
            f"{_paths_were(missing_triples.total(), len(paths))} left out: the graph has no such "
            f"triple, as {quote_examples(missing_triples)}."
        )
    return matches


def _edges_between(graph: Any, nodes: set[int]) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """Return relation and edge of triples among nodes, by (head, tail)."""
    edges = induced_edges(graph, np.array(sorted(nodes), np.int64))
    triples: dict[tuple[int, int], list[tuple[str, int]]] = {}
    parts = [ids.tolist() for ids in graph.triples(edges)]
    for edge, head, relation, tail in zip(edges.tolist(), *parts):
        triples.setdefault((head, tail), []).append((graph.relation_names[relation], edge))
    return triples


def _match_path(path: TextPath, ids: dict, edges: dict) -> Path | str:
    """Return the first path of triples that matches a path of names.

    If there is none, the result is the first step that is no triple, in words.
    """
    partial_paths = [Path((node,)) for node in ids[path.nodes[0]]]
    steps = zip(path.nodes, path.nodes[1:], path.relations, path.forward)
    for name, next_name, relation, forward in steps:
        extended_paths = []
        for partial_path, node in product(partial_paths, ids[next_name]):
            step = _find_edge(edges, partial_path.end, node, relation, forward)
            if step is not None:
                extended_paths.append(partial_path.extended(node, *step))
        if not extended_paths:
            return (
                f"{name} {'<-' if forward is False else '-'}[{relation or 'any'}]"
                f"{'->' if forward else '-'} {next_name}"
            )
        partial_paths = extended_paths[:MAX_PARTIAL_PATHS]
    return partial_paths[0]


def _find_edge(
    edges: dict, start: int, end: int, relation: str | None, forward: bool | None
) -> tuple[int, bool] | None:
    """Return the first triple between two nodes, with its direction; None if there is none.

    The relation and the direction must match unless they are None. Forward edges are tried before
    backward ones.
    """
    for is_forward in (True, False):
        if forward is None or forward is is_forward:
            for name, edge in edges.get((start, end) if is_forward else (end, start), ()):
                if relation is None or name == relation:
                    return edge, is_forward
    return None


def _join_to_seeds(
    graph: Any,
    seeds: Sequence[int],
    targets: Sequence[int],
    scores: Mapping[int, float | None],
    notes: list[str],
    watch: Watch = NO_WATCH,
) -> dict[Path, float | None]:
    """Return a shortest path from a seed to each target node."""
    node_paths = connecting_paths(graph, list(seeds), targets, MAX_JOIN_HOPS, "both", watch)
    edges = _edges_between(graph, set(chain.from_iterable(node_paths.values())))
    paths: dict[Path, float | None] = {}
    for end, nodes in node_paths.items():
        path = Path((nodes[0],))
        for node in nodes[1:]:
            step = _find_edge(edges, path.end, node, None, None)
            assert step is not None  # the shortest path runs along triples
            path = path.extended(node, *step)
        paths[path] = scores.get(end)
    notes.append(
        f"The reply has no paths: {len(paths):,} of {len(targets):,} nodes were joined to the "
        f"question's entities by shortest paths of at most {MAX_JOIN_HOPS} steps."
    )
    return paths


def _paths_were(count: int, total: int) -> str:
    paths = "path" if total == 1 else "paths"
    return f"{count:,} of {total:,} {paths} {'was' if count == 1 else 'were'}"
