"""Match the names in a retriever's reply with nodes and paths of the graph."""

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
MAX_PARTIAL_PATHS = 16  # beginnings of a path that are followed if several nodes share a name
NodesByName = Mapping[str, tuple[int, ...]]  # several nodes can share a name
# relation names and edge ids by (head, tail)
EdgesByEnds = dict[tuple[int, int], list[tuple[str, int]]]


@dataclass
class MatchedReply:
    """The parts of a reply that are in the graph, as ids.

    Attributes
    ----------
    paths : the paths with their scores, best first; None without a score.
    nodes : the nodes of the hits, then those of the answers, each once.
    answers : the nodes of the answers; None if the retriever returned no answers.
    notes : sentences for the user on the parts that are not in the graph.
    """

    paths: dict[Path, float | None] = field(default_factory=dict)
    nodes: tuple[int, ...] = ()
    answers: tuple[int, ...] | None = None
    notes: list[str] = field(default_factory=list)


def match_reply(
    graph: Any, seeds: Sequence[int], reply: RetrieverReply, watch: Watch = NO_WATCH
) -> MatchedReply:
    """Return the parts of a reply that are in the graph.

    If the reply has no paths, its hits (else its answers) are joined to the question entities by
    shortest paths.

    Parameters
    ----------
    graph : the graph that was asked.
    seeds : the ids of the question entities.
    reply : the retriever's reply, checked for its form.
    watch : raises RunCancelled if the user stops the run.
    """
    matched_reply = MatchedReply(notes=list(reply.notes))
    nodes_by_name = _find_nodes(graph, reply, matched_reply.notes)
    hits: dict[int, float | None] = {}
    for name, score in reply.hits:
        for node in nodes_by_name[name]:
            hits.setdefault(node, score)
    answer_nodes = chain.from_iterable(nodes_by_name[name] for name in reply.answers)
    answers = tuple(dict.fromkeys(answer_nodes))
    matched_reply.nodes = tuple(dict.fromkeys((*hits, *answers)))
    matched_reply.answers = answers if reply.answers else None
    if reply.paths:
        matched_reply.paths = _match_paths(
            graph, reply.paths, nodes_by_name, notes=matched_reply.notes, watch=watch
        )
    elif matched_reply.nodes:
        target_nodes = [node for node in hits or answers if node not in seeds]
        matched_reply.paths = _join_to_seeds(
            graph, seeds, target_nodes, hits, matched_reply.notes, watch
        )
    return matched_reply


def _find_nodes(graph: Any, reply: RetrieverReply, notes: list[str]) -> dict[str, tuple[int, ...]]:
    """Return the nodes of every name in a reply.

    Names without a node are noted.
    """
    path_names = chain.from_iterable(path.nodes for path in reply.paths)
    names = (*path_names, *(name for name, _ in reply.hits), *reply.answers)
    graph_names = name_lookup(graph)
    nodes_by_name = {name: graph_names.find_exact(name) for name in dict.fromkeys(names)}
    absent = [name for name, nodes in nodes_by_name.items() if not nodes]
    if absent:
        notes.append(
            f"{len(absent):,} of {len(nodes_by_name):,} names are not in the graph: "
            f"{quote_examples(absent)}."
        )
    return nodes_by_name


def _match_paths(
    graph: Any,
    paths: Iterable[TextPath],
    nodes_by_name: NodesByName,
    notes: list[str],
    watch: Watch = NO_WATCH,
) -> dict[Path, float | None]:
    """Return the paths that match triples of the graph, with their scores.

    They keep their order, each once. Notes say why other paths were left out.
    """
    paths = list(paths)
    names = set(chain.from_iterable(path.nodes for path in paths))
    nodes = set(chain.from_iterable(nodes_by_name[name] for name in names))
    edges = _edges_between(graph, nodes)
    matches: dict[Path, float | None] = {}
    missing_triples: Counter[str] = Counter()
    n_with_unknown_names = 0
    for index, path in enumerate(paths):
        if index % 256 == 0:
            watch.check()
        if not all(nodes_by_name[name] for name in path.nodes):
            n_with_unknown_names += 1
            continue
        match, missing_triple = _match_path(path, nodes_by_name, edges)
        if match is None:
            missing_triples[missing_triple] += 1
        else:
            matches.setdefault(match, path.score)
    if n_with_unknown_names:
        notes.append(
            f"{_paths_phrase(n_with_unknown_names, len(paths))} left out for names that are not in "
            "the graph."
        )
    if missing_triples:
        notes.append(
            f"{_paths_phrase(missing_triples.total(), len(paths))} left out: the graph has no such "
            f"triple, as {quote_examples(missing_triples)}."
        )
    return matches


def _edges_between(graph: Any, nodes: set[int]) -> EdgesByEnds:
    """Return the edges among some nodes, with their relation names, by (head, tail)."""
    edges = induced_edges(graph, np.array(sorted(nodes), np.int64))
    triples: EdgesByEnds = {}
    parts = [ids.tolist() for ids in graph.triples(edges)]
    for edge, head, relation, tail in zip(edges.tolist(), *parts):
        triples.setdefault((head, tail), []).append((graph.relation_names[relation], edge))
    return triples


def _match_path(
    path: TextPath, nodes_by_name: NodesByName, edges: EdgesByEnds
) -> tuple[Path | None, str]:
    """Return the graph's first path that matches a path of names.

    The second result is then an empty text. Without such a path, the results are None and the text
    of the first step that is no triple.
    """
    partial_paths = [Path((node,)) for node in nodes_by_name[path.nodes[0]]]
    steps = zip(path.nodes, path.nodes[1:], path.relations, path.forward)
    for name, next_name, relation, forward in steps:
        extended_paths = []
        for partial_path, node in product(partial_paths, nodes_by_name[next_name]):
            step = _find_edge(edges, partial_path.end, node, relation, forward)
            if step is not None:
                extended_paths.append(partial_path.extended(node, *step))
        if not extended_paths:
            left = "<-" if forward is False else "-"
            right = "->" if forward else "-"
            return None, f"{name} {left}[{relation or 'any'}]{right} {next_name}"
        partial_paths = extended_paths[:MAX_PARTIAL_PATHS]
    return partial_paths[0], ""


def _find_edge(
    edges: EdgesByEnds, start: int, end: int, relation: str | None, forward: bool | None
) -> tuple[int, bool] | None:
    """Return the first matching edge between two nodes.

    The flag is True if the edge leads from `start` to `end`. The result is None if there is no such
    edge. A relation or direction of None matches any. Edges from `start` to `end` are tried before
    the others.
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
    """Return a shortest path from a seed to each target within `MAX_JOIN_HOPS` hops.

    A path has the score of its target in `scores`, or None.
    """
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


def _paths_phrase(count: int, total: int) -> str:
    paths = "path" if total == 1 else "paths"
    return f"{count:,} of {total:,} {paths} {'was' if count == 1 else 'were'}"
