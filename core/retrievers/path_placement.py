"""Names in a retriever's reply, found in the graph.

Paths become walks along triples. Hits and answers become nodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
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
    ids = _ids(graph, reply, placed_reply.notes)
    hits: dict[int, float | None] = {}
    for name, score in reply.hits:
        for node in ids[name]:
            hits.setdefault(node, score)
    answers = tuple(dict.fromkeys(node for name in reply.answers for node in ids[name]))
    placed_reply.nodes, placed_reply.answers = (
        tuple(dict.fromkeys((*hits, *answers))),
        answers if reply.answers else None,
    )
    if reply.paths:
        placed_reply.paths = _walks(graph, reply.paths, ids, placed_reply.notes, watch)
    elif placed_reply.nodes:
        target_nodes = [node for node in hits or answers if node not in seeds]
        placed_reply.paths = _join_to_seeds(
            graph, seeds, target_nodes, hits, placed_reply.notes, watch
        )
    return placed_reply


def _ids(graph: Any, reply: RetrieverReply, notes: list[str]) -> dict[str, tuple[int, ...]]:
    """Return the nodes of every name in a reply; a note lists the names that have none."""
    reply_names = (
        [name for path in reply.paths for name in path.nodes]
        + [name for name, _ in reply.hits]
        + list(reply.answers)
    )
    graph_names = name_lookup(graph)
    ids = {name: graph_names.exact(name) for name in dict.fromkeys(reply_names)}
    if absent := [name for name, nodes in ids.items() if not nodes]:
        notes.append(
            f"{len(absent):,} of {len(ids):,} names are not in the graph: {quote_examples(absent)}."
        )
    return ids


def _walks(
    graph: Any, paths: Iterable[TextPath], ids: dict, notes: list[str], watch: Watch = NO_WATCH
) -> dict[Path, float | None]:
    """Return the paths whose every step is a triple of the graph, with their scores.

    Their order is kept, without repeats. A note says why other paths were left out.
    """
    paths = list(paths)
    edges = _triples(graph, {node for path in paths for name in path.nodes for node in ids[name]})
    walks: dict[Path, float | None] = {}
    missing: Counter[str] = Counter()
    unknown_paths = 0
    for index, path in enumerate(paths):
        if index % 256 == 0:
            watch.check()
        if not all(ids[name] for name in path.nodes):
            unknown_paths += 1
            continue
        walk = _walk(path, ids, edges)
        if isinstance(walk, str):
            missing[walk] += 1
        else:
            walks.setdefault(walk, path.score)
    if unknown_paths:
        notes.append(
            f"{_paths(unknown_paths, len(paths))} left out: a name of theirs is not in the graph."
        )
    if missing:
        notes.append(
            f"{_paths(missing.total(), len(paths))} left out: the graph has no such triple, as "
            f"{quote_examples(missing)}."
        )
    return walks


def _triples(graph: Any, nodes: set[int]) -> dict[tuple[int, int], list[tuple[str, int]]]:
    """Return the triples among some nodes: (head, tail) to relation and edge, by ascending edge."""
    edges = induced_edges(graph, np.array(sorted(nodes), np.int64))
    triples: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for edge, head, relation, tail in zip(
        edges.tolist(), *(ids.tolist() for ids in graph.triples(edges))
    ):
        triples.setdefault((head, tail), []).append((graph.relation_names[relation], edge))
    return triples


def _walk(path: TextPath, ids: dict, edges: dict) -> Path | str:
    """Return the first walk along triples that matches a path of names.

    If there is none, the result is the first step that is no triple, in words.
    """
    partial_paths = [Path((node,)) for node in ids[path.nodes[0]]]
    for before, name, relation, forward in zip(
        path.nodes, path.nodes[1:], path.relations, path.forward
    ):
        extended_paths = [
            walk.extended(node, *step)
            for walk in partial_paths
            for node in ids[name]
            if (step := _step(edges, walk.end, node, relation, forward)) is not None
        ]
        if not extended_paths:
            return (
                f"{before} {'<-' if forward is False else '-'}[{relation or 'any'}]"
                f"{'->' if forward else '-'} {name}"
            )
        partial_paths = extended_paths[:MAX_PARTIAL_PATHS]
    return partial_paths[0]


def _step(
    edges: dict, start: int, end: int, relation: str | None, forward: bool | None
) -> tuple[int, bool] | None:
    """Return the first triple between two nodes, with its direction; None if there is none.

    A relation or a direction that is given must match. Forward edges are tried before backward
    ones.
    """
    for is_forward in (True, False):
        if forward is None or forward is is_forward:
            for name, edge in edges.get((start, end) if is_forward else (end, start), ()):
                if relation is None or name == relation:
                    return edge, is_forward
    return None


def _join_to_seeds(
    graph: Any, seeds, targets, scores, notes: list[str], watch: Watch = NO_WATCH
) -> dict[Path, float | None]:
    """Return a shortest path from a seed to each wanted node, in either edge direction."""
    routes = connecting_paths(graph, list(seeds), targets, MAX_JOIN_HOPS, "both", watch)
    edges = _triples(graph, {node for route in routes.values() for node in route})
    paths: dict[Path, float | None] = {}
    for end, route in routes.items():
        path = Path((route[0],))
        for node in route[1:]:
            step = _step(edges, path.end, node, None, None)
            assert step is not None  # the shortest path runs along triples
            path = path.extended(node, *step)
        paths[path] = scores.get(end)
    notes.append(
        f"The reply has no paths: {len(paths):,} of {len(targets):,} nodes were joined to the "
        "question's entities by shortest paths "
        f"of at most {MAX_JOIN_HOPS} steps."
    )
    return paths


def _paths(count: int, total: int) -> str:
    return f"{count:,} of {total:,} path{'s' * (total != 1)} {'was' if count == 1 else 'were'}"
