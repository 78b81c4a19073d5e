"""Domains that question sets ask about (Figure 1 of LEGO-GraphRAG's report).

A domain is the first part of a relation's name in Freebase: “film” for the relation
“film.film.directed_by”. The command `reproduce` measures this figure through
`core.evaluation.papers.measures`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from operator import truediv

import numpy as np

from core.evaluation.papers.paper_comparison import TextTable
from core.evaluation.runs.plan import make_plan
from core.graph.algorithms.local_adjacency import LocalAdjacency
from core.graph.algorithms.paths import shortest_paths
from core.graph.protocol import KnowledgeGraph
from core.methods.catalogue import published_methods
from core.types import Path, Question, Subgraph
from core.watch import NO_WATCH, Watch

MAX_PATH_HOPS = 4
MAX_ENTITY_PATHS = 1000  # number of paths from an entity of a question to its answers
# Domains that say nothing about the question if another one is on the path.
GENERAL_DOMAINS = ("common", "type", "freebase", "kg", "base", "user")
NO_DOMAIN = "no domain"
NO_PATH_FOUND = "no path found"


def domain_tables(
    engine,
    sets: Mapping[str, str],
    rows: Mapping[str, str],
    size: int | None,
    graph_of_set: Callable[[str], str],
    watch: Watch = NO_WATCH,
) -> list[TextTable]:
    """Return the share of each domain in each question set, as one table.

    Parameters
    ----------
    engine : opens the graphs.
    sets : names of question sets, by the paper's name of each.
    rows : not used; part of the common signature of measurements (`Measure`).
    size : number of questions of each set; None for all.
    graph_of_set : returns, for the paper's name of a set, the name of the graph to ask; an empty
        name stands for the set's own graph.
    watch : receives the progress and may raise RunCancelled.

    Returns
    -------
    A list of this one table.

    Raises
    ------
    BadInput, StoreError : a set or graph is missing or damaged.
    """
    share_sums: dict[str, Counter[str]] = {}  # of the questions, by set
    counts = []
    for name, set_id in sets.items():
        plan = make_plan(
            [published_methods()["lego-1"]],  # a plan needs a method, which is not run
            set_id,
            size,
            lambda graph_name: engine.graph(graph_name, watch=watch),
            graph=graph_of_set(name),
        )
        adjacencies: dict[str, LocalAdjacency] = {}
        set_sums: Counter[str] = Counter()
        for index, drawn in enumerate(plan.drawn):
            watch.report(
                f"Looking at {name}: {index:,} of {len(plan.drawn):,} questions",
                index / len(plan.drawn),
            )
            open_graph = drawn.open(engine).graph
            key = drawn.address.name
            adjacency = adjacencies.get(key)
            if adjacency is None:
                everything = Subgraph(np.arange(open_graph.n_nodes), np.arange(open_graph.n_edges))
                adjacency = LocalAdjacency(open_graph, everything, "both")
            # All questions share a graph with a name; without one, the question has its own graph.
            if drawn.source.name:
                adjacencies[key] = adjacency
            set_sums.update(domain_shares(adjacency, drawn.question))
        share_sums[name] = set_sums
        counts.append(f"{name}: {len(plan.drawn):,} of the {plan.of:,} questions of {plan.set}.")
    headings = ("domain", *share_sums)
    domain_rows = tuple(_domain_rows(share_sums))
    return [TextTable("domains of questions", headings, domain_rows, tuple(counts))]


def domain_shares(local: LocalAdjacency, question: Question) -> dict[str, float]:
    """Return the share of each domain among a question's relations.

    The shares add up to 1. The relations are those on the shortest paths, in either direction, from
    the question's entities to its answers. Only the paths of the smallest length over all entities
    and answers count. Each relation of each path has the same weight.

    Parameters
    ----------
    local : adjacency of the whole graph in both directions.
    question : a question with its entities and answers.

    Returns
    -------
    Shares by domain. General domains such as `common` are left out if there are others. If no path
        leads to an answer, the only key is `NO_PATH_FOUND`.

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
    answer_nodes = list(chain.from_iterable(map(graph.nodes_named, question.answers)))
    answer_paths: list[Path] = []
    for seed in chain.from_iterable(map(graph.nodes_named, question.entities)):
        answer_paths += shortest_paths(
            local, seed, MAX_PATH_HOPS, every=True, cap=MAX_ENTITY_PATHS, ends=answer_nodes
        )[0]
    min_length = min(map(len, answer_paths), default=0)
    shortest = [path for path in answer_paths if len(path) == min_length]
    counts = Counter(_relation_domains(graph, shortest))
    specific_counts = {
        domain: count for domain, count in counts.items() if domain not in GENERAL_DOMAINS
    }
    domain_counts = specific_counts or counts
    total = sum(domain_counts.values())
    if not total:
        return {NO_PATH_FOUND: 1.0}
    return {domain: count / total for domain, count in domain_counts.items()}


def _relation_domains(graph: KnowledgeGraph, paths: Iterable[Path]) -> Iterable[str]:
    """Yield the domain of every relation on some paths.

    A domain is repeated as often as it occurs.
    """
    edges = list(chain.from_iterable(path.edges for path in paths))
    for relation in graph.triples(np.asarray(edges, np.int64))[1]:
        domain, dot, _ = graph.relation_names[int(relation)].partition(".")
        yield domain if dot else NO_DOMAIN


def _domain_rows(share_sums: Mapping[str, Counter[str]]) -> Iterable[tuple[str, ...]]:
    """Yield a row per domain, most frequent first; questions without a domain come last.

    The cells are the domain and, for each set, the share of its questions in per cent.
    """
    # The shares of one question add up to 1, so the sum over a set is its number of questions.
    question_counts = [max(1.0, sum(sums.values())) for sums in share_sums.values()]
    sums_by_domain = {
        domain: [sums[domain] for sums in share_sums.values()]
        for domain in dict.fromkeys(chain.from_iterable(share_sums.values()))
    }

    def sort_key(domain: str) -> tuple[bool, float, str]:
        shares = map(truediv, sums_by_domain[domain], question_counts)
        # Rounded, so that equal shares with different rounding errors are ordered by name.
        return domain in (NO_DOMAIN, NO_PATH_FOUND), -round(sum(shares), 9), domain

    for domain in sorted(sums_by_domain, key=sort_key):
        cells = zip(sums_by_domain[domain], question_counts)
        yield (domain, *(f"{100 * share_sum / questions:.1f} %" for share_sum, questions in cells))
