"""Domains that question sets ask about (Figure 1 of LEGO-GraphRAG's report).

A domain is the first part of a relation's name in Freebase. The measurement takes question sets by
the paper's name and no rows. It raises BadInput and StoreError.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from core.evaluation.papers.paper_comparison import TextTable
from core.evaluation.runs.plan import make_plan
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.algorithms.paths import shortest_paths
from core.graph.protocol import KnowledgeGraph
from core.methods.catalogue import published_methods
from core.types import Path, Question, Subgraph
from core.watch import NO_WATCH, Watch

# maximum length of a path, and paths per entity of a question
MAX_PATH_HOPS = 4
MAX_ENTITY_PATHS = 1000
# Domains that say nothing about the question if another one is on the path.
GENERAL_DOMAINS = ("common", "type", "freebase", "kg", "base", "user")
NO_DOMAIN, NO_PATH_FOUND = "no domain", "no path found"


def domain_tables(
    engine,
    sets: Mapping[str, str],
    rows: Mapping[str, str],
    size: int | None,
    graph: Callable[[str], str],
    watch: Watch = NO_WATCH,
) -> list[TextTable]:
    """Return the shares of questions by domain as one table of all sets.

    Parameters
    ----------
    engine : opens the graphs.
    sets : what is asked, by the paper's name of each question set.
    rows : not used; all measurements have it.
    size : number of questions of each set; None for all.
    graph : returns the graph that is asked instead of a set's own; empty for its own.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    A list of this one table.
    """
    shares: dict[str, Counter[str]] = {}
    counts = []
    for name, set_id in sets.items():
        plan = make_plan(
            [published_methods()["lego-1"]],
            set_id,
            size,
            lambda one: engine.graph(one, watch=watch),
            graph=graph(name),
        )
        locals_: dict[str, LocalAdjacency] = {}
        total: Counter[str] = Counter()
        for index, drawn in enumerate(plan.drawn):
            watch.report(
                f"Looking at {name}: {index:,} of {len(plan.drawn):,} questions",
                index / len(plan.drawn),
            )
            open_graph = drawn.open(engine).graph
            key = drawn.address.name
            local = locals_.get(key) or LocalAdjacency(
                open_graph,
                Subgraph(np.arange(open_graph.n_nodes), np.arange(open_graph.n_edges)),
                "both",
            )
            if drawn.source.name:
                locals_[key] = local
            total.update(domain_shares(local, drawn.question))
        shares[name] = total
        counts.append(f"{name}: {len(plan.drawn):,} of the {plan.of:,} questions of {plan.set}.")
    return [
        TextTable("domains of questions", ("domain", *shares), tuple(_rows(shares)), tuple(counts))
    ]


def domain_shares(local: LocalAdjacency, question: Question) -> dict[str, float]:
    """Return the share of each domain among a question's relations; the shares add up to 1.

    The relations are those on the shortest paths, in either direction, from the question's entities
    to its answers. Each relation of each path has the same weight.

    Parameters
    ----------
    local : adjacency of the whole graph in both directions.
    question : a question with its entities and answers.

    Returns
    -------
    Shares by domain; empty if no path leads to an answer.

    Examples
    --------
    >>> from core.evaluation.papers.domains import domain_shares
    >>> from core.graph.algorithms.local_adjacency import LocalAdjacency
    >>> from core.types import Question, Subgraph
    >>> domain_shares(
    ...     LocalAdjacency(toy, Subgraph(np.arange(5), np.arange(7)), "both"),
    ...     Question("Where is D?", "q", ("A",), ("D",)),
    ... )
    {'no domain': 1.0}
    """
    graph = local.graph
    end_nodes = {node for name in question.answers for node in local.graph.nodes_named(name)}
    answer_paths = [
        path
        for name in question.entities
        for seed in graph.nodes_named(name)
        for path in shortest_paths(local, seed, MAX_PATH_HOPS, every=True, cap=MAX_ENTITY_PATHS)[0]
        if path.end in end_nodes
    ]
    counts = Counter(
        _relation_domains(
            graph, [path for path in answer_paths if len(path) == min(map(len, answer_paths))]
        )
    )
    domain_counts = {
        domain: count for domain, count in counts.items() if domain not in GENERAL_DOMAINS
    } or dict(counts)
    return {
        domain: count / sum(domain_counts.values()) for domain, count in domain_counts.items()
    } or {NO_PATH_FOUND: 1.0}


def _relation_domains(graph: KnowledgeGraph, paths: Iterable[Path]) -> Iterable[str]:
    edges = [edge for path in paths for edge in path.edges]
    for relation in graph.triples(np.asarray(edges, np.int64))[1]:
        domain, dot, _ = graph.relation_names[int(relation)].partition(".")
        yield domain if dot else NO_DOMAIN


def _rows(shares: Mapping[str, Counter[str]]) -> Iterable[tuple[str, ...]]:
    """Yield a row per domain, most frequent first; questions without a domain come last."""
    questions = {name: max(1.0, sum(one.values())) for name, one in shares.items()}
    mean = {
        domain: sum(one[domain] / questions[name] for name, one in shares.items())
        for one in shares.values()
        for domain in one
    }
    for domain in sorted(
        mean,
        key=lambda domain: (domain in (NO_DOMAIN, NO_PATH_FOUND), -round(mean[domain], 9), domain),
    ):
        yield (
            domain,
            *(f"{100 * one[domain] / questions[name]:.1f} %" for name, one in shares.items()),
        )
